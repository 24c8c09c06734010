// For the code of long runs: to say how far it is, and to stop when it is told to.
#pragma once

#include <cstddef>
#include <mutex>

#include "base/run_watch.h"

namespace sotto {

// From its making to its end, what this thread does is watched by `watch` (null: nobody), which
// must outlive it. A loop far below needs no word of it from the functions between: ParallelFor
// hands the watch on to its threads, Progress reports to it.
class WatchScope {
 public:
  explicit WatchScope(const RunWatch* watch);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  const RunWatch* const outer_;
};

// Of this thread; null: nobody watches.
const RunWatch* CurrentWatch();

// Throws Cancelled when the watch says so. ParallelFor asks before each item, SoundReader before
// each block.
void ThrowIfCancelled();

// One task of a run.
class Progress {
 public:
  // `total_weight` is what the items' weights (bytes, say) add up to.
  Progress(std::string task, std::size_t total_items, double total_weight);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One item is done. Safe to call from any thread.
  void Done(double weight, double audio_seconds);

 private:
  void Report() const;

  const RunWatch* const watch_ = CurrentWatch();
  const double total_weight_;
  std::mutex mutex_;
  RunProgress now_;
  double weight_ = 0.0;
};

}  // namespace sotto

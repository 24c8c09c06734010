// A progress bar for long runs, on stderr and only when that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace sotto {

class Progress {
 public:
  // `total_weight` is what the items' weights (bytes, say) add up to.
  Progress(std::string label, std::size_t total_items, double total_weight);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One item is done; `audio_seconds` feeds the real-time factor. Safe to call from any thread.
  void Done(double weight, double audio_seconds);

  // The line as it would be shown after `elapsed` seconds: bar, counts, ETA and real-time factor.
  std::string Line(double elapsed_seconds) const;

 private:
  const std::string label_;
  const std::size_t total_items_;
  const double total_weight_;
  const bool visible_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::size_t items_ = 0;
  double weight_ = 0.0;
  double audio_seconds_ = 0.0;
  double last_shown_ = -1.0;
};

// "1:02:03" or "2:03".
std::string FormatDuration(double seconds);

}  // namespace sotto

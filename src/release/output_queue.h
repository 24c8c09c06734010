// Finished outputs of a run on their way to the disk. Waiting for the disk takes milliseconds a
// file, as long as a fast method needs for ten seconds of speech: a thread of its own waits.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "release/run_state.h"

namespace sotto {

class OutputQueue {
 public:
  struct Output {
    std::unique_ptr<PendingFile> file;
    MadeItem item;
    std::function<void(const std::string& reason)> on_failure;  // called in the queue's thread
  };

  explicit OutputQueue(RunState& state);
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue();

  // Outputs are synced, then entered into the state, then named, so that every file with a name is
  // whole and known. Waits where many are under way.
  void Push(Output output);
  // Waits until all have their names, and the names are on the disk.
  void Finish();

 private:
  void Work();
  void Commit(std::vector<Output> outputs);

  RunState& state_;
  const std::filesystem::path root_;         // OUT
  std::set<std::filesystem::path> folders_;  // in which names were given
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Output> waiting_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace sotto

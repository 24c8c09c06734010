#include "release/output_queue.h"

#include <utility>

#include "base/error.h"
#include "base/terminal.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostWaiting = 32;  // open files

}  // namespace

OutputQueue::OutputQueue(RunState& state)
    : state_(state), root_(state.WorkFolder().parent_path()), folders_{root_}, thread_([this] {
        Work();
      }) {}

OutputQueue::~OutputQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OutputQueue::Push(Output output) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kMostWaiting; });
  waiting_.push_back(std::move(output));
  changed_.notify_all();
}

void OutputQueue::Finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
  for (const fs::path& folder : folders_) SyncFolder(folder);
}

void OutputQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    busy_ = true;
    std::vector<Output> outputs = std::exchange(waiting_, {});
    lock.unlock();
    changed_.notify_all();
    Commit(std::move(outputs));
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void OutputQueue::Commit(std::vector<Output> outputs) {
  std::vector<Output> synced;
  std::vector<MadeItem> items;
  for (Output& output : outputs) {
    try {
      output.file->Sync();
      items.push_back(output.item);
      synced.push_back(std::move(output));
    } catch (const std::exception& error) {
      output.on_failure(FailureText(error));
    }
  }
  std::string reason;
  try {
    state_.AddMade(items);
  } catch (const std::exception& error) {
    reason = FailureText(error);
  }
  for (Output& output : synced) {
    try {
      if (!reason.empty()) throw Error(reason);
      output.file->Name();
      // Up to OUT: a folder that was made on the way is a name in the one above it.
      fs::path folder = output.file->FinalPath().parent_path();
      while (folders_.insert(folder).second && folder != root_ && folder.has_relative_path()) {
        folder = folder.parent_path();
      }
    } catch (const std::exception& error) {
      output.on_failure(FailureText(error));
    }
  }
}

}  // namespace sotto

#include "base/progress.h"

#include <algorithm>
#include <utility>

namespace sotto {
namespace {

thread_local const RunWatch* current = nullptr;

}  // namespace

WatchScope::WatchScope(const RunWatch* watch) : outer_(std::exchange(current, watch)) {}
WatchScope::~WatchScope() { current = outer_; }

const RunWatch* CurrentWatch() { return current; }

void ThrowIfCancelled() {
  if (current != nullptr && current->cancelled && current->cancelled()) throw Cancelled();
}

Progress::Progress(std::string task, std::size_t total_items, double total_weight)
    : total_weight_(std::max(total_weight, 1.0)) {
  now_.task = std::move(task);
  now_.total = total_items;
  Report();
}

Progress::~Progress() {
  now_.ended = true;
  Report();
}

void Progress::Done(double weight, double audio_seconds) {
  const std::lock_guard lock(mutex_);
  weight_ += weight;
  now_.audio_seconds += audio_seconds;
  // Whatever the weights: at the end all is done.
  now_.fraction = ++now_.done == now_.total ? 1.0 : std::clamp(weight_ / total_weight_, 0.0, 1.0);
  Report();
}

void Progress::Report() const {
  if (watch_ != nullptr && watch_->progress) watch_->progress(now_);
}

}  // namespace sotto

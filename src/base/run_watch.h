// How whoever starts a long run follows it and calls it off.
#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace sotto {

// A run that was told to stop. No Error: nothing failed, and what goes on after a failed item must
// not go on after this.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// A run is one task after the other ("anonymise", "embed").
struct RunProgress {
  std::string task;
  std::size_t done = 0, total = 0;  // of its items: recordings, or utterances
  double fraction = 0.0;            // of its work, 0 to 1: long recordings count for more
  double audio_seconds = 0.0;       // of the sound it has worked on
  // Its last call: all is done, or the task has failed or was cancelled before.
  bool ended = false;
};

struct RunWatch {
  // As a task begins, after each item and at its end, from the threads of the run but never two
  // calls at a time. Nothing that counts up falls within a task. Must not throw.
  std::function<void(const RunProgress&)> progress{};
  // Asked often and from any thread. Once it says true, the run throws Cancelled: within the
  // recordings that are being read, not only between them.
  std::function<bool()> cancelled{};
};

}  // namespace sotto

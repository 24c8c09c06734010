#include "base/no_core_dumps.h"

#include <sys/resource.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <mutex>
#include <optional>

namespace sotto {
namespace {

// What the process has one of, and how it was before.
struct State {
  std::mutex mutex;
  int guards = 0;
  std::optional<rlim_t> core;  // the soft limit
  bool dumpable = false;
};

State& TheState() {
  static State state;
  return state;
}

void TurnOff(State& state) {
  rlimit limit{};
  state.core.reset();
  if (::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 0) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 0;
    if (::setrlimit(RLIMIT_CORE, &limit) == 0) state.core = before;
  }
#ifdef __linux__
  state.dumpable = ::prctl(PR_GET_DUMPABLE) == 1 && ::prctl(PR_SET_DUMPABLE, 0) == 0;
#endif
}

void TurnBack(const State& state) {
  rlimit limit{};
  if (state.core && ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0) {
    limit.rlim_cur = *state.core;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
#ifdef __linux__
  if (state.dumpable) ::prctl(PR_SET_DUMPABLE, 1);
#endif
}

}  // namespace

NoCoreDumps::NoCoreDumps() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (state.guards++ == 0) TurnOff(state);
}

NoCoreDumps::~NoCoreDumps() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (--state.guards == 0) TurnBack(state);
}

}  // namespace sotto

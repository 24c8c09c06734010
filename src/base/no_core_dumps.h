// A secret in memory must not end up in a file because the program fell over.
#pragma once

namespace sotto {

// As long as one of these lives the process leaves no core dump: it is not dumpable (Linux,
// PR_SET_DUMPABLE, which also keeps a pipe in core_pattern out and debuggers of the same user), and
// the soft limit of core files is 0. With the last one both are as they were. What the system does
// not allow is left: there is no error. A program that is executed from here starts dumpable again,
// with the limit of 0.
class NoCoreDumps {
 public:
  NoCoreDumps();
  ~NoCoreDumps();
  NoCoreDumps(const NoCoreDumps&) = delete;
  NoCoreDumps& operator=(const NoCoreDumps&) = delete;
};

}  // namespace sotto

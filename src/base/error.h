// The exception of the library for all that fails. A run that was called off throws Cancelled
// (base/run_watch.h).
#pragma once

#include <stdexcept>
#include <string>

namespace sotto {

// Bad input or a failed operation. The message is one line that names the file or field, the value
// found, and what is allowed; the command line prints it as it is and exits with 1.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace sotto

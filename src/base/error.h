// The one exception type of the library.
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

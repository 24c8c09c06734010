// What a program prints. Ids, names of files and messages may come from anybody; a terminal obeys
// the escape sequences in them.
#pragma once

#include <exception>
#include <string>

namespace sotto {

// From here on all that is written to stdout and stderr (the streams, not their descriptors) is
// escaped as base/text.h says, with tabs and line ends left as they are. Once, at the start of
// main().
void EscapeStandardStreams();

// Writes what still waits; false when standard output could not be written (a full disk), with the
// reason in errno. At the end of main().
bool FinishStandardStreams();

// One line for an exception: an Error's own; what the system libraries throw, in words.
std::string FailureText(const std::exception& failure);

}  // namespace sotto

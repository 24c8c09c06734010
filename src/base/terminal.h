// What a program prints. Ids, names of files and messages may come from anybody; a terminal obeys
// the escape sequences in them.
#pragma once

#include <exception>
#include <string>

namespace sotto {

// From here on all that is written to stdout, stderr, std::cout and std::cerr (the streams, not
// their descriptors) is escaped as base/text.h says, with tabs and line ends left as they are.
// Once, at the start of main().
void EscapeStandardStreams();

// Writes what still waits; false when standard output could not be written (a full disk), with the
// reason in errno. At the end of main().
bool FinishStandardStreams();

// At the end of main(): the exit code, 1 in place of 0 where standard output could not be written,
// after a line of the program `name` that says so.
int FinishProgram(const char* name, int code);

// A line on standard error. Does not throw, unlike fmt::print: that may be full as well.
void Complain(const char* name, const std::string& text);

// One line for an exception: an Error's own; what the system libraries throw, in words.
std::string FailureText(const std::exception& failure);

}  // namespace sotto

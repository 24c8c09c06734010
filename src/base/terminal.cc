#include "base/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <streambuf>
#include <system_error>

#include "base/files.h"
#include "base/text.h"

namespace sotto {
namespace {

struct Stream {
  int descriptor;
  Escaper escaper;
  bool installed = false;

  bool Write(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(descriptor, text.data() + at, text.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
};

// Never destroyed: the streams are flushed after the last destructor.
Stream& Output() {
  static auto* const stream = new Stream{STDOUT_FILENO, {}};
  return *stream;
}
Stream& Errors() {
  static auto* const stream = new Stream{STDERR_FILENO, {}};
  return *stream;
}

ssize_t WriteEscaped(void* cookie, const char* data, std::size_t size) {
  auto* stream = static_cast<Stream*>(cookie);
  const bool written = stream->Write(stream->escaper.Push({data, size}));
  return written ? static_cast<ssize_t>(size) : 0;
}

std::FILE* Open(Stream& stream, int buffering) {
  std::FILE* file = ::fopencookie(&stream, "w", {nullptr, WriteEscaped, nullptr, nullptr});
  if (file == nullptr) throw std::bad_alloc();
  std::setvbuf(file, nullptr, buffering, BUFSIZ);
  stream.installed = true;
  return file;
}

// std::cout and std::cerr, which libraries write to, lead into the streams of C.
class IntoStream : public std::streambuf {
 public:
  explicit IntoStream(std::FILE* file) : file_(file) {}

 private:
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return traits_type::not_eof(c);
    return std::fputc(c, file_) == EOF ? traits_type::eof() : c;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return static_cast<std::streamsize>(
        std::fwrite(text, 1, static_cast<std::size_t>(size), file_));
  }
  int sync() override { return std::fflush(file_); }

  std::FILE* file_;
};

// Both ends of a name that is too long to be read.
std::string Shortened(const std::string& name) {
  constexpr std::size_t kEnd = 80;
  if (name.size() <= 2 * kEnd + 20) return name;
  return fmt::format("{} … {}", name.substr(0, kEnd), name.substr(name.size() - kEnd));
}

}  // namespace

void EscapeStandardStreams() {
  if (Output().installed) return;
  stdout = Open(Output(), ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF);
  stderr = Open(Errors(), _IONBF);
  // Never destroyed, as above.
  std::cout.rdbuf(new IntoStream(stdout));
  std::cerr.rdbuf(new IntoStream(stderr));
}

bool FinishStandardStreams() {
  bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const int reason = errno;
  written = written && Output().Write(Output().escaper.Finish());
  std::fflush(stderr);
  Errors().Write(Errors().escaper.Finish());
  if (!written) errno = reason;
  return written;
}

int FinishProgram(const char* name, int code) {
  if (FinishStandardStreams()) return code;
  Complain(name, "cannot write to standard output: " + SystemReason());
  return code == 0 ? 1 : code;
}

void Complain(const char* name, const std::string& text) {
  std::fputs(fmt::format("{}: {}\n", name, Printable(text)).c_str(), stderr);
}

std::string FailureText(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return "out of memory (fewer --jobs need less; see ulimit -v where it is set)";
  }
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&failure)) {
    return fmt::format("cannot use '{}': {}", Shortened(file->path1().string()),
                       file->code().message());
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&failure)) {
    return fmt::format("the system refused: {} ({})", system->code().message(), system->what());
  }
  return failure.what();
}

}  // namespace sotto

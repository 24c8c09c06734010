#include "text/text_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/input.h"
#include "base/text.h"
#include "text/utf8.h"

namespace sotto {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::size_t kBlock = std::size_t{256} << 10;

bool LooksLikeUtf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

}  // namespace

ByteSource FileSource(const std::filesystem::path& path) {
  auto file = std::make_shared<InputFile>(path);
  return [file](char* to, std::size_t count) { return file->Read(to, count); };
}

ByteSource StandardInputSource() {
  return [](char* to, std::size_t count) {
    while (true) {
      const ssize_t n = ::read(STDIN_FILENO, to, count);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) throw Error("cannot read standard input: " + SystemReason());
    }
  };
}

ByteSource MemorySource(std::string text) {
  return [text = std::move(text), at = std::size_t{0}](char* to, std::size_t count) mutable {
    const std::size_t n = std::min(count, text.size() - at);
    std::copy_n(text.data() + at, n, to);
    at += n;
    return n;
  };
}

std::string_view TextLine::End() const {
  if (bytes.ends_with("\r\n")) return std::string_view(bytes).substr(bytes.size() - 2);
  return std::string_view(bytes).substr(bytes.size() - (bytes.ends_with('\n') ? 1 : 0));
}

std::string_view TextLine::Text() const {
  return std::string_view(bytes).substr(0, bytes.size() - End().size());
}

Error LineReader::Failure(std::size_t line, const std::string& what) const {
  return Error(fmt::format("{}: line {}: {}", where_, line, what));
}

Error LineReader::Failure(std::size_t line, std::size_t byte, const std::string& what) const {
  return Error(fmt::format("{}: line {}, byte {}: {}", where_, line, byte, what));
}

bool LineReader::Fill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kBlock);
  const std::size_t n = source_(buffer_.data() + had, kBlock);
  buffer_.resize(had + n);
  ended_ = n == 0;
  return !ended_;
}

void LineReader::TakeMark() {
  while (buffer_.size() < kUtf8Mark.size() && Fill()) continue;
  if (!buffer_.starts_with(kUtf8Mark)) return;
  mark_ = kUtf8Mark;
  begin_ = kUtf8Mark.size();
}

std::optional<TextLine> LineReader::Next() {
  if (waiting_) return std::exchange(waiting_, std::nullopt);
  if (lines_ == 0 && buffer_.empty()) TakeMark();
  std::size_t searched = 0, end = std::string::npos;  // both from begin_
  while (end == std::string::npos) {
    const std::size_t at = buffer_.find('\n', begin_ + searched);
    if (at != std::string::npos) {
      end = at + 1 - begin_;
      break;
    }
    searched = buffer_.size() - begin_;
    if (searched > kLargestPassage) break;
    if (!Fill()) end = searched;
  }
  if (end == 0) return std::nullopt;
  ++lines_;
  if (end > kLargestPassage) {
    throw Failure(
        lines_, fmt::format("longer than {} MiB, the most a line may have", kLargestPassage >> 20));
  }
  TextLine line{buffer_.substr(begin_, end), lines_};
  begin_ += end;
  const std::size_t unclean = FindUnclean(line.bytes);
  if (unclean == std::string::npos) return line;
  const bool utf8 = DecodeUtf8(line.bytes, unclean).valid;
  const bool utf16 = lines_ == 1 && LooksLikeUtf16(line.bytes);
  throw Failure(lines_, unclean + 1,
                utf8    ? "a control character; UTF-8 without control characters is read"
                : utf16 ? "no UTF-8 (it begins like UTF-16); UTF-8 is read"
                        : "no UTF-8; UTF-8 is read");
}

}  // namespace sotto

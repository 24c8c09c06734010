// What the trial readers share: lines of files too large to hold, scores and labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sotto {

// Reads a file piece by piece: `handle(block, first_line)` gets whole lines (the last of the file
// may lack its end) with the number of the first, counted from 1, and returns how many lines it
// saw. A byte-order mark is skipped.
using BlockHandler = std::function<std::size_t(std::string_view, std::size_t)>;
void ReadInBlocks(const std::filesystem::path& path, const BlockHandler& handle);

// Takes the next line off `block`, without its end (LF or CRLF).
inline std::string_view TakeLine(std::string_view& block) {
  const std::size_t end = block.find('\n');
  std::string_view line = block.substr(0, end);
  block.remove_prefix(end == std::string_view::npos ? block.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

inline std::string_view WithoutByteOrderMark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

// A score: a decimal number, inf or -inf. NaN or anything else is an Error naming the line.
double ParseScore(std::string_view text, const std::string& where, std::size_t line);

// 1 for "target", 0 for "nontarget", else an Error naming the line.
std::uint8_t ParseLabel(std::string_view text, const std::string& where, std::size_t line);

}  // namespace sotto

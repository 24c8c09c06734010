#include "assess/trial_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/input.h"

namespace sotto {

void ReadInBlocks(const std::filesystem::path& path, const BlockHandler& handle) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  constexpr std::size_t kLongestLine = 16 * kPiece;
  InputFile file(path);
  std::string buffer;
  std::size_t line = 1;
  bool first = true;
  while (true) {
    const std::size_t kept = buffer.size();
    buffer.resize(kept + kPiece);
    const std::size_t n = file.Read(buffer.data() + kept, kPiece);
    buffer.resize(kept + n);
    std::string_view block = buffer;
    if (first && (buffer.size() >= 3 || n == 0)) {
      block = WithoutByteOrderMark(block);
      first = false;
    }
    if (n == 0) {
      if (!block.empty()) handle(block, line);
      return;
    }
    const std::size_t end = buffer.rfind('\n');
    if (end == std::string::npos && buffer.size() > kLongestLine) {
      throw Error(
          fmt::format("{}: line {} is longer than {} bytes", path.string(), line, kLongestLine));
    }
    if (end == std::string::npos || first) continue;
    line += handle(block.substr(0, block.size() - (buffer.size() - end - 1)), line);
    buffer.erase(0, end + 1);
  }
}

double ParseScore(std::string_view text, const std::string& where, std::size_t line) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size() && !digits.empty();
  if (code == std::errc::result_out_of_range && whole) {
    value = std::strtod(std::string(digits).c_str(), nullptr);  // underflow: 0 or a denormal
    if (!std::isinf(value)) return value;
    throw Error(
        fmt::format("{}: line {}: score '{}' is beyond double precision", where, line, text));
  }
  if (code != std::errc() || !whole) {
    throw Error(fmt::format("{}: line {}: score '{}' is not a number", where, line, text));
  }
  if (std::isnan(value)) {
    throw Error(
        fmt::format("{}: line {}: score is NaN; scores are numbers, inf or -inf", where, line));
  }
  return value;
}

std::uint8_t ParseLabel(std::string_view text, const std::string& where, std::size_t line) {
  if (text == "target") return 1;
  if (text == "nontarget") return 0;
  throw Error(
      fmt::format("{}: line {}: label '{}' is neither target nor nontarget", where, line, text));
}

}  // namespace sotto

#include "speaker/kaldi_io.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little);

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The value that a file consists of.
template <typename Value>
Value OnlyValue(std::string_view bytes, const std::string& where,
                Value (KaldiReader::*read)(bool binary)) {
  KaldiReader reader(bytes, where);
  const bool binary = reader.BinaryMark();
  Value value = (reader.*read)(binary);
  if (!binary) reader.SkipBlanks();
  if (!reader.AtEnd()) reader.Fail("something follows the value");
  return value;
}

}  // namespace

KaldiReader::KaldiReader(std::string_view bytes, std::string where, std::size_t offset)
    : bytes_(bytes), where_(std::move(where)), at_(offset) {
  if (offset > bytes.size()) {
    throw Error(fmt::format("{}: offset {} lies behind the end of the file ({} bytes)", where_,
                            offset, bytes.size()));
  }
}

void KaldiReader::Fail(const std::string& what) const {
  throw Error(fmt::format("{}: at byte {}: {}", where_, at_, what));
}

std::string_view KaldiReader::Take(std::size_t n) {
  if (n > bytes_.size() - at_) Fail(fmt::format("{} bytes expected, but the file ends", n));
  const std::string_view taken = bytes_.substr(at_, n);
  at_ += n;
  return taken;
}

void KaldiReader::SkipBlanks() {
  while (at_ < bytes_.size() && IsBlank(bytes_[at_])) ++at_;
}

std::string KaldiReader::Key() {
  SkipBlanks();
  const std::size_t begin = at_;
  while (at_ < bytes_.size() && !IsBlank(bytes_[at_]) && bytes_[at_] != '\0') ++at_;
  std::string key(bytes_.substr(begin, at_ - begin));
  if (key.empty()) {
    if (!AtEnd()) Fail("no key");
    return key;
  }
  if (AtEnd() || (bytes_[at_] != ' ' && bytes_[at_] != '\t')) {
    Fail(fmt::format("no blank after the key '{}'", key));
  }
  ++at_;
  return key;
}

bool KaldiReader::BinaryMark() {
  if (bytes_.substr(at_, 2) != std::string_view("\0B", 2)) return false;
  at_ += 2;
  return true;
}

std::string KaldiReader::Token() {
  SkipBlanks();
  const std::size_t begin = at_;
  while (at_ < bytes_.size() && !IsBlank(bytes_[at_])) ++at_;
  std::string token(bytes_.substr(begin, at_ - begin));
  if (token.empty() || AtEnd()) Fail("a token and a blank expected, but the file ends");
  ++at_;
  return token;
}

bool KaldiReader::LooksLikeToken(std::string_view token) const {
  return bytes_.substr(at_, token.size()) == token;
}

void KaldiReader::Expect(std::string_view token) {
  const std::string found = Token();
  if (found != token) Fail(fmt::format("'{}' expected, '{}' found", token, found.substr(0, 40)));
}

std::int32_t KaldiReader::Int32(bool binary) {
  if (!binary) {
    const double value = TextNumber();
    if (value != std::floor(value) || std::abs(value) > 2147483647.0) Fail("no whole number");
    return static_cast<std::int32_t>(value);
  }
  if (Take(1)[0] != '\x04') Fail("an integer of 4 bytes expected");
  std::int32_t value = 0;
  std::memcpy(&value, Take(4).data(), 4);
  return value;
}

double KaldiReader::Number(bool binary) {
  if (!binary) return TextNumber();
  const char size = Take(1)[0];
  if (size == '\x04') {
    float value = 0.0F;
    std::memcpy(&value, Take(4).data(), 4);
    return value;
  }
  if (size != '\x08') Fail("a float of 4 or 8 bytes expected");
  double value = 0.0;
  std::memcpy(&value, Take(8).data(), 8);
  return value;
}

double KaldiReader::TextNumber() {
  SkipBlanks();
  const std::size_t begin = at_;
  while (at_ < bytes_.size() && !IsBlank(bytes_[at_])) ++at_;
  const std::string_view text = bytes_.substr(begin, at_ - begin);
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || text.empty()) {
    Fail(fmt::format("'{}' is not a number", text.substr(0, 40)));
  }
  return value;
}

template <typename Number>
void KaldiReader::Copy(Eigen::Ref<Eigen::VectorXd> to) {
  const auto n = static_cast<std::size_t>(to.size());
  const std::string_view bytes = Take(n * sizeof(Number));
  for (std::size_t i = 0; i < n; ++i) {
    Number value;
    std::memcpy(&value, bytes.data() + i * sizeof(Number), sizeof(Number));
    to[static_cast<Eigen::Index>(i)] = value;
  }
}

Eigen::VectorXd KaldiReader::Vector(bool binary) {
  if (!binary) {
    SkipBlanks();
    if (Take(1) != "[") Fail("a vector starts with '['");
    std::vector<double> values;
    while (true) {
      SkipBlanks();
      if (LooksLikeToken("]")) break;
      values.push_back(TextNumber());
    }
    ++at_;
    return Eigen::Map<Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  const std::string kind = Token();
  if (kind != "FV" && kind != "DV") {
    Fail(fmt::format("a vector (FV or DV) expected, '{}' found", kind.substr(0, 40)));
  }
  const std::int32_t n = Int32(true);
  const std::size_t width = kind == "FV" ? 4 : 8;
  if (n < 0 || static_cast<std::size_t>(n) > (bytes_.size() - at_) / width) {
    Fail(fmt::format("a vector of {} numbers does not fit into the file", n));
  }
  Eigen::VectorXd v(n);
  kind == "FV" ? Copy<float>(v) : Copy<double>(v);
  return v;
}

Eigen::MatrixXd KaldiReader::Matrix(bool binary) {
  if (!binary) {
    SkipBlanks();
    if (Take(1) != "[") Fail("a matrix starts with '['");
    std::vector<double> values;
    std::size_t rows = 0, columns = 0, in_row = 0;
    const auto end_row = [&] {
      if (in_row == 0) return;
      if (rows > 0 && in_row != columns) {
        Fail(fmt::format("row {} has {} numbers, the others {}", rows + 1, in_row, columns));
      }
      columns = in_row;
      in_row = 0;
      ++rows;
    };
    while (true) {
      while (at_ < bytes_.size() && IsBlank(bytes_[at_])) {
        if (bytes_[at_] == '\n') end_row();
        ++at_;
      }
      if (LooksLikeToken("]")) break;
      values.push_back(TextNumber());
      ++in_row;
    }
    ++at_;
    end_row();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<RowMajor>(values.data(), static_cast<Eigen::Index>(rows),
                                static_cast<Eigen::Index>(columns));
  }
  const std::string kind = Token();
  if (kind != "FM" && kind != "DM") {
    Fail(fmt::format("a matrix (FM or DM) expected, '{}' found", kind.substr(0, 40)));
  }
  const std::int32_t rows = Int32(true);
  const std::int32_t columns = Int32(true);
  const std::size_t width = kind == "FM" ? 4 : 8;
  if (rows < 0 || columns < 0 ||
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) >
          (bytes_.size() - at_) / width) {
    Fail(fmt::format("a matrix of {} x {} does not fit into the file", rows, columns));
  }
  // Kept as columns while reading, since a Ref needs contiguous memory.
  Eigen::MatrixXd transposed(columns, rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    kind == "FM" ? Copy<float>(transposed.col(i)) : Copy<double>(transposed.col(i));
  }
  return transposed.transpose();
}

void AppendKaldiVector(std::string& out, const Eigen::Ref<const Eigen::VectorXf>& v) {
  const auto size = static_cast<std::int32_t>(v.size());
  out.append("\0BFV \x04", 6);
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(reinterpret_cast<const char*>(v.data()), static_cast<std::size_t>(v.size()) * 4);
}

void AppendKaldiTextVector(std::string& out, const Eigen::Ref<const Eigen::VectorXf>& v) {
  out += " [";
  for (const float value : v) out += fmt::format(" {}", value);
  out += " ]\n";
}

Eigen::VectorXd ParseKaldiVector(std::string_view bytes, const std::string& where) {
  return OnlyValue(bytes, where, &KaldiReader::Vector);
}

Eigen::MatrixXd ParseKaldiMatrix(std::string_view bytes, const std::string& where) {
  return OnlyValue(bytes, where, &KaldiReader::Matrix);
}

}  // namespace sotto

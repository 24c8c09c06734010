// Scores as two arrays: NumPy's .npy (format 1.0 to 3.0) and raw little-endian float64.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "assess/trials.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename Number>
std::vector<double> Copy(std::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Number value;
    std::memcpy(&value, bytes.data() + i * sizeof(Number), sizeof(Number));
    values[i] = static_cast<double>(value);
  }
  return values;
}

void RefuseNan(const std::vector<double>& values, const std::string& where) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      throw Error(fmt::format("{}: element {} is NaN; scores are numbers, inf or -inf", where, i));
    }
  }
}

// The text after `'key':` in the header's Python dictionary, without leading blanks.
std::string_view After(std::string_view header, std::string_view key, const std::string& where) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) {
    throw Error(fmt::format("{}: the .npy header has no '{}'", where, key));
  }
  header.remove_prefix(at + key.size() + 3);
  const std::size_t begin = header.find_first_not_of(' ');
  return header.substr(begin == std::string_view::npos ? header.size() : begin);
}

std::vector<double> ReadArray(const std::filesystem::path& path) {
  const std::string bytes = ReadTextFile(path);
  if (path.extension() == ".npy") return ParseNpy(bytes, path.string());
  if (path.extension() == ".f64") return ParseF64(bytes, path.string());
  throw Error(fmt::format("'{}' is neither .npy nor .f64", path.string()));
}

}  // namespace

std::vector<double> ParseNpy(std::string_view bytes, const std::string& where) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 12) {
    throw Error(fmt::format("{}: not an .npy file", where));
  }
  const auto byte = [&bytes](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    throw Error(fmt::format("{}: .npy format {} is unknown, 1 to 3 are read", where, version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length * 256 + byte(8 + i);
  if (length > bytes.size() - 8 - length_bytes) {
    throw Error(fmt::format("{}: the .npy header is cut off", where));
  }
  const std::string_view header = bytes.substr(8 + length_bytes, length);
  const std::string_view body = bytes.substr(8 + length_bytes + length);

  const std::string_view descr = After(header, "descr", where);
  const bool is_double = descr.substr(0, 5) == "'<f8'";
  if (!is_double && descr.substr(0, 5) != "'<f4'") {
    throw Error(fmt::format("{}: .npy type {} is not '<f8' or '<f4'", where, descr.substr(0, 5)));
  }
  std::string_view shape = After(header, "shape", where);
  std::size_t n = 0;
  const std::string_view digits = shape.substr(std::min<std::size_t>(1, shape.size()));
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  const std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
  if (shape.substr(0, 1) != "(" || code != std::errc() || rest.substr(0, 2) != ",)") {
    throw Error(fmt::format("{}: the .npy array must have one dimension", where));
  }
  const std::size_t width = is_double ? 8 : 4;
  if (body.size() / width != n || body.size() % width != 0) {
    throw Error(fmt::format("{}: {} bytes of data, the header promises {} numbers of {} bytes",
                            where, body.size(), n, width));
  }
  auto values = is_double ? Copy<double>(body) : Copy<float>(body);
  RefuseNan(values, where);
  return values;
}

std::vector<double> ParseF64(std::string_view bytes, const std::string& where) {
  if (bytes.size() % 8 != 0) {
    throw Error(fmt::format("{}: {} bytes are no whole number of float64", where, bytes.size()));
  }
  auto values = Copy<double>(bytes);
  RefuseNan(values, where);
  return values;
}

Trials ReadTrialArrays(const std::filesystem::path& tar, const std::filesystem::path& non) {
  Trials trials;
  trials.scores = ReadArray(tar);
  trials.is_target.assign(trials.scores.size(), 1);
  const std::vector<double> other = ReadArray(non);
  trials.scores.insert(trials.scores.end(), other.begin(), other.end());
  trials.is_target.resize(trials.scores.size(), 0);
  return trials;
}

}  // namespace sotto

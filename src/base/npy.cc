#include "base/npy.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 32;  // NumPy's own limit

template <typename Stored, typename Wanted>
std::vector<Wanted> Copy(std::string_view bytes) {
  std::vector<Wanted> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Wanted>(value);
  }
  return values;
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

// "(3, 4)", "(5,)" or "()".
std::vector<std::size_t> ParseShape(std::string_view text, const std::string& where) {
  const Error bad(fmt::format("{}: the .npy header's shape is not a tuple of sizes", where));
  if (text.substr(0, 1) != "(") throw bad;
  text.remove_prefix(1);
  std::vector<std::size_t> shape;
  while (true) {
    while (text.substr(0, 1) == " ") text.remove_prefix(1);
    if (text.substr(0, 1) == ")") return shape;
    std::size_t n = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (code != std::errc() || shape.size() == kMaxDimensions) throw bad;
    shape.push_back(n);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    while (text.substr(0, 1) == " ") text.remove_prefix(1);
    if (text.substr(0, 1) == ",") {
      text.remove_prefix(1);
    } else if (text.substr(0, 1) != ")") {
      throw bad;
    }
  }
}

}  // namespace

std::vector<float> NpyView::Floats() const {
  return is_double ? Copy<double, float>(body) : Copy<float, float>(body);
}

std::vector<double> NpyView::Doubles() const {
  return is_double ? Copy<double, double>(body) : Copy<float, double>(body);
}

NpyView ParseNpyView(std::string_view bytes, const std::string& where) {
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
  NpyView view;
  view.body = bytes.substr(8 + length_bytes + length);

  const std::string_view descr = After(header, "descr", where);
  view.is_double = descr.substr(0, 5) == "'<f8'";
  if (!view.is_double && descr.substr(0, 5) != "'<f4'") {
    throw Error(fmt::format("{}: .npy type {} is not '<f8' or '<f4'", where, descr.substr(0, 5)));
  }
  view.shape = ParseShape(After(header, "shape", where), where);
  if (view.shape.size() > 1 && After(header, "fortran_order", where).substr(0, 5) != "False") {
    throw Error(fmt::format("{}: the .npy array is in Fortran order, C order is read", where));
  }
  const std::size_t width = view.is_double ? 8 : 4;
  // Division, so that a forged shape cannot overflow the product.
  std::size_t left = view.body.size() / width;
  bool fits = view.body.size() % width == 0;
  bool empty = false;
  for (const std::size_t n : view.shape) empty = empty || n == 0;
  if (empty) {
    fits = view.body.empty();
  } else {
    for (const std::size_t n : view.shape) {
      fits = fits && left % n == 0;
      left /= n;
    }
    fits = fits && left == 1;
  }
  if (!fits) {
    throw Error(fmt::format("{}: {} bytes of data, the header promises {} numbers of {} bytes",
                            where, view.body.size(), fmt::join(view.shape, " x "), width));
  }
  return view;
}

template <typename T>
NpyWriter<T>::NpyWriter(const std::filesystem::path& path, std::size_t columns, IfExists if_exists)
    : path_(path),
      file_(path, {.if_exists = if_exists}),
      out_(file_.TemporaryPath(), std::ios::binary),
      columns_(columns) {
  WriteHeader();
}

template <typename T>
void NpyWriter<T>::WriteHeader() {
  // Padded to 128 bytes, so that the number of rows can be put in at the end.
  constexpr std::size_t kHeader = 128, kPrefix = 10;
  const std::size_t rows = columns_ == 0 ? values_ : values_ / columns_;
  std::string text =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({},{}), }}", sizeof(T),
                  rows, columns_ == 0 ? "" : fmt::format(" {}", columns_));
  text.resize(kHeader - kPrefix - 1, ' ');
  text += '\n';
  const std::string prefix("\x93NUMPY\x01\x00\x76\x00", kPrefix);  // 0x76: the length of text
  out_.seekp(0);
  out_ << prefix << text;
  Check();
}

template <typename T>
void NpyWriter<T>::Check() {
  if (!out_) throw Error(fmt::format("cannot write '{}': {}", path_.string(), SystemReason()));
}

template <typename T>
void NpyWriter<T>::Append(std::span<const T> values) {
  if (columns_ != 0 && values.size() % columns_ != 0) {
    throw Error(fmt::format("{} values for '{}': must be whole rows of {}", values.size(),
                            path_.string(), columns_));
  }
  out_.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
  values_ += values.size();
  Check();
}

template <typename T>
void NpyWriter<T>::Close() {
  WriteHeader();
  out_.close();
  Check();
  file_.Commit();
}

template class NpyWriter<float>;
template class NpyWriter<double>;

}  // namespace sotto

#include "dsp/npy_writer.h"

#include <fmt/format.h>

#include <bit>
#include <string>

#include "base/error.h"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "values are written as they lie");

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

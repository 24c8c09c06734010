// NumPy's .npy files (format 1.0 to 3.0; NEP 1): float32 and float64 arrays of any shape, in C
// order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace sotto {

// What a file holds; `body` points into the bytes it was parsed from.
struct NpyView {
  std::vector<std::size_t> shape;  // empty: a single number
  bool is_double = false;          // float64, else float32
  std::string_view body;           // little-endian numbers

  std::size_t Count() const { return body.size() / (is_double ? 8 : 4); }
  std::vector<float> Floats() const;
  std::vector<double> Doubles() const;
};

// Throws Error naming `where` when the header is damaged, the type is another one, the order is
// Fortran's for more than one dimension, or the body is not as long as the shape says.
NpyView ParseNpyView(std::string_view bytes, const std::string& where);

// Writes format 1.0 row by row: an array of float32 or float64 (T) with any number of rows;
// `columns` 0: one-dimensional. The file appears under its name at Close() and not before.
template <typename T>
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, std::size_t columns,
            IfExists if_exists = IfExists::kReplace);

  // Whole rows. A failed write (a full disk) is an Error from Append() or Close().
  void Append(std::span<const T> values);
  void Close();

 private:
  void WriteHeader();
  void Check();

  std::filesystem::path path_;
  PendingFile file_;
  std::ofstream out_;
  std::size_t columns_, values_ = 0;
};

extern template class NpyWriter<float>;
extern template class NpyWriter<double>;

}  // namespace sotto

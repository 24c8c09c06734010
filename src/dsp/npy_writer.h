// NumPy's array files (.npy, format 1.0), written row by row.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/files.h"

namespace sotto {

// An array of float32 or float64 (T) with any number of rows; `columns` 0: one-dimensional. The
// file appears under its name at Close() and not before.
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

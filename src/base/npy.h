// NumPy's .npy files (format 1.0 to 3.0; NEP 1): float32 and float64 arrays of any shape, in C
// order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// A format 1.0 file of float32. The shape's product must be values.size().
std::string SerialiseNpy(std::span<const float> values, std::span<const std::size_t> shape);

}  // namespace sotto

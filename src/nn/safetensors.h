// Weights in files: the safetensors format (Hugging Face, 2022): 8 bytes little-endian length N, N
// bytes of JSON {name: {dtype, shape, data_offsets}, "__metadata__": {text: text}}, then the
// values. Read: F64, F32, F16, BF16 (all become float); written: F32, F16 or, for nets that must be
// small, I8: a matrix or larger array in 8-bit integers, symmetric around 0, with one scale (F32,
// tensor "NAME#scale") for each index of its first axis: value = integer · scale; all else is F16.
// Nets that are integers themselves: I16 and I32, read and written exactly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace sotto {

// A dense array of any rank, the last index fastest.
struct NamedTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

// An array of integers that are what they are: no scale, nothing rounded.
struct IntegerTensor {
  std::vector<std::int64_t> shape;
  std::vector<std::int32_t> values;
};

struct TensorFile {
  std::map<std::string, NamedTensor> tensors;
  std::map<std::string, IntegerTensor> integers;  // I16 where they fit, else I32
  std::map<std::string, std::string> metadata;

  // The tensor of this name and shape (−1 leaves a size open). Throws Error that names what is
  // missing or wrong; `where` is set by ReadTensorFile.
  const NamedTensor& Get(const std::string& name, const std::vector<std::int64_t>& shape) const;
  const IntegerTensor& GetIntegers(const std::string& name,
                                   const std::vector<std::int64_t>& shape) const;
  // The metadata of this key; throws Error when it is not there.
  const std::string& Meta(const std::string& key) const;

  std::string where = "tensor file";
};

enum class StoredAs { kFloat32, kFloat16, kInt8 };

// Throws Error that names the file and what is wrong (cut short, overlapping or missing values, an
// unknown dtype, a value that is not finite).
TensorFile ReadTensorFile(const std::filesystem::path& path);
TensorFile ParseTensorFile(std::string_view bytes, const std::string& where);

// Values that half precision cannot hold (above 65504) are an Error.
std::string SerialiseTensorFile(const TensorFile& file, StoredAs stored);
void WriteTensorFile(const std::filesystem::path& path, const TensorFile& file, StoredAs stored,
                     IfExists if_exists = IfExists::kReplace);

// 16 hexadecimal digits of FNV-1a over names, shapes and values (not the metadata): tells whether
// two files hold the same net. No protection against someone who wants a collision.
std::string Fingerprint(const TensorFile& file);

// IEEE 754 binary16, to nearest even.
std::uint16_t HalfFromFloat(float value);
float FloatFromHalf(std::uint16_t half);

}  // namespace sotto

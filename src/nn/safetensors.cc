#include "nn/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors values are little-endian");

constexpr std::size_t kMaxHeaderBytes = 100 << 20;  // the format's own limit
const std::string kScaleSuffix = "#scale";

std::size_t BytesOf(const std::string& dtype, const std::string& where) {
  if (dtype == "F32") return 4;
  if (dtype == "F16" || dtype == "BF16") return 2;
  if (dtype == "F64") return 8;
  if (dtype == "I16") return 2;
  if (dtype == "I32") return 4;
  if (dtype == "I64") return 8;  // counters of some exporters; see Value
  if (dtype == "I8") return 1;   // see ApplyScales
  throw Error(fmt::format("{}: values of type {} (F64, F32, F16, BF16, I8, I16 and I32 are read)",
                          where, dtype));
}

template <class T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float Value(const std::string& dtype, const char* at) {
  if (dtype == "F32") return Load<float>(at);
  if (dtype == "F16") return FloatFromHalf(Load<std::uint16_t>(at));
  if (dtype == "BF16") {
    return std::bit_cast<float>(static_cast<std::uint32_t>(Load<std::uint16_t>(at)) << 16);
  }
  if (dtype == "F64") return static_cast<float>(Load<double>(at));
  if (dtype == "I8") return static_cast<float>(Load<std::int8_t>(at));
  return static_cast<float>(Load<std::int64_t>(at));
}

bool IsInteger(const std::string& dtype) { return dtype == "I16" || dtype == "I32"; }

// A size or an offset. A number with a point is none, however large: the library would convert it,
// and what it cannot hold is undefined.
std::uint64_t WholeNumber(const nlohmann::json& number, const std::string& where) {
  if (!number.is_number_unsigned()) {
    throw Error(where + ": a shape or an offset that is no whole number from 0");
  }
  return number.get<std::uint64_t>();
}

// Sets the shape; returns where the values begin, as many as fill it.
template <class Tensor>
const char* ParseShape(const nlohmann::json& entry, std::string_view values,
                       const std::string& where, Tensor& tensor) {
  const auto dtype = entry.at("dtype").get<std::string>();
  const std::size_t width = BytesOf(dtype, where);
  std::uint64_t count = 1;
  for (const auto& size : entry.at("shape")) {
    const std::uint64_t n = WholeNumber(size, where);
    if (n >> 62U != 0 || (n > 0 && count > values.size() / n)) {
      throw Error(fmt::format("{}: shape larger than the file", where));
    }
    tensor.shape.push_back(static_cast<std::int64_t>(n));
    count *= n;
  }
  const std::uint64_t begin = WholeNumber(entry.at("data_offsets").at(0), where);
  const std::uint64_t end = WholeNumber(entry.at("data_offsets").at(1), where);
  if (begin > end || end > values.size() || end - begin != count * width) {
    throw Error(fmt::format("{}: offsets {} to {} do not hold {} values of {}", where, begin, end,
                            count, dtype));
  }
  tensor.values.resize(count);
  return values.data() + begin;
}

IntegerTensor ParseIntegers(const nlohmann::json& entry, std::string_view values,
                            const std::string& where) {
  IntegerTensor tensor;
  const char* at = ParseShape(entry, values, where, tensor);
  const bool narrow = entry.at("dtype").get<std::string>() == "I16";
  for (std::int32_t& value : tensor.values) {
    value = narrow ? Load<std::int16_t>(at) : Load<std::int32_t>(at);
    at += narrow ? 2 : 4;
  }
  return tensor;
}

NamedTensor ParseTensor(const nlohmann::json& entry, std::string_view values,
                        const std::string& where) {
  NamedTensor tensor;
  const char* at = ParseShape(entry, values, where, tensor);
  const auto dtype = entry.at("dtype").get<std::string>();
  const std::size_t width = BytesOf(dtype, where);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = Value(dtype, at + i * width);
    if (!std::isfinite(tensor.values[i])) {
      throw Error(fmt::format("{}: value {} is not finite", where, i));
    }
  }
  return tensor;
}

// Values of one index of the first axis.
std::size_t RowSize(const NamedTensor& tensor) {
  return tensor.shape.empty() || tensor.shape[0] == 0
             ? 0
             : tensor.values.size() / static_cast<std::size_t>(tensor.shape[0]);
}

// Multiplies every "NAME#scale" into its tensor and drops it.
void ApplyScales(TensorFile& file) {
  for (auto entry = file.tensors.begin(); entry != file.tensors.end();) {
    const std::string& name = entry->first;
    if (!name.ends_with(kScaleSuffix)) {
      ++entry;
      continue;
    }
    const auto scaled = file.tensors.find(name.substr(0, name.size() - kScaleSuffix.size()));
    const std::vector<float>& scales = entry->second.values;
    if (scaled == file.tensors.end() || scaled->second.shape.empty() ||
        static_cast<std::size_t>(scaled->second.shape[0]) != scales.size()) {
      throw Error(fmt::format("{}: tensor '{}' fits no tensor", file.where, name));
    }
    const std::size_t row = RowSize(scaled->second);
    for (std::size_t i = 0; i < scaled->second.values.size(); ++i) {
      float& value = scaled->second.values[i];
      value *= scales[i / row];
      if (!std::isfinite(value)) {
        throw Error(fmt::format("{}: tensor '{}': value {} is not finite", file.where, name, i));
      }
    }
    entry = file.tensors.erase(entry);
  }
}

// Where values come to lie in a file that is being made.
class Writer {
 public:
  void Add(const std::string& name, const NamedTensor& tensor, StoredAs stored) {
    const std::size_t begin = values_.size();
    for (const float value : tensor.values) {
      if (!std::isfinite(value) || (stored == StoredAs::kFloat16 && std::abs(value) > 65504.0f)) {
        throw Error(fmt::format("tensor '{}': {} cannot be stored", name, value));
      }
      if (stored == StoredAs::kFloat16) {
        Append(HalfFromFloat(value));
      } else {
        Append(value);
      }
    }
    Enter(name, stored == StoredAs::kFloat16 ? "F16" : "F32", tensor.shape, begin);
  }

  // The largest magnitude of a row becomes ±127, so that 0 stays 0.
  void AddInt8(const std::string& name, const NamedTensor& tensor) {
    const std::size_t row = RowSize(tensor), begin = values_.size();
    NamedTensor scales{{tensor.shape[0]}, {}};
    for (std::size_t at = 0; at < tensor.values.size(); at += row) {
      float largest = 0.0f;
      for (std::size_t i = at; i < at + row; ++i) {
        if (!std::isfinite(tensor.values[i])) {
          throw Error(fmt::format("tensor '{}': {} cannot be stored", name, tensor.values[i]));
        }
        largest = std::max(largest, std::abs(tensor.values[i]));
      }
      const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
      scales.values.push_back(scale);
      for (std::size_t i = at; i < at + row; ++i) {
        Append(static_cast<std::int8_t>(
            std::clamp(std::nearbyint(tensor.values[i] / scale), -127.0f, 127.0f)));
      }
    }
    Enter(name, "I8", tensor.shape, begin);
    Add(name + kScaleSuffix, scales, StoredAs::kFloat32);
  }

  void Add(const std::string& name, const IntegerTensor& tensor) {
    const std::size_t begin = values_.size();
    const bool narrow =
        std::all_of(tensor.values.begin(), tensor.values.end(),
                    [](std::int32_t value) { return value == static_cast<std::int16_t>(value); });
    for (const std::int32_t value : tensor.values) {
      if (narrow) {
        Append(static_cast<std::int16_t>(value));
      } else {
        Append(value);
      }
    }
    Enter(name, narrow ? "I16" : "I32", tensor.shape, begin);
  }

  std::string Finish(const std::map<std::string, std::string>& metadata) {
    if (!metadata.empty()) header_["__metadata__"] = metadata;
    std::string text = DumpJson(header_);
    text.append((8 - text.size() % 8) % 8, ' ');  // values start on a multiple of 8
    const std::uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + values_;
  }

 private:
  template <class T>
  void Append(T value) {
    values_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void Enter(const std::string& name, const char* dtype, const std::vector<std::int64_t>& shape,
             std::size_t begin) {
    header_[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {begin, values_.size()}}};
  }

  nlohmann::ordered_json header_;
  std::string values_;
};

}  // namespace

std::uint16_t HalfFromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x47800000u) {  // 65536 and above, infinity, not a number
    return static_cast<std::uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  }
  if (magnitude < 0x38800000u) {  // below 2^-14: subnormal, a multiple of 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(scaled)));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float FloatFromHalf(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) / 16777216.0f;
    return sign ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

namespace {

template <class Tensor>
const Tensor& GetFrom(const std::map<std::string, Tensor>& tensors, const std::string& where,
                      const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw Error(fmt::format("{}: no tensor '{}'", where, name));
  const std::vector<std::int64_t>& has = found->second.shape;
  bool fits = has.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == -1 || shape[i] == has[i];
  }
  if (!fits) {
    throw Error(fmt::format("{}: tensor '{}' is {}, expected {}", where, name, fmt::join(has, "x"),
                            fmt::join(shape, "x")));
  }
  return found->second;
}

}  // namespace

const NamedTensor& TensorFile::Get(const std::string& name,
                                   const std::vector<std::int64_t>& shape) const {
  return GetFrom(tensors, where, name, shape);
}

const IntegerTensor& TensorFile::GetIntegers(const std::string& name,
                                             const std::vector<std::int64_t>& shape) const {
  return GetFrom(integers, where, name, shape);
}

const std::string& TensorFile::Meta(const std::string& key) const {
  const auto found = metadata.find(key);
  if (found == metadata.end()) throw Error(fmt::format("{}: no metadata '{}'", where, key));
  return found->second;
}

TensorFile ParseTensorFile(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 8) throw Error(fmt::format("{}: not a safetensors file (too short)", where));
  const auto length = Load<std::uint64_t>(bytes.data());
  if (length > kMaxHeaderBytes || length > bytes.size() - 8) {
    // Without the length: of another file these are its first eight bytes, which may be a text.
    throw Error(fmt::format("{}: not a safetensors file, or cut short", where));
  }
  TensorFile file;
  file.where = where;
  const std::string_view values = bytes.substr(8 + length);
  try {
    const auto header = ParseJson(bytes.substr(8, length));
    if (!header.is_object()) throw Error(fmt::format("{}: header is not a JSON object", where));
    std::uint64_t used = 0;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        for (const auto& [key, text] : entry.items()) file.metadata[key] = text.get<std::string>();
        continue;
      }
      const std::string which = fmt::format("{}: tensor '{}'", where, name);
      if (IsInteger(entry.at("dtype").get<std::string>())) {
        file.integers[name] = ParseIntegers(entry, values, which);
      } else {
        file.tensors[name] = ParseTensor(entry, values, which);
      }
      used += entry.at("data_offsets").at(1).get<std::uint64_t>() -
              entry.at("data_offsets").at(0).get<std::uint64_t>();
    }
    if (used != values.size()) {
      throw Error(
          fmt::format("{}: {} bytes of values, the header names {}", where, values.size(), used));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: damaged header: {}", where, JsonTrouble(error)));
  }
  ApplyScales(file);
  return file;
}

TensorFile ReadTensorFile(const std::filesystem::path& path) {
  return ParseTensorFile(ReadTextFile(path, kLargestFile), path.string());
}

std::string SerialiseTensorFile(const TensorFile& file, StoredAs stored) {
  Writer writer;
  for (const auto& [name, tensor] : file.tensors) {
    if (stored != StoredAs::kInt8) {
      writer.Add(name, tensor, stored);
    } else if (tensor.shape.size() >= 2 && RowSize(tensor) > 1) {
      writer.AddInt8(name, tensor);
    } else {
      writer.Add(name, tensor, StoredAs::kFloat16);
    }
  }
  for (const auto& [name, tensor] : file.integers) writer.Add(name, tensor);
  return writer.Finish(file.metadata);
}

void WriteTensorFile(const std::filesystem::path& path, const TensorFile& file, StoredAs stored,
                     IfExists if_exists) {
  WriteFileAtomically(path, SerialiseTensorFile(file, stored), {.if_exists = if_exists});
}

std::string Fingerprint(const TensorFile& file) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  };
  const auto add_tensors = [&](const auto& tensors) {
    for (const auto& [name, tensor] : tensors) {
      add(name.c_str(), name.size() + 1);
      add(tensor.shape.data(), tensor.shape.size() * sizeof(std::int64_t));
      add(tensor.values.data(), tensor.values.size() * sizeof(tensor.values[0]));
    }
  };
  add_tensors(file.tensors);
  add_tensors(file.integers);
  return fmt::format("{:016x}", hash);
}

}  // namespace sotto

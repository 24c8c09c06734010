#include "nn/onnx_weights.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little);

enum DataType : std::uint64_t { kFloat = 1, kUint8 = 2, kInt8 = 3 };

// One message of a protocol buffer, field by field (Google, "Encoding").
class Message {
 public:
  Message(std::string_view bytes, const std::string& where) : rest_(bytes), where_(where) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a varint
    std::string_view bytes;   // of a text, a message, packed values or a fixed number
    bool is_varint = false;
  };

  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t tag = Varint();
    Field field;
    field.number = tag >> 3;
    switch (tag & 7) {
      case 0:
        field.is_varint = true;
        field.value = Varint();
        break;
      case 1:
        field.bytes = Take(8);
        break;
      case 2:
        field.bytes = Take(Varint());
        break;
      case 5:
        field.bytes = Take(4);
        break;
      default:
        Refuse("a field of an unknown kind");
    }
    return field;
  }

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    Refuse("a number without an end");
  }
  bool Empty() const { return rest_.empty(); }
  [[noreturn]] void Refuse(const char* what) const {
    throw Error(fmt::format("'{}' is not an ONNX model: {}", where_, what));
  }

 private:
  std::string_view Take(std::uint64_t n) {
    if (n > rest_.size()) Refuse("it ends in the middle of a field");
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }

  std::string_view rest_;
  const std::string& where_;
};

// A repeated whole number, packed or one field each.
void Append(const Message::Field& field, const std::string& where,
            const std::function<void(std::uint64_t)>& add) {
  if (field.is_varint) return add(field.value);
  Message packed(field.bytes, where);
  while (!packed.Empty()) add(packed.Varint());
}

void AppendFloats(std::string_view bytes, const Message& message, std::vector<float>& values) {
  if (bytes.size() % sizeof(float) != 0) message.Refuse("floats that are cut short");
  const std::size_t old = values.size();
  values.resize(old + bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(values.data() + old, bytes.data(), bytes.size());
}

void ReadInitialiser(std::string_view bytes, TensorFile& file) {
  Message message(bytes, file.where);
  NamedTensor tensor;
  std::string name;
  std::uint64_t type = 0;
  std::string_view raw;
  std::vector<std::uint64_t> whole;  // what is not in `raw`
  bool elsewhere = false;
  while (const auto field = message.Next()) {
    switch (field->number) {
      case 1:
        Append(*field, file.where, [&](std::uint64_t n) {
          if (n > (std::uint64_t{1} << 32)) message.Refuse("a size that cannot be");
          tensor.shape.push_back(static_cast<std::int64_t>(n));
        });
        break;
      case 2:
        type = field->value;
        break;
      case 4:
        AppendFloats(field->bytes, message, tensor.values);
        break;
      case 5:
        Append(*field, file.where, [&](std::uint64_t n) { whole.push_back(n); });
        break;
      case 8:
        name = field->bytes;
        break;
      case 9:
        raw = field->bytes;
        break;
      case 14:
        elsewhere = field->value == 1;
        break;
      default:
        break;
    }
  }
  if (type != kFloat && type != kUint8 && type != kInt8) return;
  if (elsewhere) message.Refuse("its values lie in another file");
  if (type == kFloat) {
    AppendFloats(raw, message, tensor.values);
  } else {
    for (const char c : raw) {
      tensor.values.push_back(type == kInt8 ? static_cast<float>(static_cast<signed char>(c))
                                            : static_cast<float>(static_cast<unsigned char>(c)));
    }
    for (const std::uint64_t n : whole) {
      tensor.values.push_back(static_cast<float>(static_cast<std::int32_t>(n)));
    }
  }
  // Sizes stay below 2³² each, so that the product is checked before it can run over.
  std::uint64_t count = 1;
  for (const std::int64_t n : tensor.shape) {
    count *= static_cast<std::uint64_t>(n);
    if (count > tensor.values.size()) break;
  }
  if (count != tensor.values.size()) message.Refuse("a tensor with other than its values");
  for (const float v : tensor.values) {
    if (!std::isfinite(v)) message.Refuse("a value that is not finite");
  }
  if (!file.tensors.emplace(name, std::move(tensor)).second)
    message.Refuse("a name that is twice there");
}

}  // namespace

TensorFile ParseOnnxWeights(std::string_view bytes, const std::string& where) {
  TensorFile file;
  file.where = where;
  Message model(bytes, where);
  while (const auto part = model.Next()) {
    if (part->number != 7 || part->is_varint) continue;
    Message graph(part->bytes, where);
    while (const auto field = graph.Next()) {
      if (field->number == 5 && !field->is_varint) ReadInitialiser(field->bytes, file);
    }
  }
  if (file.tensors.empty()) model.Refuse("no tensor in it");
  return file;
}

TensorFile ReadOnnxWeights(const std::filesystem::path& path) {
  return ParseOnnxWeights(ReadTextFile(path, kLargestFile), path.string());
}

}  // namespace sotto

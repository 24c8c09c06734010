// For tests only: small ONNX models written by hand, and where installed models are.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"
#include "onnx/session.h"

namespace sotto::testing {

// An environment variable for the length of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// No model is found while it lives: quick, and the same on every machine.
class WithoutModels {
 private:
  ScopedVariable models_{"SOTTO_MODELS", nullptr}, shared_{"SOTTO_SHARED", nullptr},
      home_{"HOME", "/nonexistent"};
};

// The usual folders, and the shared weights wherever the tests find shared data.
inline ModelFolders TestModels() {
  std::vector<std::filesystem::path> folders = ModelFolders::Default().Folders();
  folders.push_back(SharedFolder() / "data/weights");
  return ModelFolders(folders);
}

// In CI, which runs ./do deps --onnx first, a test whose model is absent must fail; elsewhere it is
// skipped.
#define SOTTO_NEEDS_MODEL(relative)                                                            \
  do {                                                                                         \
    if (!::sotto::OnnxRuntime::Compiled() || !::sotto::testing::TestModels().Find(relative) || \
        !::sotto::testing::TestModels().Find("onnxruntime/libonnxruntime.so.1")) {             \
      if (std::getenv("CI") != nullptr) FAIL() << "not installed: " << (relative);             \
      GTEST_SKIP() << "not installed (./do deps --onnx): " << (relative);                      \
    }                                                                                          \
  } while (false)

// Protocol buffers, as much as an ONNX file needs (onnx.proto: field numbers beside the names).
class ProtoWriter {
 public:
  ProtoWriter& Int(int field, std::uint64_t value) {
    Varint(static_cast<std::uint64_t>(field) << 3);
    Varint(value);
    return *this;
  }
  ProtoWriter& Bytes(int field, const std::string& bytes) {
    Varint(static_cast<std::uint64_t>(field) << 3 | 2);
    Varint(bytes.size());
    text_ += bytes;
    return *this;
  }
  ProtoWriter& Message(int field, const ProtoWriter& message) {
    return Bytes(field, message.text_);
  }
  const std::string& Text() const { return text_; }

 private:
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

// A float tensor [1, dims …] as ValueInfoProto; −1 is any length.
inline ProtoWriter TensorOf(const std::string& name, const std::vector<std::int64_t>& dims) {
  ProtoWriter shape;
  for (const std::int64_t n : dims) {
    ProtoWriter dim;
    n < 0 ? dim.Bytes(2, "any")
          : dim.Int(1, static_cast<std::uint64_t>(n));  // dim_param, dim_value
    shape.Message(1, dim);
  }
  const ProtoWriter tensor = ProtoWriter().Int(1, 1).Message(2, shape);  // elem_type FLOAT, shape
  return ProtoWriter().Bytes(1, name).Message(2, ProtoWriter().Message(1, tensor));
}

// The mean over time of x[1, T, d]·w[d, e]: "feats" in, "embedding" [1, e] out. `weights` row by
// row.
inline std::string MeanProjectionModel(std::int64_t d, std::int64_t e,
                                       const std::vector<float>& weights) {
  std::string raw(weights.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), weights.data(), raw.size());
  const auto size = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  // TensorProto: dims 1, data_type 2 (FLOAT), name 8, raw_data 9
  const ProtoWriter initializer =
      ProtoWriter().Int(1, size(d)).Int(1, size(e)).Int(2, 1).Bytes(8, "w").Bytes(9, raw);
  // NodeProto: input 1, output 2, op_type 4, attribute 5 {name 1, i 3, ints 8, type 20}
  const ProtoWriter product =
      ProtoWriter().Bytes(1, "feats").Bytes(1, "w").Bytes(2, "projected").Bytes(4, "MatMul");
  const ProtoWriter axes = ProtoWriter().Bytes(1, "axes").Int(8, 1).Int(20, 7);
  const ProtoWriter keep = ProtoWriter().Bytes(1, "keepdims").Int(3, 0).Int(20, 2);
  const ProtoWriter mean = ProtoWriter()
                               .Bytes(1, "projected")
                               .Bytes(2, "embedding")
                               .Bytes(4, "ReduceMean")
                               .Message(5, axes)
                               .Message(5, keep);
  // GraphProto: node 1, name 2, initializer 5, input 11, output 12
  const ProtoWriter graph = ProtoWriter()
                                .Message(1, product)
                                .Message(1, mean)
                                .Bytes(2, "mean_projection")
                                .Message(5, initializer)
                                .Message(11, TensorOf("feats", {1, -1, d}))
                                .Message(12, TensorOf("embedding", {1, e}));
  // ModelProto: ir_version 1, graph 7, opset_import 8 {version 2}
  return ProtoWriter().Int(1, 8).Message(7, graph).Message(8, ProtoWriter().Int(2, 13)).Text();
}

}  // namespace sotto::testing

// ONNX models run by ONNX Runtime, whose library is opened at run time: a program that uses none of
// this room never loads it. Only the C interface (version 22) is used.
//
// A build that did not find the C headers (./do deps --onnx) has the same functions, and opening
// the runtime is an Error that says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/models.h"

struct OrtValue;

namespace sotto {

// The opened library. Sessions and tensors keep it alive.
class OnnxRuntime {
 public:
  // True when the build found the headers.
  static bool Compiled();
  // Looks for onnxruntime/libonnxruntime.so.1 (or the file alone) in the folders. It is checked
  // (models.h) before any of it runs, once a process: it stays loaded. Throws Error with the
  // reason: not compiled in, not found, not the pinned one, not loadable, too old.
  static std::shared_ptr<const OnnxRuntime> Open(const ModelFolders& models);

  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  std::string Version() const;  // "1.22.0"

  struct Impl;
  const Impl& Internals() const { return *impl_; }

 private:
  explicit OnnxRuntime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};
using OnnxRuntimePtr = std::shared_ptr<const OnnxRuntime>;

enum class TensorType { kFloat, kInt64, kBool, kOther };

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::kFloat;
  std::vector<std::int64_t> shape;  // −1: any
};

// A tensor of the runtime; moves, does not copy.
class OnnxTensor {
 public:
  // The values are copied. Throws Error when their number is not the product of `shape`.
  static OnnxTensor Floats(const OnnxRuntimePtr& runtime, std::span<const float> values,
                           const std::vector<std::int64_t>& shape);
  static OnnxTensor Ints(const OnnxRuntimePtr& runtime, std::span<const std::int64_t> values,
                         const std::vector<std::int64_t>& shape);
  static OnnxTensor Bool(const OnnxRuntimePtr& runtime, bool value);  // shape [1]

  OnnxTensor(OnnxTensor&& other) noexcept;
  OnnxTensor& operator=(OnnxTensor&& other) noexcept;
  ~OnnxTensor();

  std::vector<std::int64_t> Shape() const;
  // Throws Error when the tensor holds another type. Valid as long as the tensor.
  std::span<const float> Floats() const;

 private:
  friend class OnnxSession;
  OnnxTensor(OnnxRuntimePtr runtime, OrtValue* value);
  static OnnxTensor Copy(const OnnxRuntimePtr& runtime, const void* bytes, std::size_t count,
                         TensorType type, const std::vector<std::int64_t>& shape);
  OnnxRuntimePtr runtime_;
  OrtValue* value_ = nullptr;
};

struct OnnxSessionOptions {
  // Turns quantised weights into floats once, on loading, where the model would do so on every run:
  // more memory, less time.
  bool unpack_weights = false;
};

// One loaded model. Run() may be called from several threads at a time.
class OnnxSession {
 public:
  // The folders' model of this relative name (ModelFolders::Read). Throws Error that names the
  // file.
  OnnxSession(OnnxRuntimePtr runtime, const ModelFolders& models,
              const std::filesystem::path& relative, const OnnxSessionOptions& options = {});
  // The model's bytes; `name` is for messages.
  OnnxSession(OnnxRuntimePtr runtime, std::string_view bytes, const std::string& name,
              const OnnxSessionOptions& options = {});
  OnnxSession(OnnxSession&& other) noexcept;
  OnnxSession& operator=(OnnxSession&& other) noexcept;
  ~OnnxSession();

  const std::vector<TensorInfo>& Inputs() const;
  const OnnxRuntimePtr& Runtime() const;
  // Index of an input or output, or an Error that lists what the model has.
  const TensorInfo& Input(std::string_view name) const;
  const TensorInfo& Output(std::string_view name) const;

  using Named = std::pair<std::string, const OnnxTensor*>;
  // The outputs named, in that order. Throws Error with the runtime's own message.
  std::vector<OnnxTensor> Run(std::span<const Named> inputs,
                              std::span<const std::string> outputs) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sotto

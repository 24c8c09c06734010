#include "onnx/session.h"

#include <fmt/format.h>

#include "base/error.h"

#ifdef SOTTO_HAS_ONNXRUNTIME

#include <dlfcn.h>
#include <fcntl.h>
#include <onnxruntime_c_api.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/files.h"

namespace sotto {

namespace {
constexpr std::uint32_t kApiVersion = 22;  // ONNX Runtime 1.22 and later offer it
}

struct OnnxRuntime::Impl {
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  OrtAllocator* allocator = nullptr;  // the default one: owned by the library
  std::string version;

  // Throws the status as an Error.
  void Check(OrtStatus* status, std::string_view where) const {
    if (status == nullptr) return;
    std::string message = api->GetErrorMessage(status);
    api->ReleaseStatus(status);
    for (char& c : message) {
      if (c == '\n') c = ' ';  // an Error is one line
    }
    throw Error(fmt::format("{}: {}", where, message));
  }
};

bool OnnxRuntime::Compiled() { return true; }

OnnxRuntime::OnnxRuntime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

OnnxRuntime::~OnnxRuntime() {
  // The library itself stays loaded: its threads and thread-locals outlive any one user.
  if (impl_->env != nullptr) impl_->api->ReleaseEnv(impl_->env);
}

namespace {

// An open file, for as long as it takes to load it.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }
  // A name for this very file, whatever has taken its place in the folder since.
  std::string Name() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  const int descriptor_;
};

// The library, checked before any of it runs unless it is trusted. A checked one is not checked
// again: it stays loaded.
void* LoadLibrary(const std::filesystem::path& path, const std::filesystem::path& relative,
                  bool trust) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, void*> checked;
  const std::lock_guard lock(mutex);
  if (!trust && checked.contains(path)) return checked.at(path);
  const OpenFile file(path);
  // What was checked and what is loaded are the same file.
  const bool named = std::filesystem::exists(file.Name());
  const std::string name = named ? file.Name() : path.string();
  if (!trust) RequirePinned(relative, ReadTextFile(name, kLargestFile), path.string());
  void* library = dlopen(trust ? path.c_str() : name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(fmt::format("'{}': {}", path.string(), dlerror()));
  if (!trust) checked[path] = library;
  return library;
}

}  // namespace

std::shared_ptr<const OnnxRuntime> OnnxRuntime::Open(const ModelFolders& models) {
  std::filesystem::path relative;
  std::optional<std::filesystem::path> path;
  for (const char* name :
       {"onnxruntime/libonnxruntime.so.1", "libonnxruntime.so.1", "libonnxruntime.so"}) {
    relative = name;
    path = models.Find(relative);
    if (path) break;
  }
  if (!path) {
    throw Error(
        fmt::format("ONNX Runtime is not installed (./do deps --onnx): "
                    "libonnxruntime.so.1 is in none of: {}",
                    models.Describe()));
  }
  void* library = LoadLibrary(*path, relative, models.Trusted());
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase"));
  if (get_base == nullptr) throw Error(fmt::format("'{}' is not ONNX Runtime", path->string()));
  auto impl = std::make_unique<Impl>();
  impl->version = get_base()->GetVersionString();
  impl->api = get_base()->GetApi(kApiVersion);
  if (impl->api == nullptr) {
    throw Error(fmt::format("'{}': ONNX Runtime {} is too old: 1.{} or later is needed",
                            path->string(), impl->version, kApiVersion));
  }
  // What goes wrong comes back as a status; the library's own log would repeat it on stderr.
  impl->Check(impl->api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "sotto", &impl->env), path->string());
  impl->Check(impl->api->GetAllocatorWithDefaultOptions(&impl->allocator), path->string());
  return std::shared_ptr<const OnnxRuntime>(new OnnxRuntime(std::move(impl)));
}

std::string OnnxRuntime::Version() const { return impl_->version; }

namespace {

ONNXTensorElementDataType ElementType(TensorType type) {
  switch (type) {
    case TensorType::kFloat:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case TensorType::kInt64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case TensorType::kBool:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    default:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
}

std::size_t ElementSize(TensorType type) {
  return type == TensorType::kFloat ? sizeof(float) : type == TensorType::kInt64 ? 8 : 1;
}

TensorType FromElementType(ONNXTensorElementDataType type) {
  for (const TensorType known : {TensorType::kFloat, TensorType::kInt64, TensorType::kBool}) {
    if (ElementType(known) == type) return known;
  }
  return TensorType::kOther;
}

// Type and shape of what `info` describes; takes no ownership.
TensorInfo Describe(const OnnxRuntime::Impl& ort, const OrtTensorTypeAndShapeInfo* info) {
  TensorInfo out;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  ort.Check(ort.api->GetTensorElementType(info, &type), "tensor");
  std::size_t dimensions = 0;
  ort.Check(ort.api->GetDimensionsCount(info, &dimensions), "tensor");
  out.shape.resize(dimensions);
  ort.Check(ort.api->GetDimensions(info, out.shape.data(), dimensions), "tensor");
  out.type = FromElementType(type);
  return out;
}

TensorInfo Describe(const OnnxRuntime::Impl& ort, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  ort.Check(ort.api->GetTensorTypeAndShape(value, &info), "tensor");
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, void (*)(OrtTensorTypeAndShapeInfo*)> held(
      info, ort.api->ReleaseTensorTypeAndShapeInfo);
  return Describe(ort, info);
}

}  // namespace

OnnxTensor::OnnxTensor(OnnxRuntimePtr runtime, OrtValue* value)
    : runtime_(std::move(runtime)), value_(value) {}

OnnxTensor::OnnxTensor(OnnxTensor&& other) noexcept
    : runtime_(std::move(other.runtime_)), value_(std::exchange(other.value_, nullptr)) {}

OnnxTensor& OnnxTensor::operator=(OnnxTensor&& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(value_, other.value_);
  return *this;
}

OnnxTensor::~OnnxTensor() {
  if (value_ != nullptr) runtime_->Internals().api->ReleaseValue(value_);
}

OnnxTensor OnnxTensor::Copy(const OnnxRuntimePtr& runtime, const void* bytes, std::size_t count,
                            TensorType type, const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t n : shape) product *= n;
  if (product < 0 || static_cast<std::size_t>(product) != count) {
    throw Error(fmt::format("tensor: {} values do not fill its shape of {}", count, product));
  }
  const OnnxRuntime::Impl& ort = runtime->Internals();
  OrtValue* value = nullptr;
  ort.Check(ort.api->CreateTensorAsOrtValue(ort.allocator, shape.data(), shape.size(),
                                            ElementType(type), &value),
            "tensor");
  OnnxTensor tensor(runtime, value);
  void* data = nullptr;
  ort.Check(ort.api->GetTensorMutableData(value, &data), "tensor");
  if (count > 0) std::memcpy(data, bytes, count * ElementSize(type));
  return tensor;
}

OnnxTensor OnnxTensor::Floats(const OnnxRuntimePtr& runtime, std::span<const float> values,
                              const std::vector<std::int64_t>& shape) {
  return Copy(runtime, values.data(), values.size(), TensorType::kFloat, shape);
}

OnnxTensor OnnxTensor::Ints(const OnnxRuntimePtr& runtime, std::span<const std::int64_t> values,
                            const std::vector<std::int64_t>& shape) {
  return Copy(runtime, values.data(), values.size(), TensorType::kInt64, shape);
}

OnnxTensor OnnxTensor::Bool(const OnnxRuntimePtr& runtime, bool value) {
  return Copy(runtime, &value, 1, TensorType::kBool, {1});
}

std::vector<std::int64_t> OnnxTensor::Shape() const {
  return Describe(runtime_->Internals(), value_).shape;
}

std::span<const float> OnnxTensor::Floats() const {
  const OnnxRuntime::Impl& ort = runtime_->Internals();
  const TensorInfo info = Describe(ort, value_);
  if (info.type != TensorType::kFloat) throw Error("tensor: its values are not floats");
  std::size_t count = 1;
  for (const std::int64_t n : info.shape) count *= static_cast<std::size_t>(n);
  void* data = nullptr;
  ort.Check(ort.api->GetTensorMutableData(value_, &data), "tensor");
  return {static_cast<const float*>(data), count};
}

struct OnnxSession::Impl {
  OnnxRuntimePtr runtime;
  std::string name;
  OrtSession* session = nullptr;
  std::vector<TensorInfo> inputs, outputs;

  Impl(OnnxRuntimePtr opened, std::string_view bytes, std::string model_name,
       const OnnxSessionOptions& options)
      : runtime(std::move(opened)), name(std::move(model_name)) {
    const OnnxRuntime::Impl& ort = runtime->Internals();
    OrtSessionOptions* raw = nullptr;
    ort.Check(ort.api->CreateSessionOptions(&raw), name);
    const std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)> held(
        raw, ort.api->ReleaseSessionOptions);
    // Recordings run in parallel, so a model needs one thread.
    ort.Check(ort.api->SetIntraOpNumThreads(raw, 1), name);
    ort.Check(ort.api->SetInterOpNumThreads(raw, 1), name);
    // Lengths change with every recording: patterns of one length do not serve the next.
    ort.Check(ort.api->DisableMemPattern(raw), name);
    // Nor does an arena serve: it doubles what it asks for and keeps all of it between runs.
    ort.Check(ort.api->DisableCpuMemArena(raw), name);
    if (options.unpack_weights) {
      ort.Check(ort.api->AddSessionConfigEntry(raw, "session.disable_quant_qdq", "1"), name);
    }
    ort.Check(ort.api->CreateSessionFromArray(ort.env, bytes.data(), bytes.size(), raw, &session),
              fmt::format("'{}'", name));
    try {
      inputs = List(ort.api->SessionGetInputCount, ort.api->SessionGetInputName,
                    ort.api->SessionGetInputTypeInfo);
      outputs = List(ort.api->SessionGetOutputCount, ort.api->SessionGetOutputName,
                     ort.api->SessionGetOutputTypeInfo);
    } catch (...) {
      ort.api->ReleaseSession(session);
      throw;
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { runtime->Internals().api->ReleaseSession(session); }

  template <typename Count, typename Name, typename Type>
  std::vector<TensorInfo> List(Count count_of, Name name_of, Type type_of) const {
    const OnnxRuntime::Impl& ort = runtime->Internals();
    std::size_t count = 0;
    ort.Check(count_of(session, &count), name);
    std::vector<TensorInfo> list;
    for (std::size_t i = 0; i < count; ++i) {
      OrtTypeInfo* type = nullptr;
      ort.Check(type_of(session, i, &type), name);
      const std::unique_ptr<OrtTypeInfo, void (*)(OrtTypeInfo*)> held(type,
                                                                      ort.api->ReleaseTypeInfo);
      const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // null for what is no tensor
      ort.Check(ort.api->CastTypeInfoToTensorInfo(type, &tensor), name);
      TensorInfo info;
      info.type = TensorType::kOther;
      if (tensor != nullptr) info = Describe(ort, tensor);
      char* text = nullptr;
      ort.Check(name_of(session, i, ort.allocator, &text), name);
      info.name = text;
      ort.Check(ort.api->AllocatorFree(ort.allocator, text), name);
      list.push_back(std::move(info));
    }
    return list;
  }
};

OnnxSession::OnnxSession(OnnxRuntimePtr runtime, const ModelFolders& models,
                         const std::filesystem::path& relative, const OnnxSessionOptions& options)
    : OnnxSession(std::move(runtime), models.Read(relative), models.Require(relative).string(),
                  options) {}

OnnxSession::OnnxSession(OnnxRuntimePtr runtime, std::string_view bytes, const std::string& name,
                         const OnnxSessionOptions& options)
    : impl_(std::make_unique<Impl>(std::move(runtime), bytes, name, options)) {}

OnnxSession::OnnxSession(OnnxSession&& other) noexcept = default;
OnnxSession& OnnxSession::operator=(OnnxSession&& other) noexcept = default;
OnnxSession::~OnnxSession() = default;

const std::vector<TensorInfo>& OnnxSession::Inputs() const { return impl_->inputs; }
const OnnxRuntimePtr& OnnxSession::Runtime() const { return impl_->runtime; }

namespace {

const TensorInfo& FindInfo(const std::vector<TensorInfo>& list, std::string_view name,
                           const std::string& model, const char* kind) {
  std::string names;
  for (const TensorInfo& info : list) {
    if (info.name == name) return info;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  throw Error(fmt::format("'{}' has no {} '{}'; it has: {}", model, kind, name, names));
}

}  // namespace

const TensorInfo& OnnxSession::Input(std::string_view name) const {
  return FindInfo(impl_->inputs, name, impl_->name, "input");
}

const TensorInfo& OnnxSession::Output(std::string_view name) const {
  return FindInfo(impl_->outputs, name, impl_->name, "output");
}

std::vector<OnnxTensor> OnnxSession::Run(std::span<const Named> inputs,
                                         std::span<const std::string> outputs) const {
  const OnnxRuntime::Impl& ort = impl_->runtime->Internals();
  std::vector<const char*> input_names, output_names;
  std::vector<const OrtValue*> input_values;
  for (const auto& [name, tensor] : inputs) {
    input_names.push_back(name.c_str());
    input_values.push_back(tensor->value_);
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());
  std::vector<OrtValue*> values(outputs.size(), nullptr);
  OrtStatus* status =
      ort.api->Run(impl_->session, nullptr, input_names.data(), input_values.data(),
                   input_names.size(), output_names.data(), output_names.size(), values.data());
  std::vector<OnnxTensor> results;
  results.reserve(values.size());
  for (OrtValue* value : values) results.push_back(OnnxTensor(impl_->runtime, value));
  ort.Check(status, fmt::format("'{}'", impl_->name));
  return results;
}

}  // namespace sotto

#else

namespace sotto {
namespace {

[[noreturn]] void Absent() {
  throw Error(
      "not available: this program was built without ONNX Runtime (./do deps --onnx, then build "
      "again)");
}

}  // namespace

struct OnnxRuntime::Impl {};
struct OnnxSession::Impl {};

bool OnnxRuntime::Compiled() { return false; }
OnnxRuntime::OnnxRuntime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OnnxRuntime::~OnnxRuntime() = default;
OnnxRuntimePtr OnnxRuntime::Open(const ModelFolders&) { Absent(); }
std::string OnnxRuntime::Version() const { Absent(); }

OnnxTensor::OnnxTensor(OnnxTensor&&) noexcept = default;
OnnxTensor& OnnxTensor::operator=(OnnxTensor&&) noexcept = default;
OnnxTensor::~OnnxTensor() = default;
OnnxTensor OnnxTensor::Floats(const OnnxRuntimePtr&, std::span<const float>,
                              const std::vector<std::int64_t>&) {
  Absent();
}
OnnxTensor OnnxTensor::Ints(const OnnxRuntimePtr&, std::span<const std::int64_t>,
                            const std::vector<std::int64_t>&) {
  Absent();
}
OnnxTensor OnnxTensor::Bool(const OnnxRuntimePtr&, bool) { Absent(); }
std::vector<std::int64_t> OnnxTensor::Shape() const { Absent(); }
std::span<const float> OnnxTensor::Floats() const { Absent(); }

// NOLINTNEXTLINE(performance-unnecessary-value-param): the other build keeps it
OnnxSession::OnnxSession(OnnxRuntimePtr, const ModelFolders&, const std::filesystem::path&,
                         const OnnxSessionOptions&) {
  Absent();
}
// NOLINTNEXTLINE(performance-unnecessary-value-param)
OnnxSession::OnnxSession(OnnxRuntimePtr, std::string_view, const std::string&,
                         const OnnxSessionOptions&) {
  Absent();
}
OnnxSession::OnnxSession(OnnxSession&&) noexcept = default;
OnnxSession& OnnxSession::operator=(OnnxSession&&) noexcept = default;
OnnxSession::~OnnxSession() = default;
const std::vector<TensorInfo>& OnnxSession::Inputs() const { Absent(); }
const OnnxRuntimePtr& OnnxSession::Runtime() const { Absent(); }
const TensorInfo& OnnxSession::Input(std::string_view) const { Absent(); }
const TensorInfo& OnnxSession::Output(std::string_view) const { Absent(); }
std::vector<OnnxTensor> OnnxSession::Run(std::span<const Named>,
                                         std::span<const std::string>) const {
  Absent();
}

}  // namespace sotto

#endif

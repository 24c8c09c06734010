#include "spoof/spoof_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/digest.h"
#include "base/error.h"
#include "nn/safetensors.h"
#include "spoof/default_models.h"
#include "spoof/spoof_features.h"

namespace sotto {
namespace {

constexpr const char* kFormat = "sotto-spoof-1";
constexpr double kOne = 1 << IntegerNet::kFractionBits;
constexpr std::int64_t kBiasStep = std::int64_t{1} << IntegerNet::kFractionBits;
// Beyond this no bound on ‖w‖₁ leaves anything of a net.
constexpr std::int64_t kLargestInput = 64 << IntegerNet::kFractionBits;

double FromScore(std::int64_t score) { return std::ldexp(static_cast<double>(score), -39); }

std::int64_t WholeNumber(const TensorFile& file, const std::string& key) {
  const std::string& text = file.Meta(key);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(fmt::format("{}: {} '{}' is no whole number", file.where, key, text));
  }
  return value;
}

std::int32_t InputLimit(const TensorFile& file) {
  const std::int64_t x_max = WholeNumber(file, "x_max");
  if (x_max < 1 || x_max > kLargestInput) {
    throw Error(fmt::format("{}: x_max {} is outside 1 to {}", file.where, x_max, kLargestInput));
  }
  return static_cast<std::int32_t>(x_max);
}

bool DecisionOnly(const TensorFile& file) {
  const std::string& policy = file.Meta("policy");
  if (policy != "score" && policy != "decision") {
    throw Error(fmt::format("{}: policy '{}' is neither score nor decision", file.where, policy));
  }
  return policy == "decision";
}

}  // namespace

std::string SpoofFrontEnd::Fingerprint() const {
  std::string bytes = SpoofFeatureDefinition();
  const auto add = [&](const auto* data, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(data), count * sizeof *data);
  };
  add(mean.data(), mean.size());
  add(scale.data(), scale.size());
  add(&x_max, 1);
  return ContentDigest(bytes).substr(0, 16);
}

std::vector<std::int32_t> SpoofFrontEnd::Quantise(std::span<const float> features) const {
  if (features.size() != mean.size()) {
    throw Error(
        fmt::format("features: {} values, the model takes {}", features.size(), mean.size()));
  }
  std::vector<std::int32_t> x(features.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = kOne * scale[i] * (static_cast<double>(features[i]) - mean[i]);
    if (std::isnan(value)) throw Error(fmt::format("features: value {} is not a number", i));
    x[i] = static_cast<std::int32_t>(std::lround(std::clamp<double>(value, -x_max, x_max)));
  }
  return x;
}

double SpoofModel::Score(std::span<const float> features) const {
  return FromScore(Evaluate(net, front_end.Quantise(features)));
}

double SpoofModel::Threshold() const { return FromScore(net.threshold); }

SpoofModel ParseSpoofModel(std::string_view bytes, const std::string& where) {
  const TensorFile file = ParseTensorFile(bytes, where);
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormat) {
    throw Error(fmt::format("{}: not a countermeasure ('{}' files are read)", where, kFormat));
  }
  SpoofModel model;
  model.name = file.Meta("name");
  model.training = file.Meta("training");
  constexpr auto kInputs = static_cast<std::int64_t>(kSpoofInputs);
  model.front_end = {file.Get("mean", {kInputs}).values, file.Get("scale", {kInputs}).values,
                     InputLimit(file)};
  const std::string fingerprint = model.front_end.Fingerprint();
  if (file.Meta("features") != fingerprint) {
    throw Error(fmt::format("{}: made for features {}, this program's are {} ({})", where,
                            file.Meta("features"), fingerprint, SpoofFeatureDefinition()));
  }
  IntegerNet& net = model.net;
  net.inputs = kSpoofInputs;
  net.w1 = file.GetIntegers("w1", {-1, kInputs}).values;
  net.w2 = file.GetIntegers("w2", {-1}).values;
  net.units = static_cast<std::uint32_t>(net.w2.size());
  for (const std::int32_t b : file.GetIntegers("b1", {-1}).values) {
    net.b1.push_back(kBiasStep * b);
  }
  net.b_out = WholeNumber(file, "b_out");
  net.threshold = WholeNumber(file, "threshold");
  net.decision_only = DecisionOnly(file);
  net.x_max = model.front_end.x_max;
  try {
    CheckRanges(net);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
  return model;
}

std::string SerialiseSpoofModel(const SpoofModel& model) {
  const IntegerNet& net = model.net;
  CheckRanges(net);
  const auto units = static_cast<std::int64_t>(net.units);
  const auto inputs = static_cast<std::int64_t>(net.inputs);
  TensorFile file;
  file.tensors["mean"] = {{inputs}, model.front_end.mean};
  file.tensors["scale"] = {{inputs}, model.front_end.scale};
  file.integers["w1"] = {{units, inputs}, net.w1};
  file.integers["w2"] = {{units}, net.w2};
  IntegerTensor& b1 = file.integers["b1"];
  b1.shape = {units};
  for (const std::int64_t b : net.b1) {
    if (b % kBiasStep != 0) {
      throw Error(fmt::format("countermeasure: b1 {} is no multiple of {}", b, kBiasStep));
    }
    b1.values.push_back(static_cast<std::int32_t>(b / kBiasStep));
  }
  file.metadata = {{"format", kFormat},
                   {"name", model.name},
                   {"training", model.training},
                   {"features", model.front_end.Fingerprint()},
                   {"definition", SpoofFeatureDefinition()},
                   {"x_max", fmt::to_string(net.x_max)},
                   {"b_out", fmt::to_string(net.b_out)},
                   {"threshold", fmt::to_string(net.threshold)},
                   {"policy", net.decision_only ? "decision" : "score"}};
  std::string bytes = SerialiseTensorFile(file, StoredAs::kFloat32);
  if (bytes.size() > kLargestSpoofModel) {
    throw Error(fmt::format("countermeasure: {} bytes, at most {} are read", bytes.size(),
                            kLargestSpoofModel));
  }
  ParseSpoofModel(bytes, "countermeasure");
  return bytes;
}

void WriteSpoofModel(const std::filesystem::path& path, const SpoofModel& model,
                     IfExists if_exists) {
  WriteFileAtomically(path, SerialiseSpoofModel(model), {.if_exists = if_exists});
}

SpoofModel OpenSpoofModel(const std::string& name_or_file) {
  if (name_or_file == kPrivasp1024) return ParseSpoofModel(kPrivasp1024Bytes, kPrivasp1024);
  if (name_or_file == kPrivasp512) return ParseSpoofModel(kPrivasp512Bytes, kPrivasp512);
  return ParseSpoofModel(ReadTextFile(name_or_file, kLargestSpoofModel), name_or_file);
}

}  // namespace sotto

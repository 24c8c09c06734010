#include "onnx/model_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

using Json = nlohmann::json;

// Reads the fields of one object and remembers which were asked for.
class Fields {
 public:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Error(where_ + ": a JSON object is expected");
  }

  std::optional<std::string> Text(const std::string& key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string() || value->get<std::string>().empty()) {
      Refuse(key, *value, "a text that is not empty");
    }
    return value->get<std::string>();
  }

  std::string RequiredText(const std::string& key) {
    auto text = Text(key);
    if (!text) throw Error(fmt::format("{}: '{}' is missing", where_, key));
    return *std::move(text);
  }

  // A number in [low, high].
  std::optional<double> Number(const std::string& key, double low, double high) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number() && std::isfinite(value->get<double>()) &&
                      value->get<double>() >= low && value->get<double>() <= high;
    if (!fits) Refuse(key, *value, fmt::format("a number from {} to {}", low, high));
    return value->get<double>();
  }

  std::optional<int> Whole(const std::string& key, int low, int high) {
    const std::optional<double> number = Number(key, low, high);
    if (!number) return std::nullopt;
    if (*number != std::floor(*number)) {
      Refuse(key, json_[key], fmt::format("a whole number from {} to {}", low, high));
    }
    return static_cast<int>(*number);
  }

  template <typename Enum>
  void Choice(const std::string& key, const std::vector<std::pair<std::string, Enum>>& choices,
              Enum& out) {
    const Json* value = Find(key);
    if (value == nullptr) return;
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (value->is_string() && value->get<std::string>() == name) {
        out = choice;
        return;
      }
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    Refuse(key, *value, "one of " + names);
  }

  const Json* Find(const std::string& key) {
    known_.push_back(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  // Call last.
  void RefuseUnknown() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        throw Error(fmt::format("{}: '{}' is not a known field", where_, key));
      }
    }
  }

 private:
  [[noreturn]] void Refuse(const std::string& key, const Json& value, const std::string& allowed) {
    throw Error(fmt::format("{}: '{}' is {}, allowed is {}", where_, key,
                            value.dump(-1, ' ', true, Json::error_handler_t::replace), allowed));
  }

  const Json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

void ReadFeatures(const Json& json, const std::string& where, ModelDescription& out) {
  using D = ModelDescription;
  Fields fields(json, where);
  fields.Choice<D::Features>(
      "kind", {{"waveform", D::Features::kWaveform}, {"log_mel", D::Features::kLogMel}},
      out.features);
  fields.Choice<D::Recipe>("recipe",
                           {{"kaldi", D::Recipe::kKaldi}, {"speechbrain", D::Recipe::kSpeechBrain}},
                           out.recipe);
  if (out.recipe == D::Recipe::kSpeechBrain) {
    out.low_hz = 0.0;
    out.high_hz = 8000.0;
  }
  if (const auto rate = fields.Whole("rate_hz", 8000, 48000)) out.rate_hz = *rate;
  if (const auto mels = fields.Whole("mels", 8, 512)) out.mels = *mels;
  if (const auto low = fields.Number("low_hz", 0.0, 24000.0)) out.low_hz = *low;
  if (const auto high = fields.Number("high_hz", 1.0, 24000.0)) out.high_hz = *high;
  out.scale = fields.Number("scale", 1e-6, 1e9);
  fields.RefuseUnknown();
  if (out.high_hz <= out.low_hz || out.high_hz > out.rate_hz / 2.0) {
    throw Error(fmt::format("{}: mels from {} to {} Hz do not fit a rate of {} Hz", where,
                            out.low_hz, out.high_hz, out.rate_hz));
  }
}

}  // namespace

ModelDescription ParseModelDescription(std::string_view json, const std::string& where) {
  using D = ModelDescription;
  const Json parsed = TryParseJson(json);
  if (parsed.is_discarded()) throw Error(fmt::format("'{}' is not JSON", where));
  ModelDescription out;
  Fields fields(parsed, fmt::format("'{}'", where));
  out.input = fields.RequiredText("input");
  out.output = fields.RequiredText("output");
  out.name = fields.Text("name").value_or("");
  out.length_input = fields.Text("length_input");
  fields.Choice<D::LengthUnit>(
      "length_unit",
      {{"frames", D::LengthUnit::kFrames}, {"fraction", D::LengthUnit::kFractionOfTheLongest}},
      out.length_unit);
  fields.Choice<D::Layout>(
      "layout", {{"time_first", D::Layout::kTimeFirst}, {"mels_first", D::Layout::kMelsFirst}},
      out.layout);
  fields.Choice<D::Normalise>("normalise",
                              {{"none", D::Normalise::kNone},
                               {"mean", D::Normalise::kMean},
                               {"mean_variance", D::Normalise::kMeanVariance}},
                              out.normalise);
  if (const Json* features = fields.Find("features")) {
    ReadFeatures(*features, fmt::format("'{}' features", where), out);
  }
  fields.RefuseUnknown();
  return out;
}

std::filesystem::path DescriptionPath(const std::filesystem::path& model) {
  std::filesystem::path path = model;
  path.replace_extension(".json");
  return path;
}

ModelDescription ReadModelDescription(const std::filesystem::path& model) {
  const std::filesystem::path path = DescriptionPath(model);
  ModelDescription description = ParseModelDescription(ReadTextFile(path), path.string());
  if (description.name.empty()) description.name = model.stem().string();
  return description;
}

}  // namespace sotto

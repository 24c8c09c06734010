#include "voice/method_text.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/tsv.h"

namespace sotto {
namespace {

std::size_t ParseCount(const std::string& value, const std::string& name) {
  const double count = ParseNumber(value, name);
  if (!(count >= 1.0 && count <= 1e9 && count == std::floor(count))) {
    throw Error(fmt::format("{} '{}': a whole number from 1 on is allowed", name, value));
  }
  return static_cast<std::size_t>(count);
}

void SetOption(VoiceOptions& options, const std::string& name, const std::string& value) {
  if (name == "alpha") {
    if (options.method != "mcadams") throw Error("alpha belongs to method mcadams");
    options.alpha = Range::Parse(value, "alpha");
    RequireAskedAlpha(options.alpha);
  } else if (name == "pitch") {
    options.pitch = ParsePitchMode(value);
  } else if (name == "target-gender") {
    options.target_gender = ParseTargetGender(value);
  } else if (name == "pool") {
    options.pool = value;
  } else if (options.IsNeural() && name == "neural") {
    options.neural.folder = value;
  } else if (options.IsNeural() && name == "target") {
    options.neural.target = ParseNeuralTarget(value);
  } else if (options.IsNeural() && name == "eps") {
    options.neural.eps = ParseNumber(value, "eps");
  } else if (options.IsNeural() && name == "target-pool") {
    options.neural.target_pool = value;
  } else if (options.IsNeural() && name == "content") {
    if (value != "student" && value != "moonshine") {
      throw Error(fmt::format("content '{}': student or moonshine is allowed", value));
    }
    options.neural.teacher = value == "moonshine";
  } else if (options.IsNeural() && name == "bend") {
    options.neural.bend_semitones = ParseNumber(value, "bend");
  } else if (options.IsNeural() && name == "streaming") {
    if (!value.empty()) throw Error("streaming takes no value");
    options.neural.streaming = true;
  } else if (options.IsNeural() && name == "max-draws") {
    options.neural.max_draws = ParseCount(value, "max-draws");
  } else if (name == "f0" && !options.IsNeural()) {
    if (value != "fast" && value != "robust") {
      throw Error(fmt::format("f0 '{}': fast or robust is allowed", value));
    }
    options.f0_method = value == "robust" ? F0Method::kRobust : F0Method::kFast;
  } else {
    throw Error(
        fmt::format("option '{}': alpha, pitch, target-gender, pool and f0 are allowed "
                    "(NAME=VALUE); for neural "
                    "and adain pitch, target-gender, target, eps (neural), target-pool, content, "
                    "bend, neural, streaming and max-draws (neural)",
                    name));
  }
}

}  // namespace

VoiceOptions ParseMethodText(const std::string& text) {
  VoiceOptions options;
  const std::size_t colon = text.find(':');
  options.method = text.substr(0, colon);
  try {
    std::set<std::string> seen;
    std::size_t at = colon;
    while (at != std::string::npos) {
      const std::size_t comma = text.find(',', at + 1);
      const std::string one =
          text.substr(at + 1, comma == std::string::npos ? std::string::npos : comma - at - 1);
      const std::size_t equals = one.find('=');
      const std::string name = one.substr(0, equals);
      if (!seen.insert(name).second) throw Error(fmt::format("option '{}' is given twice", name));
      SetOption(options, name, equals == std::string::npos ? "" : one.substr(equals + 1));
      at = comma;
    }
    options.Validate();
  } catch (const Error& error) {
    throw Error(fmt::format("method '{}': {}", text, error.what()));
  }
  return options;
}

}  // namespace sotto

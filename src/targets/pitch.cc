#include "targets/pitch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace sotto {

PitchMode ParsePitchMode(std::string_view name) {
  for (const PitchMode mode : {PitchMode::kKeep, PitchMode::kTarget, PitchMode::kRandom}) {
    if (name == Name(mode)) return mode;
  }
  throw Error(fmt::format("pitch '{}': keep, target or random is allowed", name));
}

const char* Name(PitchMode mode) {
  constexpr std::array kNames = {"keep", "target", "random"};
  return kNames[static_cast<std::size_t>(mode)];
}

double PitchMap::Map(double f0_hz) const {
  return std::clamp(std::exp(offset + slope * std::log(f0_hz)), 50.0, 800.0);
}

void PitchMap::Apply(std::span<double> f0_hz) const {
  if (IsIdentity()) return;
  for (double& f0 : f0_hz) {
    if (f0 > 0.0) f0 = Map(f0);
  }
}

PitchMap PitchToTarget(const PitchLevel& source, const PitchLevel& target) {
  const double slope =
      std::clamp(target.log_f0_deviation / std::max(1e-6, source.log_f0_deviation), 0.5, 2.0);
  return {target.log_f0_mean - slope * source.log_f0_mean, slope};
}

PitchMap DrawPitch(const TargetDraws& draws, const std::string& speaker,
                   const std::string& utterance) {
  const double semitones =
      draws.Uniform("pitch", -kRandomPitchSemitones, kRandomPitchSemitones, speaker, utterance);
  return {semitones / 12.0 * std::numbers::ln2, 1.0};
}

std::size_t DrawTarget(const TargetDraws& draws, const VoicePool& pool, TargetGender rule,
                       Gender source, const std::string& speaker, const std::string& utterance) {
  if (rule != TargetGender::kRandom && source == Gender::kUnknown) {
    throw Error(
        fmt::format("target gender '{}': the gender of '{}' is not known", Name(rule), speaker));
  }
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < pool.voices.size(); ++i) {
    const Gender gender = pool.voices[i].gender;
    const bool fits =
        rule == TargetGender::kRandom ||
        (gender != Gender::kUnknown && (gender == source) == (rule == TargetGender::kSame));
    if (fits) candidates.push_back(i);
  }
  if (candidates.empty()) {
    throw Error(fmt::format("target gender '{}': the pool has no such voice", Name(rule)));
  }
  const double place =
      draws.Uniform("target", 0.0, static_cast<double>(candidates.size()), speaker, utterance);
  return candidates[std::min(static_cast<std::size_t>(place), candidates.size() - 1)];
}

}  // namespace sotto

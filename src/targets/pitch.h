// The pitch of the protected voice.
//
// target: log F0 gets the mean and deviation of the target's, ln f' = μt + (σt/σs)(ln f − μs), the
// usual conversion (Sündermann & Ney 2003). random: F0 is scaled by one factor, drawn evenly in
// semitones. Both leave unvoiced frames alone.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "targets/pool.h"
#include "targets/targets.h"

namespace sotto {

enum class PitchMode { kKeep, kTarget, kRandom };
// "keep", "target", "random"; Error for anything else.
PitchMode ParsePitchMode(std::string_view name);
const char* Name(PitchMode mode);

// ln f' = offset + slope·ln f, kept between 50 and 800 Hz.
struct PitchMap {
  double offset = 0.0;
  double slope = 1.0;

  bool IsIdentity() const { return offset == 0.0 && slope == 1.0; }
  double Map(double f0_hz) const;
  void Apply(std::span<double> f0_hz) const;  // 0 (unvoiced) stays 0
};

// The slope is kept between ½ and 2: a source without melody would otherwise have its tracking
// errors made into one.
PitchMap PitchToTarget(const PitchLevel& source, const PitchLevel& target);

// Up to four semitones up or down (×0.79 … ×1.26).
inline constexpr double kRandomPitchSemitones = 4.0;
PitchMap DrawPitch(const TargetDraws& draws, const std::string& speaker,
                   const std::string& utterance);

// The index of the target for this speaker and utterance among the voices the gender rule leaves.
// Only the rule looks at the source: a target that depended on more would give the source away.
// Error when the rule leaves none.
std::size_t DrawTarget(const TargetDraws& draws, const VoicePool& pool, TargetGender rule,
                       Gender source, const std::string& speaker, const std::string& utterance);

// The gender whose voices in a pool have the mean log F0 nearer to this one.
template <typename Voices>
Gender GuessGender(double log_f0_mean, const Voices& voices) {
  Gender nearest = Gender::kUnknown;
  double least = std::numeric_limits<double>::infinity();
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    double sum = 0.0;
    int count = 0;
    for (const auto& voice : voices) {
      if (voice.gender != gender) continue;
      sum += voice.log_f0_mean;
      ++count;
    }
    const double distance = std::abs(sum / count - log_f0_mean);
    if (count > 0 && distance < least) {
      least = distance;
      nearest = gender;
    }
  }
  return nearest;
}

}  // namespace sotto

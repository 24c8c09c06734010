#include "targets/vtln.h"

#include <algorithm>
#include <limits>

#include "dsp/warp.h"
#include "targets/envelope_classes.h"

namespace sotto {

double WarpFactor(std::size_t step) { return 0.02 * (static_cast<double>(step) - 6.0); }

ClassTargets FitClasses(const VoiceModel& source, const VoiceModel& target) {
  const PowerSpectrumWarp warp(kEnvelopePoints, kWarpTopHz);
  std::vector<float> warped(kEnvelopePoints);
  ClassTargets targets;
  for (std::size_t k = 0; k < kVoiceClasses; ++k) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t step = 0; step < kWarpSteps; ++step) {
      warp.Apply(WarpFactor(step), source.Centroid(k), warped);
      RemoveMean(warped);
      for (std::size_t j = 0; j < kVoiceClasses; ++j) {
        const double d = SquaredDistance(warped, target.Centroid(j));
        if (d >= least) continue;
        least = d;
        targets[k] = {static_cast<std::uint8_t>(j), static_cast<std::uint8_t>(step)};
      }
    }
  }
  return targets;
}

VoiceProfile FitProfile(std::vector<VoiceModel> voices, const VoicePool& pool) {
  VoiceProfile profile;
  profile.voices = std::move(voices);
  profile.pool_checksum = pool.checksum;
  profile.pool_size = pool.voices.size();
  for (const VoiceModel& voice : profile.voices) {
    for (const VoiceModel& target : pool.voices) {
      profile.targets.push_back(FitClasses(voice, target));
    }
  }
  return profile;
}

std::vector<double> SmoothFactors(std::span<const double> factors, std::size_t reach) {
  std::vector<double> smooth(factors.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t begin = i > reach ? i - reach : 0;
    const std::size_t end = std::min(factors.size(), i + reach + 1);
    double sum = 0.0;
    for (std::size_t j = begin; j < end; ++j) sum += factors[j];
    smooth[i] = sum / static_cast<double>(end - begin);
  }
  return smooth;
}

}  // namespace sotto

#include "utility/prosody.h"

#include <algorithm>
#include <cmath>

#include "dsp/f0.h"
#include "dsp/level.h"

namespace sotto {
namespace {

constexpr double kFrameSeconds = 0.010;
constexpr std::size_t kHop = 160;
constexpr std::size_t kWindow = 400;
constexpr double kRangeDb = 60.0;
constexpr std::size_t kLeastVoiced = 20;  // frames
constexpr int kMaxLag = 5;                // frames

std::vector<double> EnergyContour(std::span<const float> x, std::size_t frames) {
  std::vector<double> energy(frames, 0.0);
  for (std::size_t t = 0; t < frames; ++t) {
    const std::size_t centre = t * kHop;  // as the F0 track: frame t is at t·10 ms
    const std::size_t begin = centre > kWindow / 2 ? centre - kWindow / 2 : 0;
    const std::size_t end = std::min(centre + kWindow / 2, x.size());
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(x[i]) * x[i];
    energy[t] = 10.0 * std::log10(sum / kWindow + 1e-12);
  }
  if (energy.empty()) return energy;
  const double floor = *std::max_element(energy.begin(), energy.end()) - kRangeDb;
  for (double& value : energy) value = std::max(value, floor);
  return energy;
}

// The two F0 tracks where both are voiced, the released one `lag` frames later.
double PitchCorrelation(const std::vector<double>& a, const std::vector<double>& b, int lag) {
  std::vector<double> x, y;
  for (std::size_t t = 0; t < a.size(); ++t) {
    const std::ptrdiff_t shifted = static_cast<std::ptrdiff_t>(t) + lag;
    if (shifted < 0 || shifted >= static_cast<std::ptrdiff_t>(b.size())) continue;
    const double other = b[static_cast<std::size_t>(shifted)];
    if (a[t] <= 0.0 || other <= 0.0) continue;
    x.push_back(a[t]);
    y.push_back(other);
  }
  return x.size() < kLeastVoiced ? ProsodyComparison::kNone : PearsonCorrelation(x, y);
}

}  // namespace

double PearsonCorrelation(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = std::min(a.size(), b.size());
  if (n < 2) return ProsodyComparison::kNone;
  double mean_a = 0.0, mean_b = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    mean_a += a[i];
    mean_b += b[i];
  }
  mean_a /= static_cast<double>(n);
  mean_b /= static_cast<double>(n);
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa <= 0.0 || bb <= 0.0) return ProsodyComparison::kNone;
  return ab / std::sqrt(aa * bb);
}

double SyllablesPerSecond(std::span<const double> energy_db, std::span<const double> f0) {
  if (energy_db.empty()) return 0.0;
  constexpr double kUnderLoudestDb = 25.0, kDipDb = 2.0;
  // 50 ms of smoothing: periods of a low voice are no syllables.
  constexpr std::size_t kSmooth = 2;
  std::vector<double> energy(energy_db.size());
  for (std::size_t t = 0; t < energy.size(); ++t) {
    const std::size_t begin = t > kSmooth ? t - kSmooth : 0;
    const std::size_t end = std::min(t + kSmooth + 1, energy.size());
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += energy_db[i];
    energy[t] = sum / static_cast<double>(end - begin);
  }
  std::vector<double> sorted = energy;
  const auto quantile =
      sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) * 99 / 100);
  std::nth_element(sorted.begin(), quantile, sorted.end());
  const double threshold = *quantile - kUnderLoudestDb;
  std::size_t syllables = 0;
  bool rising = true;  // a peak is being looked for, after a dip
  double peak = energy[0], dip = energy[0];
  std::size_t at = 0;  // of the peak
  const auto count = [&] {
    if (peak >= threshold && at < f0.size() && f0[at] > 0.0) ++syllables;
  };
  for (std::size_t t = 0; t < energy.size(); ++t) {
    if (rising) {
      if (energy[t] > peak) {
        peak = energy[t];
        at = t;
      } else if (energy[t] <= peak - kDipDb) {
        count();
        rising = false;
        dip = energy[t];
      }
    } else if (energy[t] < dip) {
      dip = energy[t];
    } else if (energy[t] >= dip + kDipDb) {
      rising = true;
      peak = energy[t];
      at = t;
    }
  }
  if (rising && peak - dip >= kDipDb) count();
  return static_cast<double>(syllables) / (static_cast<double>(energy.size()) * kFrameSeconds);
}

Prosody MeasureProsody(std::span<const float> x, const SpeechDetector* detector) {
  Prosody prosody;
  F0Options options;
  options.frame_period_s = kFrameSeconds;
  prosody.f0 = EstimateF0(x, Prosody::kRateHz, options);
  prosody.energy_db = EnergyContour(x, prosody.f0.size());
  prosody.seconds = static_cast<double>(x.size()) / Prosody::kRateHz;
  prosody.level_db = ActiveSpeechLevel(x, Prosody::kRateHz).active_db;
  prosody.speaking_rate = SyllablesPerSecond(prosody.energy_db, prosody.f0);
  if (detector != nullptr) prosody.pause_ratio = PauseRatio(detector->Probabilities(x));
  return prosody;
}

ProsodyComparison CompareProsody(const Prosody& original, const Prosody& released) {
  ProsodyComparison out;
  out.pitch_correlation = PitchCorrelation(original.f0, released.f0, 0);
  for (int lag = -kMaxLag; lag <= kMaxLag; ++lag) {
    out.pitch_correlation_lagged =
        std::fmax(out.pitch_correlation_lagged, PitchCorrelation(original.f0, released.f0, lag));
  }
  const std::size_t frames = std::min(original.f0.size(), released.f0.size());
  std::size_t same = 0;
  for (std::size_t t = 0; t < frames; ++t) {
    if ((original.f0[t] > 0.0) == (released.f0[t] > 0.0)) ++same;
  }
  if (frames > 0) {
    out.voicing_agreement = static_cast<double>(same) / static_cast<double>(frames);
  }
  out.energy_correlation = PearsonCorrelation(original.energy_db, released.energy_db);
  if (std::isfinite(original.level_db) && std::isfinite(released.level_db)) {
    out.level_change_db = released.level_db - original.level_db;
  }
  if (original.seconds > 0.0) out.duration_ratio = released.seconds / original.seconds;
  return out;
}

}  // namespace sotto

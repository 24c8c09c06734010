#include "dsp/aperiodicity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "dsp/vector_math.h"

namespace sotto {
namespace {

constexpr double kBandHz = 3000.0;
constexpr double kHighestBandHz = 15000.0;
constexpr double kLowestDb = -60.0;
// Voiced speech has at least this share of its energy (100 Hz to 7.9 kHz) below 4 kHz.
constexpr double kVoicedShare = 0.85;
constexpr double kTiny = 1e-20;

}  // namespace

AperiodicityAnalyser::AperiodicityAnalyser(int rate_hz, std::size_t fft_size, double f0_floor_hz)
    : rate_hz_(rate_hz),
      out_bins_(fft_size / 2 + 1),
      // Four periods of the lowest voice.
      fft_(std::bit_ceil(static_cast<std::size_t>(4.0 * rate_hz / f0_floor_hz) + 2)),
      blackman_(fft_.Size()),
      hann_(fft_.Size()),
      smoother_(fft_.Bins()),
      bands_(static_cast<std::size_t>(std::min(kHighestBandHz, rate_hz / 2.0 - kBandHz) / kBandHz)),
      samples_(fft_.Size()) {
  const double bins_per_hz = static_cast<double>(fft_.Size()) / rate_hz;
  band_half_ = static_cast<std::size_t>(kBandHz * bins_per_hz);
  const std::size_t length = 2 * band_half_ + 1;
  // The main lobe of Nuttall's window is 8/length wide; it appears at ±F0, of which one is seen.
  main_lobe_ = static_cast<std::size_t>(
      std::lround(8.0 * static_cast<double>(fft_.Size()) / static_cast<double>(length)));
  for (std::size_t n = 0; n < length; ++n) {
    // Nuttall 1981, four terms, continuous first derivative.
    const double u =
        2.0 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length - 1);
    nuttall_.push_back(static_cast<float>(0.355768 - 0.487396 * std::cos(u) +
                                          0.144232 * std::cos(2.0 * u) -
                                          0.012604 * std::cos(3.0 * u)));
  }
  for (auto* v : {&re_, &im_, &re2_, &im2_, &centroid_, &power_}) v->resize(fft_.Bins());
  coarse_db_.assign(bands_ + 2, 0.0);
  coarse_db_[0] = kLowestDb;
}

void AperiodicityAnalyser::AddCentroid(std::span<const float> x, std::ptrdiff_t centre,
                                       double f0_hz) {
  blackman_.Cut(x, centre, 2.0 * rate_hz_ / f0_hz, WindowShape::kBlackman, samples_);
  const std::size_t length = blackman_.Length();
  const std::span<const float> cut(samples_.data(), length);
  const double energy = static_cast<double>(Dot(cut, cut)) + kTiny;
  fft_.Forward(samples_, re_, im_);
  for (std::size_t n = 0; n < length; ++n) samples_[n] *= static_cast<float>(n + 1);
  fft_.Forward(samples_, re2_, im2_);
  // Re(Y*·Y_t), with Y_t the spectrum of t·y(t): power times group delay.
  const auto scale = static_cast<float>(1.0 / energy);
  for (std::size_t k = 0; k < centroid_.size(); ++k) {
    centroid_[k] += scale * (re_[k] * re2_[k] + im_[k] * im2_[k]);
  }
}

double AperiodicityAnalyser::BandDb(std::size_t band) {
  const auto middle = static_cast<std::size_t>(std::lround(
      static_cast<double>(band) * kBandHz * static_cast<double>(fft_.Size()) / rate_hz_));
  std::fill(samples_.begin(), samples_.end(), 0.0F);
  for (std::size_t n = 0; n < nuttall_.size(); ++n) {
    samples_[n] = nuttall_[n] * centroid_[middle - band_half_ + n];
  }
  fft_.Forward(samples_, re_, im_);
  for (std::size_t k = 0; k < re_.size(); ++k) re_[k] = re_[k] * re_[k] + im_[k] * im_[k];
  // The strongest bins, as many as the main lobe has, are the periodic part.
  const auto split =
      re_.end() - static_cast<std::ptrdiff_t>(std::min(main_lobe_ + 1, re_.size() - 1));
  std::nth_element(re_.begin(), split, re_.end());
  double rest = 0.0, lobe = 0.0;
  for (auto i = re_.begin(); i != split; ++i) rest += *i;
  for (auto i = split; i != re_.end(); ++i) lobe += *i;
  return 10.0 * std::log10((rest + kTiny) / (rest + lobe + kTiny));
}

void AperiodicityAnalyser::Analyse(std::span<const float> x, std::ptrdiff_t centre, double f0_hz,
                                   std::span<float> aperiodicity) {
  const double bin_hz = rate_hz_ / static_cast<double>(fft_.Size());
  std::fill(aperiodicity.begin(), aperiodicity.end(), 1.0F);
  if (f0_hz <= 0.0 || 4.0 * rate_hz_ / f0_hz + 1.0 > static_cast<double>(fft_.Size())) return;

  const double f0_bins = f0_hz / bin_hz;
  hann_.Cut(x, centre, 2.0 * rate_hz_ / f0_hz, WindowShape::kHann, samples_);
  fft_.Forward(samples_, re_, im_);
  double below = kTiny, above = 0.0;
  for (std::size_t k = 0; k < power_.size(); ++k) {
    power_[k] = re_[k] * re_[k] + im_[k] * im_[k];
    const double hz = static_cast<double>(k) * bin_hz;
    if (hz > 100.0 && hz <= 4000.0) below += power_[k];
    if (hz > 4000.0 && hz <= 7900.0) above += power_[k];
  }
  if (below / (below + above) <= kVoicedShare) return;
  const auto window_scale = static_cast<float>(1.0 / hann_.WindowEnergy());
  for (float& p : power_) p *= window_scale;
  FillBelowF0(power_, f0_bins, scratch_);
  smoother_.Smooth(power_, f0_bins);

  std::fill(centroid_.begin(), centroid_.end(), 0.0F);
  const double quarter = 0.25 * rate_hz_ / f0_hz;
  const auto shift = static_cast<std::ptrdiff_t>(std::lround(quarter));
  AddCentroid(x, centre - shift, f0_hz);
  AddCentroid(x, centre + shift, f0_hz);
  FillBelowF0(centroid_, f0_bins, scratch_);
  // The static group delay, and its variation around the mean over one harmonic.
  for (std::size_t k = 0; k < centroid_.size(); ++k) {
    centroid_[k] /= power_[k] + static_cast<float>(kTiny);
  }
  smoother_.Smooth(centroid_, f0_bins / 2.0);
  std::copy(centroid_.begin(), centroid_.end(), power_.begin());
  smoother_.Smooth(power_, f0_bins);
  for (std::size_t k = 0; k < centroid_.size(); ++k) centroid_[k] -= power_[k];

  for (std::size_t band = 1; band <= bands_; ++band) {
    // A higher voice has fewer periods of the sinusoid in a band, which looks too periodic.
    coarse_db_[band] = std::clamp(BandDb(band) + (f0_hz - 100.0) / 50.0, kLowestDb, 0.0);
  }
  const double out_bin_hz = rate_hz_ / (2.0 * static_cast<double>(out_bins_ - 1));
  const double nyquist = rate_hz_ / 2.0;
  for (std::size_t k = 0; k < out_bins_; ++k) {
    const double hz = static_cast<double>(k) * out_bin_hz;
    const std::size_t band = std::min(static_cast<std::size_t>(hz / kBandHz), bands_);
    const double from = static_cast<double>(band) * kBandHz;
    const double to = band == bands_ ? nyquist : from + kBandHz;
    const double db =
        coarse_db_[band] + (coarse_db_[band + 1] - coarse_db_[band]) * (hz - from) / (to - from);
    aperiodicity[k] = static_cast<float>(db * std::numbers::ln10 / 20.0);
  }
  ExpInto(aperiodicity, aperiodicity);
}

}  // namespace sotto

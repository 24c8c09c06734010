#include "speaker/embedding_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "audio/utterances.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr double kMinSeconds = 0.1;
constexpr auto kWindow = static_cast<std::size_t>(kEmbeddingWindowS * kEncoderRateHz);
constexpr std::size_t kPiece = kEncoderRateHz / 100;
constexpr std::size_t kBlock = kEncoderRateHz;  // what is taken at a time, so that little is held

// The loudest one piece in a hundred is what "loud" means here: a slammed door counts for nothing.
constexpr double kLoudShare = 0.01;
constexpr std::size_t kActiveDb = 30;

std::size_t Level(std::span<const float> x) {
  double energy = 0.0;
  for (const float v : x) energy += static_cast<double>(v) * v;
  const double db = 10.0 * std::log10(std::max(energy / static_cast<double>(x.size()), 1e-13));
  return static_cast<std::size_t>(std::clamp(std::lround(db) + 127, 0L, 127L));
}

// Where the loudest share begins.
template <typename Levels>
std::size_t LoudLevel(const Levels& levels) {
  const auto all = static_cast<double>(std::accumulate(levels.begin(), levels.end(), 0ULL));
  double above = 0.0;
  std::size_t level = levels.size();
  while (level > 1 && above < kLoudShare * all) above += levels[--level];
  return level;
}

}  // namespace

EmbeddingStream::EmbeddingStream(int fs, EmbedWindow embed)
    : fs_(fs), embed_(std::move(embed)), resampler_(std::max(fs, 1), kEncoderRateHz) {
  if (fs < 1) throw Error(fmt::format("encoder: a sampling rate of {} Hz", fs));
}

void EmbeddingStream::Push(std::span<const float> x) {
  taken_ += x.size();
  while (!x.empty()) {
    const std::size_t count = std::min(x.size(), kBlock);
    resampler_.Push(x.first(count), held_);
    x = x.subspan(count);
    while (held_.size() >= 2 * kWindow) Embed(kWindow);
  }
}

std::vector<float> EmbeddingStream::Finish() {
  if (static_cast<double>(taken_) < kMinSeconds * fs_) {
    throw Error(fmt::format("encoder: {:.3f} s of sound, at least {} s are needed",
                            static_cast<double>(taken_) / fs_, kMinSeconds));
  }
  resampler_.Finish(held_);
  if (held_.size() > kWindow) Embed(held_.size() / 2);
  Embed(held_.size());
  if (heard_.empty()) std::rethrow_exception(refused_);
  return heard_.size() == 1 ? std::move(heard_.front().embedding) : Pool();
}

void EmbeddingStream::Embed(std::size_t samples) {
  const std::span<const float> x = std::span<const float>(held_).first(samples);
  Window window;
  for (std::size_t at = 0; at < x.size(); at += kPiece) {
    ++window.levels[Level(x.subspan(at, std::min(kPiece, x.size() - at)))];
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l] += window.levels[l];
  try {
    window.embedding = embed_(x);
    heard_.push_back(std::move(window));
  } catch (const Error&) {
    if (!refused_) refused_ = std::current_exception();
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(samples));
}

std::vector<float> EmbeddingStream::Pool() const {
  const std::size_t loud = LoudLevel(levels_), least = loud - std::min(loud, kActiveDb);
  std::vector<double> sum(heard_.front().embedding.size());
  double lengths = 0.0, weights = 0.0;
  for (const Window& window : heard_) {
    double energy = 0.0;
    for (const float v : window.embedding) energy += static_cast<double>(v) * v;
    const double length = std::sqrt(energy);
    if (!(length > 0.0)) continue;
    const auto weight = static_cast<double>(std::accumulate(
        window.levels.begin() + static_cast<std::ptrdiff_t>(least), window.levels.end(), 0ULL));
    weights += weight;
    lengths += weight * length;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * window.embedding[i] / length;
  }
  double energy = 0.0;
  for (const double v : sum) energy += v * v;
  if (!(energy > 0.0)) throw Error("encoder: the windows of this utterance have no mean direction");
  const double scale = lengths / weights / std::sqrt(energy);
  std::vector<float> pooled(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) pooled[i] = static_cast<float>(scale * sum[i]);
  return pooled;
}

}  // namespace sotto

#include "audio/cutter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kEndToleranceS = 0.5;
constexpr std::size_t kBlockFrames = 16384;
constexpr std::size_t kTogether = 8;  // utterances that are heard at a time

std::int64_t Frame(double seconds, int rate_hz) {
  constexpr double kBeyondAll = 1e18;  // what no recording holds
  return std::llround(std::min(seconds * rate_hz, kBeyondAll));
}

}  // namespace

Cut CutOf(const std::string& utterance, double begin_s, double end_s, int rate_hz) {
  const Cut cut{Frame(begin_s, rate_hz), end_s < 0.0 ? Cut::kToTheEnd : Frame(end_s, rate_hz)};
  if (cut.begin < 0 || cut.end <= cut.begin) {
    throw Error(
        fmt::format("utterance '{}' is empty: it runs from {} to {} s", utterance, begin_s, end_s));
  }
  return cut;
}

Cut CutInside(const Cut& cut, const std::string& utterance, std::int64_t frames, int rate_hz) {
  const bool open = cut.end == Cut::kToTheEnd;
  if (cut.begin >= frames || (!open && cut.end > frames + Frame(kEndToleranceS, rate_hz))) {
    const auto seconds = [&](std::int64_t frame) { return static_cast<double>(frame) / rate_hz; };
    throw Error(
        fmt::format("utterance '{}' ({:.3f} s to {}) lies outside the recording of {:.3f} s",
                    utterance, seconds(cut.begin),
                    open ? "the end" : fmt::format("{:.3f} s", seconds(cut.end)), seconds(frames)));
  }
  return {cut.begin, std::min(cut.end, frames)};
}

Cutter::Cutter(SoundReader& reader, Channels channels)
    : reader_(reader),
      width_(channels == Channels::kFirst ? 1
                                          : static_cast<std::size_t>(reader.Format().channels)) {}

bool Cutter::Add(const std::string& utterance, const Cut& cut, Make make) {
  std::erase_if(ends_, [&](std::int64_t end) { return end <= cut.begin; });
  if (ends_.size() == kTogether) return false;
  ends_.push_back(cut.end);
  pieces_.push_back({utterance, cut, std::move(make), nullptr});
  return true;
}

std::int64_t Cutter::Run(const std::function<bool()>& enough) {
  const auto channels = static_cast<std::size_t>(reader_.Format().channels);
  std::vector<float> block(kBlockFrames * channels);
  while (const std::size_t frames = reader_.Read(block)) {
    if (width_ < channels) {
      for (std::size_t i = 1; i < frames; ++i) block[i] = block[i * channels];
    }
    Hand(std::span<const float>(block).first(frames * width_));
    if (enough && enough()) return at_;
  }
  for (std::size_t k = next_; k < pieces_.size(); ++k) {
    Piece& piece = pieces_[k];
    if (piece.done) continue;
    CutInside(piece.cut, piece.utterance, at_, reader_.Format().rate_hz);
    piece.sink->Finish();
    piece.sink.reset();
  }
  return at_;
}

void Cutter::Hand(std::span<const float> interleaved) {
  const std::int64_t until = at_ + static_cast<std::int64_t>(interleaved.size() / width_);
  for (std::size_t k = next_; k < pieces_.size() && pieces_[k].cut.begin < until; ++k) {
    Piece& piece = pieces_[k];
    if (piece.done) continue;
    if (!piece.sink) piece.sink = piece.make();
    const auto from = static_cast<std::size_t>(std::max(piece.cut.begin, at_) - at_);
    const auto to = static_cast<std::size_t>(std::min(piece.cut.end, until) - at_);
    piece.sink->Push(interleaved.subspan(from * width_, (to - from) * width_));
    if (piece.cut.end > until) continue;
    piece.sink->Finish();
    piece.sink.reset();
    piece.done = true;
  }
  while (next_ < pieces_.size() && pieces_[next_].done) ++next_;
  at_ = until;
}

}  // namespace sotto

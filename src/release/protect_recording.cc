#include "release/protect_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
constexpr double kMaxOvershootS = 0.5;

struct Stretch {
  std::int64_t begin = 0, end = kToTheEnd;  // frames
  std::string utterance, speaker;
};

std::vector<Stretch> ToStretches(std::span<const Span> spans, int rate_hz, bool merge_overlaps) {
  std::vector<Stretch> stretches;
  for (const Span& span : spans) {
    Stretch next{std::llround(span.begin_s * rate_hz),
                 span.end_s < 0.0 ? kToTheEnd : std::llround(span.end_s * rate_hz), span.utterance,
                 span.speaker};
    if (!stretches.empty() && next.begin < stretches.back().end) {
      if (!merge_overlaps || next.speaker != stretches.back().speaker) {
        throw Error(
            fmt::format("utterances '{}' and '{}' overlap, so they cannot have different "
                        "targets (strategy perm or const, or cut them)",
                        stretches.back().utterance, next.utterance));
      }
      stretches.back().end = std::max(stretches.back().end, next.end);
      continue;
    }
    if (next.end > next.begin) stretches.push_back(std::move(next));
  }
  return stretches;
}

// The transformers of all channels of one stretch.
class Channels {
 public:
  Channels(const SoundFormat& format, double peak_limit, const Stretch& stretch,
           const VoiceMethod& method) {
    for (int c = 0; c < format.channels; ++c) {
      transformers_.push_back(method.MakeTransformer(format.rate_hz, peak_limit, stretch.speaker,
                                                     stretch.utterance,
                                                     static_cast<std::size_t>(c)));
    }
    outputs_.resize(transformers_.size());
  }

  void Push(std::span<const float> interleaved, SoundWriter& writer) {
    const std::size_t n = transformers_.size();
    mono_.resize(interleaved.size() / n);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < mono_.size(); ++i) mono_[i] = interleaved[i * n + c];
      transformers_[c]->Push(mono_, outputs_[c]);
    }
    Deliver(writer);
  }

  void Finish(SoundWriter& writer) {
    for (std::size_t c = 0; c < transformers_.size(); ++c) transformers_[c]->Finish(outputs_[c]);
    Deliver(writer);
  }

 private:
  void Deliver(SoundWriter& writer) {
    const std::size_t n = outputs_.size();
    std::size_t ready = outputs_[0].size();
    for (const auto& output : outputs_) ready = std::min(ready, output.size());
    interleaved_.resize(ready * n);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < ready; ++i) interleaved_[i * n + c] = outputs_[c][i];
      outputs_[c].erase(outputs_[c].begin(),
                        outputs_[c].begin() + static_cast<std::ptrdiff_t>(ready));
    }
    writer.Write(interleaved_);
  }

  std::vector<std::unique_ptr<StreamTransformer>> transformers_;
  std::vector<std::vector<float>> outputs_;
  std::vector<float> mono_, interleaved_;
};

}  // namespace

std::int64_t ProtectRecording(SoundReader& reader, SoundWriter& writer, double peak_limit,
                              std::span<const Span> spans, const VoiceMethod& method,
                              bool merge_overlaps) {
  const SoundFormat& format = reader.Format();
  const auto channels = static_cast<std::size_t>(format.channels);
  const std::vector<Stretch> stretches = ToStretches(spans, format.rate_hz, merge_overlaps);
  constexpr std::size_t kBlockFrames = 16384;
  std::vector<float> block(kBlockFrames * channels);
  const std::vector<float> silence(kBlockFrames * channels, 0.0F);
  auto stretch = stretches.begin();
  std::unique_ptr<Channels> current;  // of *stretch, once it has begun
  std::int64_t position = 0;
  while (const std::size_t frames = reader.Read(block)) {
    std::span<const float> left(block.data(), frames * channels);
    while (!left.empty()) {
      const auto available = static_cast<std::int64_t>(left.size() / channels);
      const bool inside = stretch != stretches.end() && position >= stretch->begin;
      const std::int64_t border = stretch == stretches.end() ? kToTheEnd
                                  : inside                   ? stretch->end
                                                             : stretch->begin;
      const std::int64_t count = std::min(available, border - position);
      const auto part = left.first(static_cast<std::size_t>(count) * channels);
      if (inside) {
        if (!current) current = std::make_unique<Channels>(format, peak_limit, *stretch, method);
        current->Push(part, writer);
      } else {
        writer.Write(std::span(silence).first(part.size()));
      }
      position += count;
      left = left.subspan(part.size());
      if (inside && position == stretch->end) {
        current->Finish(writer);
        current.reset();
        ++stretch;
      }
    }
  }
  if (current) {
    current->Finish(writer);
    const double overshoot_s = static_cast<double>(stretch->end - position) / format.rate_hz;
    if (stretch->end != kToTheEnd && overshoot_s > kMaxOvershootS) {
      throw Error(fmt::format("utterance '{}' ends {:.2f} s after its recording",
                              stretch->utterance, overshoot_s));
    }
    ++stretch;
  }
  if (stretch != stretches.end()) {
    throw Error(
        fmt::format("utterance '{}' begins after the end of its recording", stretch->utterance));
  }
  return position;
}

}  // namespace sotto

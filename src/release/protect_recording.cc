#include "release/protect_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "audio/cutter.h"
#include "base/error.h"

namespace sotto {
namespace {

struct Stretch {
  Cut cut;
  std::string utterance, speaker;
};

std::vector<Stretch> ToStretches(std::span<const Span> spans, int rate_hz, bool merge_overlaps) {
  std::vector<Stretch> stretches;
  for (const Span& span : spans) {
    const Cut cut = CutOf(span.utterance, span.begin_s, span.end_s, rate_hz);
    if (stretches.empty() || cut.begin >= stretches.back().cut.end) {
      stretches.push_back({cut, span.utterance, span.speaker});
      continue;
    }
    Stretch& last = stretches.back();
    if (!merge_overlaps || span.speaker != last.speaker) {
      throw Error(
          fmt::format("utterances '{}' and '{}' overlap, so they cannot have different "
                      "targets (strategy perm or const, or cut them)",
                      last.utterance, span.utterance));
    }
    last.cut.end = std::max(last.cut.end, cut.end);
  }
  return stretches;
}

// The transformers of all channels of one stretch.
class Transformed : public UtteranceSink {
 public:
  Transformed(const SoundFormat& format, double peak_limit, const Stretch& stretch,
              const VoiceMethod& method, SoundWriter& writer)
      : writer_(writer) {
    for (int c = 0; c < format.channels; ++c) {
      transformers_.push_back(method.MakeTransformer(format.rate_hz, peak_limit, stretch.speaker,
                                                     stretch.utterance,
                                                     static_cast<std::size_t>(c)));
    }
    outputs_.resize(transformers_.size());
  }

  void Push(std::span<const float> interleaved) override {
    const std::size_t n = transformers_.size();
    mono_.resize(interleaved.size() / n);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < mono_.size(); ++i) mono_[i] = interleaved[i * n + c];
      transformers_[c]->Push(mono_, outputs_[c]);
    }
    Deliver();
  }

  void Finish() override {
    for (std::size_t c = 0; c < transformers_.size(); ++c) transformers_[c]->Finish(outputs_[c]);
    Deliver();
  }

 private:
  void Deliver() {
    const std::size_t n = outputs_.size();
    std::size_t ready = outputs_[0].size();
    for (const auto& output : outputs_) ready = std::min(ready, output.size());
    interleaved_.resize(ready * n);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < ready; ++i) interleaved_[i * n + c] = outputs_[c][i];
      outputs_[c].erase(outputs_[c].begin(),
                        outputs_[c].begin() + static_cast<std::ptrdiff_t>(ready));
    }
    writer_.Write(interleaved_);
  }

  SoundWriter& writer_;
  std::vector<std::unique_ptr<StreamTransformer>> transformers_;
  std::vector<std::vector<float>> outputs_;
  std::vector<float> mono_, interleaved_;
};

void WriteSilence(SoundWriter& writer, std::int64_t frames, int channels) {
  constexpr std::int64_t kBlockFrames = 16384;
  const std::vector<float> silence(static_cast<std::size_t>(kBlockFrames * channels), 0.0F);
  for (; frames > 0; frames -= kBlockFrames) {
    const std::int64_t some = std::min(frames, kBlockFrames);
    writer.Write(std::span(silence).first(static_cast<std::size_t>(some * channels)));
  }
}

}  // namespace

std::int64_t ProtectRecording(SoundReader& reader, SoundWriter& writer, double peak_limit,
                              std::span<const Span> spans, const VoiceMethod& method,
                              bool merge_overlaps) {
  const SoundFormat& format = reader.Format();
  const std::vector<Stretch> stretches = ToStretches(spans, format.rate_hz, merge_overlaps);
  Cutter cutter(reader, Cutter::Channels::kAll);
  std::int64_t written = 0;  // frames
  for (const Stretch& stretch : stretches) {
    cutter.Add(stretch.utterance, stretch.cut, [&] {
      WriteSilence(writer, stretch.cut.begin - written, format.channels);
      written = stretch.cut.end;
      return std::make_unique<Transformed>(format, peak_limit, stretch, method, writer);
    });
  }
  const std::int64_t frames = cutter.Run();
  WriteSilence(writer, frames - written, format.channels);
  return frames;
}

}  // namespace sotto

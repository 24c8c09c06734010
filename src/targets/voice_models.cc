#include "targets/voice_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "audio/resampler.h"
#include "audio/utterances.h"
#include "base/error.h"
#include "base/parallel.h"
#include "targets/envelope_classes.h"

namespace sotto {
namespace {

constexpr std::size_t kMinActiveFrames = 100, kMinVoicedFrames = 20;
constexpr double kMinDeviation = 0.01;  // ln Hz; a monotone voice has about ten times as much

struct Stretch {
  const Recording* recording;
  const Span* span;
};

// The first channel of a stretch, at most `max_seconds` of it, at a rate the vocoder takes.
Mono ReadStretch(const Stretch& stretch, double max_seconds) {
  Mono mono = ReadUtterance(*stretch.recording, *stretch.span, max_seconds);
  const int rate_hz = std::clamp(mono.rate_hz, 16000, 48000);
  if (mono.rate_hz != rate_hz) mono = {Resample(mono.x, mono.rate_hz, rate_hz), rate_hz};
  return mono;
}

VoiceModel ModelVoice(const std::vector<Stretch>& stretches, const std::string& speaker,
                      Gender gender, const VoiceModelOptions& options) {
  VoiceModelBuilder builder;
  double left = options.max_seconds;
  std::optional<Error> unreadable;  // the first; what else there is may be enough
  for (const Stretch& stretch : stretches) {
    if (left <= 0.0) break;
    try {
      const Mono mono = ReadStretch(stretch, left);
      left -= static_cast<double>(mono.x.size()) / mono.rate_hz;
      BlockAnalyser analyser(mono.rate_hz, {.f0_method = options.f0_method});
      builder.Add(analyser.Push(mono.x));
      builder.Add(analyser.Finish());
    } catch (const Error& error) {
      if (!unreadable) unreadable = error;
    }
  }
  if (unreadable && !builder.HasEnough()) throw *unreadable;
  return builder.Build(speaker, gender, options.classes);
}

constexpr double kMostPrintS = 60.0;

}  // namespace

Voiceprints EmbedVoices(const Corpus& corpus, const SpeakerEncoder& encoder, int jobs) {
  std::vector<Stretch> stretches;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) stretches.push_back({&recording, &span});
  }
  std::vector<std::vector<float>> made(stretches.size());
  Voiceprints prints;
  std::mutex mutex;
  ParallelFor(stretches.size(), jobs, [&](std::size_t i) {
    const std::string& utterance = stretches[i].span->utterance;
    std::string why;
    try {
      const Mono mono = ReadStretch(stretches[i], kMostPrintS);
      made[i] = encoder.Embed(mono.x, mono.rate_hz);
      double energy = 0.0;
      for (const float v : made[i]) energy += double{v} * v;
      if (energy > 0.0 && std::isfinite(energy)) return;
      why = "the embedding has no direction";
    } catch (const Error& error) {
      why = error.what();
    }
    made[i].clear();
    const std::lock_guard lock(mutex);
    prints.failures[utterance] =
        fmt::format("utterance '{}' has no embedding, so no target: {}", utterance, why);
  });
  const auto n = static_cast<Eigen::Index>(stretches.size() - prints.failures.size());
  prints.set.vectors.resize(static_cast<Eigen::Index>(encoder.Dimension()), n);
  Eigen::Index k = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (made[i].empty()) continue;
    prints.set.ids.push_back(stretches[i].span->utterance);
    prints.set.speakers.push_back(stretches[i].span->speaker);
    prints.set.vectors.col(k++) = Eigen::Map<const Eigen::VectorXf>(
        made[i].data(), static_cast<Eigen::Index>(made[i].size()));
  }
  return prints;
}

void VoiceModelBuilder::Add(const VocoderFrames& frames) {
  if (frames.Frames() == 0) return;
  std::vector<double> energy(frames.Frames());
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    for (const float power : frames.Envelope(t)) energy[t] += power;
  }
  const double threshold = 1e-3 * *std::max_element(energy.begin(), energy.end());
  for (std::size_t t = 0; t < frames.Frames(); ++t) {
    if (frames.f0_hz[t] > 0.0) {
      const double log_f0 = std::log(frames.f0_hz[t]);
      ++voiced_;
      log_f0_sum_ += log_f0;
      log_f0_squares_ += log_f0 * log_f0;
    }
    if (energy[t] < threshold || threshold <= 0.0) continue;
    if (active_++ % stride_ != 0) continue;
    features_.resize(features_.size() + kEnvelopePoints);
    EnvelopeFeature(frames.Envelope(t), frames.rate_hz / 2.0,
                    std::span(features_).last(kEnvelopePoints));
    if (features_.size() == kMaxFrames * kEnvelopePoints) Thin();
  }
}

void VoiceModelBuilder::Thin() {
  constexpr auto kRow = static_cast<std::ptrdiff_t>(kEnvelopePoints);
  for (std::size_t i = 1; i < kMaxFrames / 2; ++i) {
    const auto to = static_cast<std::ptrdiff_t>(i) * kRow;
    std::copy_n(features_.begin() + 2 * to, kRow, features_.begin() + to);
  }
  features_.resize(kMaxFrames / 2 * kEnvelopePoints);
  stride_ *= 2;
}

bool VoiceModelBuilder::HasEnough() const {
  return active_ >= kMinActiveFrames && voiced_ >= kMinVoicedFrames;
}

VoiceModel VoiceModelBuilder::Build(const std::string& name, Gender gender, bool classes) const {
  if (!HasEnough()) {
    throw Error(fmt::format(
        "speaker '{}': {:.2f} s of speech, {:.2f} s of it voiced, are too "
        "little to fit to (at least {} and {} s)",
        name, 0.005 * static_cast<double>(active_), 0.005 * static_cast<double>(voiced_),
        0.005 * kMinActiveFrames, 0.005 * kMinVoicedFrames));
  }
  VoiceModel voice;
  voice.name = name;
  voice.gender = gender;
  const auto n = static_cast<double>(voiced_);
  voice.log_f0_mean = log_f0_sum_ / n;
  const double variance = log_f0_squares_ / n - voice.log_f0_mean * voice.log_f0_mean;
  voice.log_f0_deviation = std::max(kMinDeviation, std::sqrt(std::max(0.0, variance)));
  if (classes) voice.centroids = KMeans(features_, kEnvelopePoints, kVoiceClasses).centroids;
  return voice;
}

ModelledVoices ModelVoices(const Corpus& corpus, const VoiceModelOptions& options) {
  const auto genders = SpeakerGenders(corpus);
  std::map<std::string, std::vector<Stretch>> stretches;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) {
      stretches[span.speaker].push_back({&recording, &span});
    }
  }
  ModelledVoices modelled;
  std::vector<std::optional<VoiceModel>> found(corpus.speakers.size());
  std::mutex mutex;
  ParallelFor(corpus.speakers.size(), options.jobs, [&](std::size_t i) {
    const std::string& speaker = corpus.speakers[i];
    try {
      const auto gender = genders.find(speaker);
      found[i] = ModelVoice(stretches.at(speaker), speaker,
                            gender == genders.end() ? Gender::kUnknown : gender->second, options);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      modelled.failures[speaker] = error.what();
    }
  });
  for (auto& voice : found) {
    if (voice) modelled.voices.push_back(std::move(*voice));
  }
  return modelled;
}

}  // namespace sotto

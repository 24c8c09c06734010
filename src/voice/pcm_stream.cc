#include "voice/pcm_stream.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "voice/method_table.h"

namespace sotto {
namespace {

void WriteAll(const char* data, std::size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(STDOUT_FILENO, data, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot write to standard output: {}", SystemReason()));
    data += n;
    count -= static_cast<std::size_t>(n);
  }
}

float Decode(const char* bytes, bool is_float) {
  float value = 0.0F;
  std::int16_t integer = 0;
  std::memcpy(is_float ? static_cast<void*>(&value) : &integer, bytes, is_float ? 4 : 2);
  return is_float ? value : static_cast<float>(integer) / 32768.0F;
}

void Encode(float value, char* bytes, bool is_float) {
  const float scaled = std::clamp(std::nearbyint(value * 32768.0F), -32768.0F, 32767.0F);
  const auto rounded = is_float ? std::int16_t{0} : static_cast<std::int16_t>(scaled);
  std::memcpy(bytes, is_float ? static_cast<const void*>(&value) : &rounded, is_float ? 4 : 2);
}

}  // namespace

Strategy StreamOptions::TargetStrategy() const {
  if (strategy) return *strategy;
  const Strategy usual = voice.Method().DefaultStrategy();
  return usual == Strategy::kPerm && speaker.empty() ? Strategy::kConst : usual;
}

void StreamOptions::SetUp() {
  if (TargetStrategy() == Strategy::kPerm && speaker.empty()) {
    throw Error("--strategy perm: a stream does not say who speaks: give --speaker ID");
  }
  voice.Method().SetUpStream(voice, TargetStrategy());
  voice.Validate();
}

PcmStream::PcmStream(const StreamOptions& options, const Key& key)
    : rate_hz_(options.rate_hz),
      is_float_(options.is_float),
      channels_(static_cast<std::size_t>(options.channels)),
      sample_bytes_(is_float_ ? 4 : 2),
      outputs_(channels_) {
  const VoiceOptions& voice = options.voice;
  const auto method = MakeVoiceMethod(
      voice, TargetDraws(key, options.TargetStrategy(), voice.MethodName(), options.context));
  if (method->NeedsFit()) {
    throw Error(voice.Method().Find("profile") == nullptr
                    ? "--target-gender: a stream does not say who speaks; random is allowed"
                    : "a stream has nothing to fit the method to beforehand: give --profile "
                      "(sotto fit)");
  }
  const double limit = is_float_ ? std::numeric_limits<double>::infinity() : 1.0;
  const std::string speaker = options.speaker.empty() ? "stream" : options.speaker;
  for (std::size_t c = 0; c < channels_; ++c) {
    transformers_.push_back(method->MakeTransformer(rate_hz_, limit, speaker, "stream", c));
  }
}

double PcmStream::LatencyMs() const {
  return 1000.0 * static_cast<double>(transformers_[0]->LatencySamples()) / rate_hz_;
}

void PcmStream::Run() {
  std::vector<char> pending;
  std::array<char, 1 << 14> buffer;
  while (true) {
    // read() returns what is there: a short pause in the input is no reason to wait.
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot read standard input: {}", SystemReason()));
    if (n == 0) break;
    pending.insert(pending.end(), buffer.begin(), buffer.begin() + n);
    const std::size_t used = Push(pending);
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(used));
  }
  for (std::size_t c = 0; c < channels_; ++c) transformers_[c]->Finish(outputs_[c]);
  Deliver();
  if (!pending.empty()) throw Error("standard input ends in the middle of a sample");
}

// Transforms the whole frames in `bytes`; returns how many bytes they are.
std::size_t PcmStream::Push(const std::vector<char>& bytes) {
  const std::size_t frame = sample_bytes_ * channels_;
  const std::size_t frames = bytes.size() / frame;
  std::vector<float> mono(frames);
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t i = 0; i < frames; ++i) {
      mono[i] = Decode(bytes.data() + i * frame + c * sample_bytes_, is_float_);
      if (!(std::abs(mono[i]) <= kLargestSample)) {
        throw Error(
            fmt::format("standard input: a sample is {}; full scale is 1, at most {:g} is "
                        "read",
                        mono[i], kLargestSample));
      }
    }
    transformers_[c]->Push(mono, outputs_[c]);
  }
  Deliver();
  return frames * frame;
}

void PcmStream::Deliver() {
  const std::size_t frames = outputs_[0].size();  // the same for all channels
  std::vector<char> bytes(frames * channels_ * sample_bytes_);
  char* p = bytes.data();
  for (std::size_t i = 0; i < frames; ++i) {
    for (std::size_t c = 0; c < channels_; ++c, p += sample_bytes_) {
      if (!std::isfinite(outputs_[c][i]))
        throw Error("a sample to be written is not a finite number");
      Encode(outputs_[c][i], p, is_float_);
    }
  }
  for (auto& output : outputs_) output.clear();
  WriteAll(bytes.data(), bytes.size());
}

}  // namespace sotto

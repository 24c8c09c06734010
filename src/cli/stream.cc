// sotto stream: raw PCM on stdin, protected PCM on stdout, as it comes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/verbs.h"
#include "voice/method_table.h"

namespace sotto::cli {
namespace {

struct Flags {
  int rate_hz = 16000;
  int channels = 1;
  std::string format = "s16";
  StrategyFlag strategy;
  std::string speaker;
  TargetFlags target;
  MethodFlags method;
};

// One sample in the byte order of the machine's PCM (little endian).
struct Codec {
  std::size_t bytes;
  float (*decode)(const char*);
  void (*encode)(float, char*);
};

Codec MakeCodec(const std::string& format) {
  if (format == "f32") {
    return {4,
            [](const char* p) {
              float value = 0.0F;
              std::memcpy(&value, p, 4);
              return value;
            },
            [](float value, char* p) { std::memcpy(p, &value, 4); }};
  }
  return {2,
          [](const char* p) {
            std::int16_t value = 0;
            std::memcpy(&value, p, 2);
            return static_cast<float>(value) / 32768.0F;
          },
          [](float value, char* p) {
            const float scaled = std::clamp(std::nearbyint(value * 32768.0F), -32768.0F, 32767.0F);
            const auto rounded = static_cast<std::int16_t>(scaled);
            std::memcpy(p, &rounded, 2);
          }};
}

void WriteAll(const char* data, std::size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(STDOUT_FILENO, data, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot write to standard output: {}", SystemReason()));
    data += n;
    count -= static_cast<std::size_t>(n);
  }
}

// A stream is of one speaker: without a name for them, one target for all is what perm would give.
Strategy StrategyOf(const Flags& flags, const VoiceOptions& options) {
  if (const auto asked = flags.strategy.Asked()) return *asked;
  const Strategy usual = options.Method().DefaultStrategy();
  return usual == Strategy::kPerm && flags.speaker.empty() ? Strategy::kConst : usual;
}

// Throws Error when the flags ask for what a stream cannot do.
void SetUp(const Flags& flags, Strategy strategy, VoiceOptions& options) {
  if (strategy == Strategy::kPerm && flags.speaker.empty()) {
    throw Error("--strategy perm: a stream does not say who speaks: give --speaker ID");
  }
  options.Method().SetUpStream(options, strategy);
  options.Validate();
}

class Streamer {
 public:
  explicit Streamer(const Flags& flags)
      : codec_(MakeCodec(flags.format)), channels_(static_cast<std::size_t>(flags.channels)) {
    const Key key = ChooseKey(flags.target.seed, flags.target.key_file);
    VoiceOptions options = flags.method.Options();
    const Strategy strategy = StrategyOf(flags, options);
    CheckUsage([&] { SetUp(flags, strategy, options); });
    const auto method = MakeVoiceMethod(
        options, TargetDraws(key, strategy, options.MethodName(), flags.target.context));
    if (method->NeedsFit()) {
      throw Error(options.Method().Find("profile") == nullptr
                      ? "--target-gender: a stream does not say who speaks; random is allowed"
                      : "a stream has nothing to fit the method to beforehand: give --profile "
                        "(sotto fit)");
    }
    const double limit = flags.format == "f32" ? std::numeric_limits<double>::infinity() : 1.0;
    const std::string speaker = flags.speaker.empty() ? "stream" : flags.speaker;
    for (std::size_t c = 0; c < channels_; ++c) {
      transformers_.push_back(method->MakeTransformer(flags.rate_hz, limit, speaker, "stream", c));
    }
    outputs_.resize(channels_);
    fmt::print(stderr, "note: latency {:.1f} ms; {}\n",
               1000.0 * static_cast<double>(transformers_[0]->LatencySamples()) / flags.rate_hz,
               strategy == Strategy::kRandom ? "another target after each pause of half a second"
                                             : "one target for the whole stream");
    if (flags.target.seed) fmt::print(stderr, "note: --seed: an experiment that protects nobody\n");
  }

  void Run() {
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

 private:
  // Transforms the whole frames in `bytes`; returns how many bytes they are.
  std::size_t Push(const std::vector<char>& bytes) {
    const std::size_t frame = codec_.bytes * channels_;
    const std::size_t frames = bytes.size() / frame;
    std::vector<float> mono(frames);
    for (std::size_t c = 0; c < channels_; ++c) {
      for (std::size_t i = 0; i < frames; ++i) {
        mono[i] = codec_.decode(bytes.data() + i * frame + c * codec_.bytes);
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

  void Deliver() {
    const std::size_t frames = outputs_[0].size();  // the same for all channels
    std::vector<char> bytes(frames * channels_ * codec_.bytes);
    char* p = bytes.data();
    for (std::size_t i = 0; i < frames; ++i) {
      for (std::size_t c = 0; c < channels_; ++c, p += codec_.bytes) {
        if (!std::isfinite(outputs_[c][i]))
          throw Error("a sample to be written is no finite number");
        codec_.encode(outputs_[c][i], p);
      }
    }
    for (auto& output : outputs_) output.clear();
    WriteAll(bytes.data(), bytes.size());
  }

  const Codec codec_;
  const std::size_t channels_;
  std::vector<std::unique_ptr<StreamTransformer>> transformers_;
  std::vector<std::vector<float>> outputs_;
};

}  // namespace

void AddStream(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "stream",
      "Reads raw PCM (little endian) on standard input and writes it in another voice on standard\n"
      "output as it comes, as many samples as came in. The target is drawn once for the stream, "
      "by\n"
      "neural with --strategy random anew after each pause of half a second (in each channel).\n"
      "Latency: 30 ms for mcadams with its pitch kept, 2.1 s for what goes through the vocoder\n"
      "(voicemask, vtln, any change of the pitch), at most 250 ms for neural\n"
      "(its nets in the program: 227 ms at 16 kHz, up to 233 at others). Rates above 48 kHz\n"
      "add 40 ms for mcadams and the vocoder, rates below 16 kHz 120 ms for the vocoder.",
      "  sox talk.wav -t raw -e signed -b 16 -r 16000 -c 1 - | sotto stream --rate 16000 > "
      "out.raw\n"
      "  arecord -t raw -f S16_LE -r 48000 | sotto stream --rate 48000 | aplay -f S16_LE -r 48000");
  verb->add_option("--rate", flags->rate_hz, "Sampling rate, Hz")->check(CLI::Range(8000, 192000));
  verb->add_option("--channels", flags->channels, "Interleaved channels")->check(CLI::Range(1, 64));
  verb->add_option("--format", flags->format, "16-bit integers or 32-bit floats")
      ->check(CLI::IsMember({"s16", "f32"}));
  flags->method.Add(*verb, /*streams=*/true);
  flags->strategy.Add(*verb);
  verb->add_option("--speaker", flags->speaker, "Who speaks, for --strategy perm")->type_name("ID");
  flags->target.Add(*verb);
  verb->callback([flags] { Streamer(*flags).Run(); });
}

}  // namespace sotto::cli

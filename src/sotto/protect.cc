#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "audio/sound_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "release/anonymise.h"
#include "release/run_parts.h"
#include "sotto/sotto.h"
#include "voice/method_table.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

AnonymiseOptions ToOptions(const Protection& protection) {
  AnonymiseOptions options;
  if (!protection.method.empty()) {
    static_cast<VoiceOptions&>(options) = ParseMethodText(protection.method);
  }
  for (const auto& [name, value] : protection.parameters) options.Set(name, value);
  if (!protection.strategy.empty()) options.strategy = ParseStrategy(protection.strategy);
  options.context = protection.context;
  options.key_file = protection.key_file;
  options.experiment_seed = protection.experiment_seed;
  return options;
}

AnonymiseReport Run(AnonymiseOptions options, const fs::path& in, const fs::path& out,
                    bool is_corpus, const RunWatch& watch) {
  if (fs::exists(in) && is_corpus != (fs::is_directory(in) || in.extension() == ".tsv")) {
    throw Error(fmt::format("'{}' is {}: {}", in.string(), is_corpus ? "one file" : "a corpus",
                            is_corpus ? "ProtectFile" : "ProtectCorpus"));
  }
  options.in = in;
  options.out = out;
  const WatchScope watched(&watch);
  return Anonymise(options, SOTTO_VERSION);
}

// What a method must not be given.
void RequireSamples(std::span<const float> samples) {
  for (const float x : samples) {
    if (std::abs(x) <= kLargestSample) continue;
    throw Error(
        fmt::format("a sample is {}; full scale is 1, at most {:g} is taken", x, kLargestSample));
  }
}

class CheckedStream : public StreamTransformer {
 public:
  explicit CheckedStream(std::unique_ptr<StreamTransformer> inner) : inner_(std::move(inner)) {}
  void Push(std::span<const float> in, std::vector<float>& out) override {
    RequireSamples(in);
    inner_->Push(in, out);
  }
  void Finish(std::vector<float>& out) override { inner_->Finish(out); }
  std::size_t LatencySamples() const override { return inner_->LatencySamples(); }

 private:
  const std::unique_ptr<StreamTransformer> inner_;
};

std::unique_ptr<VoiceMethod> OpenMethod(const AnonymiseOptions& options, const Key& key) {
  auto method = MakeMethod(options, key);
  if (method->NeedsFit()) {
    throw Error(fmt::format(
        "method {} must hear the speaker beforehand with these parameters, which sound in memory "
        "does not allow: give the parameter 'profile' where it has one, or protect files",
        options.MethodName()));
  }
  return method;
}

std::unique_ptr<StreamTransformer> OpenChannel(const VoiceMethod& method, int rate_hz,
                                               const Spoken& spoken) {
  if (rate_hz < kMinRateHz || rate_hz > kMaxRateHz) {
    throw Error(
        fmt::format("a rate of {} Hz: {} to {} are allowed", rate_hz, kMinRateHz, kMaxRateHz));
  }
  constexpr double kFullScale = 1.0;
  return std::make_unique<CheckedStream>(method.MakeTransformer(rate_hz, kFullScale, spoken.speaker,
                                                                spoken.utterance, spoken.channel));
}

}  // namespace

void Protection::Validate() const { ToOptions(*this).Validate(); }

std::vector<std::string> ProtectFile(const fs::path& in, const fs::path& out,
                                     const Protection& protection, const RunWatch& watch) {
  return Run(ToOptions(protection), in, out, /*is_corpus=*/false, watch).notes;
}

ProtectedCorpus ProtectCorpus(const fs::path& in, const fs::path& out, const Protection& protection,
                              const CorpusSettings& settings, const RunWatch& watch) {
  AnonymiseOptions options = ToOptions(protection);
  options.jobs = settings.jobs == 0 ? DefaultJobs() : settings.jobs;
  options.skip_failed = settings.skip_failed;
  options.new_ids = settings.new_ids;
  options.mark = settings.mark;
  options.replace = settings.replace;
  options.key_out = settings.key_out;
  options.map_out = settings.map_out;
  AnonymiseReport report = Run(std::move(options), in, out, /*is_corpus=*/true, watch);
  ProtectedCorpus made{.complete = report.complete,
                       .recordings = report.recordings,
                       .done = report.done,
                       .resumed = report.resumed,
                       .failures = {},
                       .audio_seconds = report.audio_seconds,
                       .notes = std::move(report.notes)};
  for (const auto& [id, reason] : report.failures) made.failures.push_back({id, reason});
  return made;
}

struct VoiceProtector::Impl {
  const AnonymiseOptions options;
  const Key key;
  const std::unique_ptr<VoiceMethod> whole;
  std::once_flag streamed;
  std::unique_ptr<VoiceMethod> stream;  // opened when the first one is asked for

  explicit Impl(const AnonymiseOptions& asked)
      : options(asked),
        key(ChooseKey(options.experiment_seed, options.key_file)),
        whole(OpenMethod(options, key)) {}
};

VoiceProtector::VoiceProtector(const Protection& protection) {
  const AnonymiseOptions options = ToOptions(protection);
  options.Validate();
  impl_ = std::make_unique<Impl>(options);
}
VoiceProtector::~VoiceProtector() = default;
VoiceProtector::VoiceProtector(VoiceProtector&&) noexcept = default;
VoiceProtector& VoiceProtector::operator=(VoiceProtector&&) noexcept = default;

std::vector<float> VoiceProtector::Protect(std::span<const float> samples, int rate_hz,
                                           const Spoken& spoken) const {
  const auto channel = OpenChannel(*impl_->whole, rate_hz, spoken);
  std::vector<float> out;
  out.reserve(samples.size());
  channel->Push(samples, out);
  channel->Finish(out);
  return out;
}

std::unique_ptr<StreamTransformer> VoiceProtector::OpenStream(int rate_hz,
                                                              const Spoken& spoken) const {
  std::call_once(impl_->streamed, [this] {
    AnonymiseOptions options = impl_->options;
    options.Method().SetUpStream(options, options.TargetStrategy());
    impl_->stream = OpenMethod(options, impl_->key);
  });
  return OpenChannel(*impl_->stream, rate_hz, spoken);
}

}  // namespace sotto

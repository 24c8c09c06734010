#include "voice/neural_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "voice/live_voice.h"
#include "voice/neural_nets.h"
#include "voice/vocoder_definition.h"

namespace sotto {
namespace {

Error NotFitted(const std::string& speaker) {
  return Error(fmt::format("the method has not been fitted to '{}'", speaker));
}

}  // namespace

NeuralMethod::NeuralMethod(const VoiceOptions& options, TargetDraws draws, NeuralKind kind,
                           const TargetRules& rules)
    : o_(ReadNeuralOptions(options)),
      gender_(AskedGender(options)),
      pitch_(AskedPitch(options)),
      draws_(std::move(draws)) {
  double nearest = kNearestVoice;
  if (kind == NeuralKind::kAdain) {
    AdainNets nets = OpenAdainNets(o_);
    models_ = std::move(nets.models);
    nearest = std::max(nearest, UsualNearest(nets.pool));
    pool_ = std::make_shared<const SpeakerPool>(std::move(nets.pool));
  } else {
    NeuralNets nets = OpenNeuralNets(o_);
    models_ = live_ = std::move(nets.models);
    pool_ = std::make_shared<const SpeakerPool>(std::move(nets.pool));
  }
  targets_ = rules.Find(options.Value("target"))->Make(pool_, nearest, options, draws_);
  if (o_.teacher) {
    const ModelFolders models = ModelFolders::Default(o_.models, o_.trust_models);
    teacher_ = std::make_shared<MoonshineContent>(OnnxRuntime::Open(models), models);
  }
}

FitNeeds NeuralMethod::Needs() const {
  if (sources_) return {};
  const bool by_gender = gender_ != TargetGender::kRandom;
  return {.voices = by_gender, .genders = by_gender, .encoder = targets_->Encoder()};
}

Gender NeuralMethod::SourceGender(const std::string& speaker) const {
  if (gender_ == TargetGender::kRandom) return Gender::kUnknown;
  if (!sources_) throw NotFitted(speaker);
  const VoiceModel& source = sources_->Find(speaker);
  if (source.gender != Gender::kUnknown) return source.gender;
  return GuessGender(source.log_f0_mean, pool_->voices);
}

SpeakerVoice NeuralMethod::Target(const std::string& speaker, const std::string& utterance,
                                  std::size_t pause) const {
  const TargetUnit unit{speaker, utterance, pause};
  const Gender gender =
      TargetGenderFor(draws_, gender_, SourceGender(speaker), speaker, unit.Name());
  if (targets_->Encoder() != nullptr && !sources_) throw NotFitted(speaker);
  return targets_->Draw(unit, gender, sources_ ? &*sources_ : nullptr);
}

std::unique_ptr<StreamTransformer> NeuralMethod::MakeChannel(int rate_hz, double peak_limit,
                                                             const std::string& speaker,
                                                             const std::string& utterance,
                                                             std::size_t channel) const {
  NeuralVoiceOptions options;
  options.target = Target(speaker, utterance);
  options.pitch = pitch_;
  options.peak_limit = peak_limit;
  options.teacher = teacher_;
  if (o_.bend_semitones > 0.0) {
    options.bend.emplace_back(draws_, o_.bend_semitones, speaker, utterance);
  }
  // Shared by two channels it would go away in their difference.
  options.content_key = draws_.Derive(
      channel == 0 ? "content noise" : fmt::format("content noise of channel {}", channel),
      utterance);
  // Whatever the strategy, another noise for each utterance: its name is part of the parameter.
  options.noise_seed = static_cast<std::uint64_t>(
      draws_.Uniform("noise of " + utterance, 0.0, 0x1.0p53, speaker, utterance));
  if (!o_.streaming) return MakeNeuralTransformer(rate_hz, models_, options);
  // A copy, since the transformer may outlive the method.
  return MakeLiveTransformer(rate_hz, live_, options,
                             [method = std::make_shared<const NeuralMethod>(*this), speaker,
                              utterance, last = targets_->MostVoices() - 1](std::size_t pause) {
                               return method->Target(speaker, utterance, std::min(pause, last));
                             });
}

namespace {

// Its choices and its help are the table's.
Parameter TargetParameter(const TargetRules& rules) {
  std::vector<std::string> ways;
  for (const auto& rule : rules.All()) {
    ways.push_back(fmt::format("{} ({})", rule->Help(), rule->Name()));
  }
  return {.name = "target",
          .preset = rules.All().front()->Name(),
          .choices = rules.Names(),
          .help = "Whom to sound like: " + ListOf(ways),
          .record = "target",
          .must_be_recorded = true};
}

// Each rule's parameters where they belong.
void AddParametersOf(const TargetRules& rules, std::vector<Parameter>& parameters) {
  const auto place = [&](const std::string& name) {
    return std::find_if(parameters.begin(), parameters.end(),
                        [&](const Parameter& known) { return known.name == name; });
  };
  for (const auto& rule : rules.All()) {
    for (const Parameter& parameter : rule->Parameters()) {
      if (place(parameter.name) != parameters.end()) continue;
      const auto before = place(parameter.after);
      parameters.insert(before == parameters.end() ? before : std::next(before), parameter);
    }
  }
}

// What both take, apart from the rules' parameters.
std::vector<Parameter> CommonParameters(const TargetRules& rules) {
  return {PitchParameter("target", {"keep", "target"}),
          TargetGenderParameter(),
          TargetParameter(rules),
          {.name = "bend",
           .kind = Parameter::Kind::kNumber,
           .unit = "SEMITONES",
           .preset = "0",
           .help = "Bend the melody by a secret amount of up to this many semitones (at most 12)",
           .record = "bend_semitones",
           .must_be_recorded = true},
          {.name = "neural",
           .kind = Parameter::Kind::kNets,
           .unit = "DIR",
           .help = "A folder of nets in place of those in the program (docs/neural_training.md)",
           .attack_flag = "neural",
           .fact = "nets"}};
}

std::vector<Parameter> NeuralParameters() {
  return {
      {.name = "content",
       .preset = "student",
       .choices = {"student", "moonshine"},
       .help =
           "What recognises the words: the program's own net (student), or Moonshine where it is "
           "installed",
       .record = "content",
       .must_be_recorded = true},
      {.name = "models",
       .kind = Parameter::Kind::kPath,
       .unit = "DIR",
       .help = "Folder with Moonshine and ONNX Runtime",
       .changes_sound = false,
       .in_texts = false},
      {.name = "trust-models",
       .kind = Parameter::Kind::kSwitch,
       .help = "Accept ONNX Runtime and foreign models that are not the files this program knows "
               "by their SHA-256 (docs/models.md)",
       .changes_sound = false,
       .in_texts = false},
      {.name = "streaming",
       .kind = Parameter::Kind::kSwitch,
       .help = "Protect files as sotto stream does, to measure what that protects and costs; with "
               "--strategy random another target is drawn after each pause too",
       .record = "streaming",
       .in_streams = false}};
}

// Both methods; what neural alone takes is absent from adain's parameters.
class NetsDefinition : public MethodDefinition {
 public:
  NetsDefinition(std::string name, std::string help, const std::vector<Parameter>& own,
                 NeuralKind kind, const char* voices_file, const TargetRules& rules)
      : MethodDefinition(std::move(name), std::move(help), With(own, rules)),
        kind_(kind),
        voices_file_(voices_file),
        rules_(rules) {}

  Strategy DefaultStrategy() const override { return Strategy::kRandom; }
  bool IsSynthetic() const override { return true; }

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<NeuralMethod>(options, std::move(draws), kind_, rules_);
  }

  std::filesystem::path FileOf(const VoiceOptions& options,
                               const Parameter& parameter) const override {
    const std::filesystem::path file = options.File(parameter.name);
    const std::filesystem::path folder = options.File("neural");
    const bool beside = parameter.name == "target-pool" && file.empty() && !folder.empty();
    return beside ? folder / voices_file_ : file;
  }

  void Check(const VoiceOptions& options) const override {
    const double bend = *options.Number("bend");
    if (!(bend >= 0.0 && bend <= 12.0)) {
      throw Error(
          fmt::format("method {}: a bend of {} semitones: from 0 to 12 is allowed", Name(), bend));
    }
    const auto rule = Rule(options);
    for (const Parameter& parameter : Parameters()) {
      const std::vector<std::string> owners = rules_.Owners(parameter.name);
      if (owners.empty() || rule->Find(parameter.name) != nullptr) continue;
      if (!options.Has(parameter.name)) continue;
      throw Error(fmt::format("--{} belongs to --target {}; the target here is {}", parameter.name,
                              ListOf(owners), rule->Name()));
    }
    rule->Check(options);
  }

  void CheckStrategy(const VoiceOptions& options, Strategy strategy) const override {
    Rule(options)->CheckStrategy(options, strategy);
  }

  void AddToRecord(const VoiceOptions& options, const RunFacts& run,
                   nlohmann::ordered_json& record) const override {
    record["synthetic"] = true;  // every sample is made by a net
    record["band_hz"] = 8000;    // nothing is left above
    Rule(options)->AddToRecord(options, run, record);
  }

  std::shared_ptr<const TargetRule> Rule(const VoiceOptions& options) const override {
    return rules_.Find(options.Value("target"));
  }

 private:
  static std::vector<Parameter> With(const std::vector<Parameter>& own, const TargetRules& rules) {
    std::vector<Parameter> parameters = CommonParameters(rules);
    parameters.insert(parameters.end(), own.begin(), own.end());
    AddParametersOf(rules, parameters);
    return parameters;
  }

  NeuralKind kind_;
  const char* voices_file_;
  TargetRules rules_;
};

class OfNeural : public NetsDefinition {
 public:
  explicit OfNeural(const TargetRules& rules)
      : NetsDefinition("neural", "a new voice made by nets", NeuralParameters(), NeuralKind::kSynth,
                       "voices.safetensors", rules) {}

  void Check(const VoiceOptions& options) const override {
    NetsDefinition::Check(options);
    if (options.Has("streaming") && options.Value("content") == "moonshine") {
      throw Error("method neural: Moonshine hears whole recordings, not a stream");
    }
  }

  void SetUpStream(VoiceOptions& options, Strategy /*strategy*/) const override {
    Rule(options)->CheckStream();
    options.Set("streaming");
  }

  std::vector<std::string> FactFields() const override { return {"content_mean", "nets"}; }
  std::vector<std::pair<std::string, std::string>> Facts(
      const VoiceOptions& options) const override {
    return {{"content_mean", "removed"},  // voice/content_centre.h
            {"nets", NetsFingerprint(ReadNeuralOptions(options))}};
  }

  std::optional<SpeakerPool> RulePool(const VoiceOptions& options) const override {
    if (!Rule(options)->LooksAtSource()) return std::nullopt;
    return OpenNeuralNets(ReadNeuralOptions(options)).pool;
  }
};

class OfAdain : public NetsDefinition {
 public:
  explicit OfAdain(const TargetRules& rules)
      : NetsDefinition("adain", "a new voice made by one net, for comparison", {},
                       NeuralKind::kAdain, kAdainVoicesFile, rules) {}

  void SetUpStream(VoiceOptions& /*options*/, Strategy /*strategy*/) const override {
    throw Error("method adain works on files: its nets need whole recordings");
  }

  std::vector<std::string> FactFields() const override { return {"content", "nets"}; }
  std::vector<std::pair<std::string, std::string>> Facts(
      const VoiceOptions& options) const override {
    return {{"content", "adain"}, {"nets", AdainFingerprint(ReadNeuralOptions(options))}};
  }
};

}  // namespace

NeuralOptions ReadNeuralOptions(const VoiceOptions& options) {
  NeuralOptions neural;
  neural.folder = options.File("neural");
  neural.target_pool = options.File("target-pool");
  neural.teacher = options.Value("content") == "moonshine";
  neural.models = options.File("models");
  neural.trust_models = options.Has("trust-models");
  neural.bend_semitones = options.Number("bend").value_or(0.0);
  neural.streaming = options.Has("streaming");
  return neural;
}

std::shared_ptr<const MethodDefinition> NeuralDefinition(const TargetRules& rules) {
  return std::make_shared<OfNeural>(rules);
}

std::shared_ptr<const MethodDefinition> AdainDefinition(const TargetRules& rules) {
  return std::make_shared<OfAdain>(rules.Blind());
}

}  // namespace sotto

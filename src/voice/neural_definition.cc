// Methods neural and adain in the table of methods.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "dp/parameters.h"
#include "speaker/voice_indistinguishability.h"
#include "voice/adain_nets.h"
#include "voice/neural_method.h"
#include "voice/neural_nets.h"
#include "voice/vocoder_definition.h"

namespace sotto {
namespace {

// What both take, apart from the targets.
std::vector<Parameter> CommonParameters(std::vector<std::string> targets) {
  return {
      PitchParameter("target", {"keep", "target"}),
      TargetGenderParameter(),
      {.name = "target",
       .preset = "generated",
       .choices = std::move(targets),
       .help = "A voice nobody has, drawn from a distribution; one of a pool, whatever the source; "
               "with neural also one of a pool by the source's embedding, with a bound (voice-ind)",
       .record = "target",
       .must_be_recorded = true},
      {.name = "target-pool",
       .kind = Parameter::Kind::kVoices,
       .unit = "FILE",
       .help = "Voices from sotto train voices (default: those beside the nets)",
       .record = "target_pool",
       .must_be_recorded = true},
      {.name = "bend",
       .kind = Parameter::Kind::kNumber,
       .unit = "SEMITONES",
       .preset = "0",
       .help = "Bends the melody by up to so many semitones (at most 12), in secret",
       .record = "bend_semitones",
       .must_be_recorded = true},
      {.name = "neural",
       .kind = Parameter::Kind::kNets,
       .unit = "DIR",
       .help = "A folder of nets (docs/neural_training.md) in place of those in the program"}};
}

std::vector<Parameter> NeuralParameters() {
  std::vector<Parameter> parameters = CommonParameters({"generated", "pool", "voice-ind"});
  const std::vector<Parameter> own = {
      {.name = "eps",
       .kind = Parameter::Kind::kNumber,
       .unit = "E",
       .help =
           "The bound of --target voice-ind, for each draw; no default. It covers the choice of "
           "target alone, and k utterances with --strategy random cost k times as much",
       .alias = "epsilon",
       .record = "eps"},
      {.name = "content",
       .preset = "student",
       .choices = {"student", "moonshine"},
       .help = "What hears the words, our own net or Moonshine where it is installed",
       .record = "content",
       .must_be_recorded = true},
      {.name = "models",
       .kind = Parameter::Kind::kPath,
       .unit = "DIR",
       .help = "The folder of Moonshine and ONNX Runtime",
       .changes_sound = false,
       .in_texts = false},
      {.name = "trust-models",
       .kind = Parameter::Kind::kSwitch,
       .help = "Take ONNX Runtime and foreign models as they are, where they are not the files "
               "this program knows by their SHA-256 (docs/models.md)",
       .changes_sound = false,
       .in_texts = false},
      {.name = "streaming",
       .kind = Parameter::Kind::kSwitch,
       .help = "As sotto stream does it, to measure what that protects and costs; random draws "
               "anew after pauses too",
       .record = "streaming",
       .in_streams = false},
      {.name = "max-draws",
       .kind = Parameter::Kind::kCount,
       .unit = "N",
       .help = "With --target voice-ind, --streaming and random: draws for an utterance at most, "
               "each of which costs epsilon; then its last voice is held. No default: the record "
               "states this bound, since how many were made would tell of the speech",
       .record = "max_draws",
       .in_streams = false}};
  parameters.insert(parameters.end(), own.begin(), own.end());
  return parameters;
}

// Both methods; what neural alone takes is absent from adain's parameters.
class NetsDefinition : public MethodDefinition {
 public:
  NetsDefinition(std::string name, std::string help, std::vector<Parameter> parameters,
                 NeuralKind kind, const char* voices_file)
      : MethodDefinition(std::move(name), std::move(help), std::move(parameters)),
        kind_(kind),
        voices_file_(voices_file) {}

  Strategy DefaultStrategy() const override { return Strategy::kRandom; }
  bool IsSynthetic() const override { return true; }

  std::unique_ptr<VoiceMethod> Make(const VoiceOptions& options, TargetDraws draws) const override {
    return std::make_unique<NeuralMethod>(ReadNeuralOptions(options), AskedGender(options),
                                          AskedPitch(options), std::move(draws), kind_);
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
  }

  void AddToRecord(const VoiceOptions& /*options*/, const RunFacts& /*run*/,
                   nlohmann::ordered_json& record) const override {
    record["synthetic"] = true;  // every sample is made by a net
    record["band_hz"] = 8000;    // nothing is left above
  }

  PoolRuleRecord Rule(const VoiceOptions& options) const override {
    return {PoolRule::kIndependent, "target " + options.Value("target")};
  }

 private:
  NeuralKind kind_;
  const char* voices_file_;
};

bool IsVoiceInd(const VoiceOptions& options) { return options.Value("target") == "voice-ind"; }

class OfNeural : public NetsDefinition {
 public:
  OfNeural()
      : NetsDefinition("neural", "a new voice by nets", NeuralParameters(), NeuralKind::kSynth,
                       "voices.safetensors") {}

  void Check(const VoiceOptions& options) const override {
    NetsDefinition::Check(options);
    const bool voice_ind = IsVoiceInd(options), streaming = options.Has("streaming");
    const auto eps = options.Number("eps");
    if (voice_ind && !eps) throw Error("target voice-ind needs --eps: there is no default epsilon");
    if (!voice_ind && eps) throw Error("--eps is for --method neural --target voice-ind");
    if (voice_ind) VoiceIndMechanism{*eps};  // refuses what is no epsilon
    if (options.Has("max-draws") && !(voice_ind && streaming)) {
      throw Error(
          "--max-draws is for --streaming --target voice-ind, which draws anew after pauses");
    }
    if (streaming && options.Value("content") == "moonshine") {
      throw Error("method neural: Moonshine hears whole recordings, no stream");
    }
  }

  void CheckStrategy(const VoiceOptions& options, Strategy strategy) const override {
    if (!IsVoiceInd(options)) return;
    if (strategy == Strategy::kConst) {
      throw Error("--target voice-ind: strategy const has no source to choose by (perm or random)");
    }
    const bool after_pauses = options.Has("streaming") && strategy == Strategy::kRandom;
    const bool bounded = options.Has("max-draws");
    if (after_pauses && !bounded) {
      throw Error(
          "--target voice-ind with --streaming and strategy random draws anew after pauses, and "
          "every draw costs epsilon: say by --max-draws N how many an utterance may have (the last "
          "is held)");
    }
    if (!after_pauses && bounded) {
      throw Error(fmt::format("--max-draws is for strategy random: {} draws once for a speaker",
                              sotto::Name(strategy)));
    }
  }

  void SetUpStream(VoiceOptions& options, Strategy /*strategy*/) const override {
    if (IsVoiceInd(options)) {
      throw Error(
          "--target voice-ind chooses by the embedding of the whole of an utterance, which a "
          "stream does not have (generated or pool; sotto anonymise --streaming for files)");
    }
    options.Set("streaming");
  }

  std::vector<std::string> FactFields() const override { return {"content_mean", "nets"}; }
  std::vector<std::pair<std::string, std::string>> Facts(
      const VoiceOptions& options) const override {
    return {{"content_mean", "removed"},  // voice/content_centre.h
            {"nets", NetsFingerprint(ReadNeuralOptions(options))}};
  }

  void AddToRecord(const VoiceOptions& options, const RunFacts& run,
                   nlohmann::ordered_json& record) const override {
    NetsDefinition::AddToRecord(options, run, record);
    if (!IsVoiceInd(options)) return;
    const bool random = run.strategy == Strategy::kRandom;
    nlohmann::ordered_json own = {
        {"covers", kVoiceIndCovers},
        {"per", random ? "utterance" : "speaker"},
        {"cost", !random ? "one draw for each speaker"
                 : options.Has("max-draws")
                     ? "k utterances of a speaker cost at most k * max_draws "
                       "* eps"
                     : "k utterances of a speaker cost k * eps"}};
    // Bounds that are known before the first draw: how many were made follows the pauses of the
    // speech, which eps does not cover.
    if (run.target_draws > 0) {
      own["draws_per_speaker_at_most"] = run.target_draws;
      own["eps_per_speaker"] = VoiceIndEpsilon(*options.Number("eps"), run.target_draws);
    }
    if (AskedGender(options) != TargetGender::kRandom) {
      own["outside_eps"] = "the speaker's gender, which the target's follows";
    }
    record["voice_ind"] = std::move(own);
  }

  std::vector<std::string> FitNotes(const VoiceOptions& options,
                                    const RunFacts& run) const override {
    if (!IsVoiceInd(options)) return {};
    const double eps = *options.Number("eps");
    const double spent = VoiceIndEpsilon(eps, run.target_draws);
    std::vector<std::string> notes = {
        fmt::format("voice-ind: epsilon {:g} covers {}", eps, kVoiceIndCovers)};
    if (run.strategy == Strategy::kRandom) {
      const std::size_t most = DrawsPerUtterance(options);
      notes.push_back(
          options.Has("max-draws")
              ? fmt::format("voice-ind: k utterances of at most {0} draws cost at most k * {0} "
                            "times epsilon {1:g}: {2:g} for the speaker with most ({3} utterances)",
                            most, eps, spent, run.target_draws / most)
              : fmt::format("voice-ind: k utterances cost k times epsilon {:g}: {:g} for the "
                            "speaker with most ({} utterances)",
                            eps, spent, run.target_draws));
    }
    if (const std::string warning = EpsilonWarning(spent); !warning.empty()) {
      notes.push_back(warning);
    }
    if (AskedGender(options) != TargetGender::kRandom) {
      notes.push_back(
          fmt::format("voice-ind: --target-gender {} tells the speaker's gender, outside epsilon",
                      options.Value("target-gender")));
    }
    return notes;
  }

  std::size_t DrawsPerUtterance(const VoiceOptions& options) const override {
    return ReadNeuralOptions(options).max_draws.value_or(1);
  }

  PoolRuleRecord Rule(const VoiceOptions& options) const override {
    const PoolRuleRecord any = NetsDefinition::Rule(options);
    if (!IsVoiceInd(options)) return any;
    return {PoolRule::kNearest,
            fmt::format("{}, eps {:g}", any.text, options.Number("eps").value_or(0.0))};
  }
  std::string RuleRemark(const VoiceOptions& options, Strategy strategy) const override {
    if (!IsVoiceInd(options)) return {};
    const bool uncounted = options.Has("streaming") && strategy == Strategy::kRandom;
    return fmt::format("; this eps covers {}, and k utterances with strategy random cost k * eps{}",
                       kVoiceIndCovers,
                       options.Has("max-draws")
                           ? fmt::format(" for each of up to {} draws", DrawsPerUtterance(options))
                       : uncounted ? " and more: an earlier version drew after every pause and did "
                                     "not count, so no bound is known"
                                   : "");
  }
  std::optional<SpeakerPool> RulePool(const VoiceOptions& options) const override {
    if (!IsVoiceInd(options)) return std::nullopt;
    return OpenNeuralNets(ReadNeuralOptions(options)).pool;
  }
};

class OfAdain : public NetsDefinition {
 public:
  OfAdain()
      : NetsDefinition("adain", "a new voice by one net, to be compared with",
                       CommonParameters({"generated", "pool"}), NeuralKind::kAdain,
                       kAdainVoicesFile) {}

  void SetUpStream(VoiceOptions& /*options*/, Strategy /*strategy*/) const override {
    throw Error("method adain works on files: its nets hear all of them");
  }

  std::vector<std::string> FactFields() const override { return {"content", "nets"}; }
  std::vector<std::pair<std::string, std::string>> Facts(
      const VoiceOptions& options) const override {
    return {{"content", "adain"}, {"nets", AdainFingerprint(ReadNeuralOptions(options))}};
  }
};

}  // namespace

NeuralTarget ParseNeuralTarget(std::string_view name) {
  for (const NeuralTarget target :
       {NeuralTarget::kGenerated, NeuralTarget::kPool, NeuralTarget::kVoiceInd}) {
    if (name == Name(target)) return target;
  }
  throw Error(fmt::format("target '{}': generated, pool or voice-ind is allowed", name));
}

const char* Name(NeuralTarget target) {
  switch (target) {
    case NeuralTarget::kGenerated:
      return "generated";
    case NeuralTarget::kPool:
      return "pool";
    case NeuralTarget::kVoiceInd:
      return "voice-ind";
  }
  return "";
}

NeuralOptions ReadNeuralOptions(const VoiceOptions& options) {
  NeuralOptions neural;
  neural.folder = options.File("neural");
  neural.target_pool = options.File("target-pool");
  neural.target = ParseNeuralTarget(options.Value("target"));
  neural.eps = options.Number("eps");
  neural.teacher = options.Value("content") == "moonshine";
  neural.models = options.File("models");
  neural.trust_models = options.Has("trust-models");
  neural.bend_semitones = options.Number("bend").value_or(0.0);
  neural.streaming = options.Has("streaming");
  if (const auto most = options.Number("max-draws")) {
    neural.max_draws = static_cast<std::size_t>(*most);
  }
  return neural;
}

std::shared_ptr<const MethodDefinition> NeuralDefinition() { return std::make_shared<OfNeural>(); }

std::shared_ptr<const MethodDefinition> AdainDefinition() { return std::make_shared<OfAdain>(); }

}  // namespace sotto

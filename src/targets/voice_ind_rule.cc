// The rule voice-ind in the table of target rules.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "dp/parameters.h"
#include "speaker/encoder.h"
#include "speaker/voice_indistinguishability.h"
#include "targets/pitch.h"
#include "targets/voice_ind_targets.h"

namespace sotto {
namespace {

std::vector<Parameter> OwnParameters() {
  return {
      TargetPoolParameter(),
      {.name = "eps",
       .kind = Parameter::Kind::kNumber,
       .unit = "E",
       .help = "Epsilon of --target voice-ind for each draw; it has no default, covers the choice "
               "of target alone, and is spent k times by k utterances with --strategy random",
       .alias = "epsilon",
       .record = "eps",
       .after = "neural"},
      {.name = "max-draws",
       .kind = Parameter::Kind::kCount,
       .unit = "N",
       .help = "With --target voice-ind, --streaming and --strategy random: how many draws an "
               "utterance may have, each of which costs epsilon; then its last voice is held. "
               "No default: the record states this bound, since the number of draws made "
               "would tell of the speech",
       .record = "max_draws",
       .in_streams = false,
       .after = "streaming"}};
}

// A stream draws anew after pauses.
bool DrawsAfterPauses(const ParameterValues& values, Strategy strategy) {
  return values.Has("streaming") && strategy == Strategy::kRandom;
}

std::optional<std::size_t> MaxDraws(const ParameterValues& values) {
  const std::optional<double> most = values.Number("max-draws");
  if (!most) return std::nullopt;
  return static_cast<std::size_t>(*most);
}

bool FollowsGender(const ParameterValues& values) {
  return ParseTargetGender(values.Value("target-gender")) != TargetGender::kRandom;
}

class BySource : public TargetChoice {
 public:
  // `most`: draws for an utterance that are allowed; not given: any number, in a stream of an
  // earlier version.
  BySource(std::shared_ptr<const SpeakerPool> pool, double eps, const TargetDraws& draws,
           std::optional<std::size_t> held_after, std::optional<std::size_t> most)
      : pool_(std::move(pool)),
        targets_(*pool_, eps),
        draws_(draws),
        encoder_(OpenEncoder(kDefaultEncoder)),
        held_after_(held_after),
        ledger_(most) {
    if (encoder_->WeightsFingerprint() == pool_->encoder) return;
    throw Error(
        fmt::format("target voice-ind: the pool's embeddings were made by an encoder with the "
                    "weights '{}', the program's has '{}'",
                    pool_->encoder, encoder_->WeightsFingerprint()));
  }

  const SpeakerEncoder* Encoder() const override { return encoder_.get(); }
  std::size_t MostVoices() const override { return held_after_.value_or(kUnbounded); }

  // A speaker who is a voice of the pool.
  void RefuseSpeakers(const std::vector<std::string>& speakers) const override {
    for (const std::string& speaker : speakers) {
      for (const SpeakerVoice& voice : pool_->voices) {
        if (voice.name != speaker) continue;
        throw Error(fmt::format(
            "target voice-ind: speaker '{}' has the name of a voice of the pool, and the "
            "bound holds for a pool without the protected speakers (--target-pool, or "
            "another name where it is another person)",
            speaker));
      }
    }
  }

  // By the utterance's own embedding wherever in it, or by the mean of the speaker's.
  SpeakerVoice Draw(const TargetUnit& unit, Gender gender,
                    const SourceVoices* sources) const override {
    const bool per_speaker = draws_.How() == Strategy::kPerm;
    const std::vector<float> source = per_speaker ? sources->MeanPrint(unit.speaker)
                                                  : sources->Print(unit.speaker, unit.utterance);
    // Names that no utterance's id can make alike.
    ledger_.Enter(unit.utterance,
                  {unit.speaker, per_speaker ? ""
                                 : unit.pause == 0
                                     ? fmt::format("beginning of {}", unit.utterance)
                                     : fmt::format("pause {} of {}", unit.pause, unit.utterance)});
    return pool_
        ->voices[targets_.Draw(draws_, gender, unit.speaker, unit.utterance, source, unit.pause)];
  }

  // With strategy perm one for each speaker, of an empty name.
  std::vector<TargetDraw> DrawsMade(const std::string& utterance) const override {
    return ledger_.Of(utterance);
  }

 private:
  std::shared_ptr<const SpeakerPool> pool_;
  VoiceIndTargets targets_;
  TargetDraws draws_;
  std::shared_ptr<const SpeakerEncoder> encoder_;
  std::optional<std::size_t> held_after_;
  mutable DrawLedger ledger_;
};

class Rule : public TargetRule {
 public:
  Rule()
      : TargetRule("voice-ind",
                   "a voice of a pool chosen by the source's embedding, with a proven bound",
                   OwnParameters()) {}

  bool LooksAtSource() const override { return true; }

  void Check(const ParameterValues& values) const override {
    const std::optional<double> eps = values.Number("eps");
    if (!eps) throw Error("target voice-ind needs --eps: there is no default epsilon");
    VoiceIndMechanism{*eps};  // refuses what is no epsilon
    if (values.Has("max-draws") && !values.Has("streaming")) {
      throw Error(
          "--max-draws is for --streaming --target voice-ind, which draws again after pauses");
    }
  }

  void CheckStrategy(const ParameterValues& values, Strategy strategy) const override {
    if (strategy == Strategy::kConst) {
      throw Error("--target voice-ind: strategy const has no source to choose by (perm or random)");
    }
    const bool after_pauses = DrawsAfterPauses(values, strategy);
    const bool bounded = values.Has("max-draws");
    if (after_pauses && !bounded) {
      throw Error(
          "--target voice-ind with --streaming and strategy random draws again after pauses, and "
          "every draw costs epsilon: say with --max-draws N how many an utterance may have (the "
          "last is held)");
    }
    if (!after_pauses && bounded) {
      throw Error(fmt::format("--max-draws is for strategy random: {} draws once for a speaker",
                              sotto::Name(strategy)));
    }
  }

  void CheckStream() const override {
    throw Error(
        "--target voice-ind chooses by the embedding of the whole of an utterance, which a "
        "stream does not have (generated or pool; sotto anonymise --streaming for files)");
  }

  std::shared_ptr<const TargetChoice> Make(std::shared_ptr<const SpeakerPool> pool,
                                           double /*nearest*/, const ParameterValues& values,
                                           const TargetDraws& draws) const override {
    const std::optional<std::size_t> bound = MaxDraws(values);
    const bool after_pauses = DrawsAfterPauses(values, draws.How());
    return std::make_shared<BySource>(std::move(pool), EpsilonOfDraw(values), draws, bound,
                                      after_pauses ? bound : std::optional<std::size_t>(1));
  }

  std::size_t DrawsPerUtterance(const ParameterValues& values) const override {
    return MaxDraws(values).value_or(1);
  }

  double EpsilonOfDraw(const ParameterValues& values) const override {
    return values.Number("eps").value_or(0.0);
  }

  void AddToRecord(const ParameterValues& values, const RunFacts& run,
                   nlohmann::ordered_json& record) const override {
    const bool random = run.strategy == Strategy::kRandom;
    nlohmann::ordered_json own = {
        {"covers", kVoiceIndCovers},
        {"per", random ? "utterance" : "speaker"},
        {"cost", !random                   ? "one draw for each speaker"
                 : values.Has("max-draws") ? "k utterances of a speaker cost at most k * max_draws "
                                             "* eps"
                                           : "k utterances of a speaker cost k * eps"}};
    // Bounds that are known before the first draw: how many were made follows the pauses of the
    // speech, which eps does not cover.
    if (run.target_draws > 0) {
      own["draws_per_speaker_at_most"] = run.target_draws;
      own["eps_per_speaker"] = VoiceIndEpsilon(*values.Number("eps"), run.target_draws);
    }
    if (FollowsGender(values)) {
      own["outside_eps"] = "the speaker's gender, which the target's follows";
    }
    record["voice_ind"] = std::move(own);
  }

  std::vector<std::string> FitNotes(const ParameterValues& values,
                                    const RunFacts& run) const override {
    const double eps = *values.Number("eps");
    const double spent = VoiceIndEpsilon(eps, run.target_draws);
    std::vector<std::string> notes = {
        fmt::format("voice-ind: epsilon {:g} covers {}", eps, kVoiceIndCovers)};
    if (run.strategy == Strategy::kRandom) {
      const std::size_t most = DrawsPerUtterance(values);
      notes.push_back(
          values.Has("max-draws")
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
    if (FollowsGender(values)) {
      notes.push_back(
          fmt::format("voice-ind: --target-gender {} tells the speaker's gender, outside epsilon",
                      values.Value("target-gender")));
    }
    return notes;
  }

  PoolRuleRecord Known(const ParameterValues& values) const override {
    return {PoolRule::kNearest,
            fmt::format("{}, eps {:g}", TargetRule::Known(values).text, EpsilonOfDraw(values))};
  }

  std::string Remark(const ParameterValues& values, Strategy strategy) const override {
    const std::optional<std::size_t> bound = MaxDraws(values);
    return fmt::format("; this eps covers {}, and k utterances with strategy random cost k * eps{}",
                       kVoiceIndCovers,
                       bound ? fmt::format(" for each of up to {} draws", *bound)
                       : DrawsAfterPauses(values, strategy)
                           ? " and more: an earlier version drew after every pause and did not "
                             "count, so no bound is known"
                           : "");
  }
};

}  // namespace

std::shared_ptr<const TargetRule> VoiceIndRule() { return std::make_shared<const Rule>(); }

}  // namespace sotto

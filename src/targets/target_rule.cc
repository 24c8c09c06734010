#include "targets/target_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "targets/voice_ind_targets.h"

namespace sotto {
namespace {

class FromDistribution : public TargetChoice {
 public:
  FromDistribution(const SpeakerPool& pool, double nearest, TargetDraws draws)
      : generator_(pool, nearest), draws_(std::move(draws)) {}

  SpeakerVoice Draw(const TargetUnit& unit, Gender gender,
                    const SourceVoices* /*sources*/) const override {
    return generator_.Draw(draws_, gender, unit.speaker, unit.Name());
  }

 private:
  PseudoSpeakers generator_;
  TargetDraws draws_;
};

class Generated : public TargetRule {
 public:
  Generated()
      : TargetRule("generated", "a voice that belongs to nobody", {TargetPoolParameter()}) {}

  std::shared_ptr<const TargetChoice> Make(std::shared_ptr<const SpeakerPool> pool, double nearest,
                                           const ParameterValues& /*values*/,
                                           const TargetDraws& draws) const override {
    return std::make_shared<FromDistribution>(*pool, nearest, draws);
  }
};

class OfPool : public TargetChoice {
 public:
  OfPool(std::shared_ptr<const SpeakerPool> pool, TargetDraws draws)
      : pool_(std::move(pool)), draws_(std::move(draws)) {}

  SpeakerVoice Draw(const TargetUnit& unit, Gender gender,
                    const SourceVoices* /*sources*/) const override {
    std::vector<const SpeakerVoice*> candidates;
    for (const SpeakerVoice& voice : pool_->voices) {
      if (voice.gender == gender) candidates.push_back(&voice);
    }
    if (candidates.empty()) throw Error("the pool has no voice of the target's gender");
    const double place = draws_.Uniform("target", 0.0, static_cast<double>(candidates.size()),
                                        unit.speaker, unit.Name());
    return *candidates[std::min(static_cast<std::size_t>(place), candidates.size() - 1)];
  }

 private:
  std::shared_ptr<const SpeakerPool> pool_;
  TargetDraws draws_;
};

class Pool : public TargetRule {
 public:
  Pool() : TargetRule("pool", "any voice of a pool", {TargetPoolParameter()}) {}

  std::shared_ptr<const TargetChoice> Make(std::shared_ptr<const SpeakerPool> pool,
                                           double /*nearest*/, const ParameterValues& /*values*/,
                                           const TargetDraws& draws) const override {
    return std::make_shared<OfPool>(std::move(pool), draws);
  }
};

}  // namespace

std::string TargetUnit::Name() const {
  return pause == 0 ? utterance : fmt::format("{} after pause {}", utterance, pause);
}

PoolRuleRecord TargetRule::Known(const ParameterValues& /*values*/) const {
  return {PoolRule::kIndependent, "target " + Name()};
}

TargetRules TargetRules::Blind() const {
  TargetRules blind;
  for (const auto& rule : All()) {
    if (!rule->LooksAtSource()) blind.Add(rule);
  }
  return blind;
}

const TargetRules& ProgramTargetRules() {
  static const TargetRules table = [] {
    TargetRules rules;
    rules.Add(std::make_shared<const Generated>());
    rules.Add(std::make_shared<const Pool>());
    rules.Add(VoiceIndRule());
    return rules;
  }();
  return table;
}

Parameter TargetPoolParameter() {
  return {.name = "target-pool",
          .kind = Parameter::Kind::kVoices,
          .unit = "FILE",
          .help = "Voices from sotto train voices; default: those that belong to the nets",
          .record = "target_pool",
          .must_be_recorded = true,
          .attack_flag = "pool",
          .after = "target"};
}

}  // namespace sotto

#include "speaker/protect_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "dp/allows.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

std::string Randomness(const ProtectOptions& options) {
  if (options.experiment_seed) return "seeded experiment: protects nobody";
  return options.key_file.empty() ? "fresh key from the operating system" : "key file";
}

const char* Text(ProtectPer per) { return per == ProtectPer::kSpeaker ? "speaker" : "utterance"; }

std::size_t DrawsPerSpeaker(const VoiceIndOptions& options, const ProtectCounts& counts) {
  return options.per == ProtectPer::kSpeaker ? 1 : counts.most_utterances;
}

ordered_json Allows(double eps) {
  return {{"eer_floor", EerFloor(eps, 0.0)}, {"auc_ceiling", AucCeiling(eps, 0.0)}};
}

ordered_json VoiceIndRecord(const VoiceIndOptions& options, const ProtectCounts& counts) {
  const std::size_t draws = DrawsPerSpeaker(options, counts);
  const double spent = EpsilonPerSpeaker(options, counts);
  ordered_json json = {{"epsilon", options.eps},
                       {"exponent", 0.5 * options.eps},
                       {"distance", "angular, arccos(cos)/pi"},
                       {"per", Text(options.per)},
                       {"candidates", counts.pool_voices}};
  json["guarantee"] = {
      {"definition", "Pr(y|x)/Pr(y|x') <= exp(epsilon * d(x, x'))"},
      {"protects", options.assignment_only
                       ? "the assignment alone: candidates may be protected speakers, whose "
                         "voiceprints the release then shows"
                       : "the voiceprint of each speaker"},
      {"draws_per_speaker_at_most", draws},
      {"epsilon_per_speaker", spent},
      {"covers",
       "the choice of voiceprint alone; ids, labels and anything else released are not covered"}};
  json["allows"] = Allows(spent);
  return json;
}

// N and N* as asked for or by their rule: how many there were for a speaker depends on the draw and
// on the speaker's gender.
ordered_json PoolRecord(const PoolOptions& options, const ProtectCounts& counts, bool plda) {
  ordered_json candidates = {{"all", counts.pool_voices}};
  if (!counts.pool_genders.empty()) {
    candidates = ordered_json::object();
    for (const auto& [gender, voices] : counts.pool_genders) {
      candidates[Name(gender)] = voices;
    }
  }
  return {{"region", options.region->Name()},
          {"gender", Name(options.gender)},
          {"distance", plda ? "plda" : "cosine"},
          {"per", Text(options.per)},
          {"candidates", candidates},
          {"N", options.n ? ordered_json(*options.n) : "min(200, half the candidates)"},
          {"N_star", options.n_star ? ordered_json(*options.n_star) : "half of N"},
          {"depends_on_source", options.DependsOnSource()},
          {"guarantee", "none that is formal: measure it with an attacker"}};
}

ordered_json HidingGuarantee(const HidingFacts& facts) {
  if (facts.noised == 0) return "none that is formal: measure it with an attacker";
  if (!facts.eps) {
    return "none: no noise was added (epsilon at use is infinite), and the noise of the training "
           "guarantees nothing";
  }
  return {{"definition", "Pr(y|z)/Pr(y|z') <= exp(epsilon) for all z, z' that the model can make"},
          {"protects", fmt::format("the {} coordinates with noise, of {} that the released "
                                   "voiceprint is made from",
                                   facts.noised, facts.latent)},
          {"draws_per_speaker_at_most", facts.draws},
          {"epsilon_per_speaker", facts.eps_speaker},
          {"covers",
           "these coordinates alone; the bound of the clip and the weights were learnt from other "
           "people's voiceprints, which are not private; ids, labels and anything else released "
           "are not covered"}};
}

ordered_json HidingRecord(const HidingFacts& facts) {
  ordered_json json = {
      {"model", facts.model}, {"attributes", facts.attributes}, {"dimension", facts.dimension}};
  json["epsilon"] = facts.eps ? ordered_json(*facts.eps) : ordered_json(nullptr);
  if (facts.eps) json["per"] = Text(facts.per);
  json["guarantee"] = HidingGuarantee(facts);
  if (facts.eps) json["allows"] = Allows(facts.eps_speaker);
  return json;
}

}  // namespace

ProtectCounts CountProtect(const EmbeddingSet& source) {
  ProtectCounts counts;
  counts.utterances = source.size();
  for (const auto& [speaker, places] : source.BySpeaker()) {
    ++counts.speakers;
    counts.most_utterances = std::max(counts.most_utterances, places.size());
  }
  return counts;
}

void CountPool(const EmbeddingSet& pool, ProtectCounts& counts) {
  const bool labelled = pool.WithoutGender().empty();
  for (const auto& [voice, places] : pool.BySpeaker()) {
    ++counts.pool_voices;
    if (labelled) ++counts.pool_genders[pool.genders.at(voice)];
  }
}

double EpsilonPerSpeaker(const VoiceIndOptions& options, const ProtectCounts& counts) {
  return VoiceIndBudget(options.eps, DrawsPerSpeaker(options, counts)).SequentialEpsilon(0.0);
}

std::string ProtectRecord(const ProtectOptions& options, const ProtectCounts& counts,
                          const std::optional<HidingFacts>& hiding, const std::string& version) {
  ordered_json record = {{"sotto", version}, {"verb", "protect-embedding"}};
  const auto* voice_ind = std::get_if<VoiceIndProtection>(&options.by);
  const auto* pool = std::get_if<PoolProtection>(&options.by);
  bool draws = true, context = false;
  if (voice_ind != nullptr) {
    record["method"] = "voice-ind";
    record["voice_ind"] = VoiceIndRecord(voice_ind->options, counts);
    context = !voice_ind->options.context.empty();
  } else if (pool != nullptr) {
    record["method"] = "pool";
    record["pool"] = PoolRecord(pool->options, counts, !pool->plda.empty());
    context = !pool->options.context.empty();
  } else {
    record["method"] = hiding->method;
    record["hiding"] = HidingRecord(*hiding);
    draws = hiding->eps.has_value();
    context = !std::get<HiderProtection>(options.by).options.context.empty();
  }
  record["randomness"] = draws ? Randomness(options) : "none: nothing is drawn";
  record["context_given"] = context;
  record["ids"] = "kept";
  record["counts"] = {{"utterances", counts.utterances}, {"speakers", counts.speakers}};
  if (counts.pool_voices > 0) record["counts"]["pool_voices"] = counts.pool_voices;
  record["complete"] = true;
  return DumpJson(record, 2) + "\n";
}

}  // namespace sotto

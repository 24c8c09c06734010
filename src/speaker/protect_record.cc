#include "speaker/protect_record.h"

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
  json["allows"] = {{"eer_floor", EerFloor(spent, 0.0)}, {"auc_ceiling", AucCeiling(spent, 0.0)}};
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

}  // namespace

ProtectCounts CountProtect(const EmbeddingSet& source, const EmbeddingSet& pool) {
  ProtectCounts counts;
  counts.utterances = source.size();
  for (const auto& [speaker, places] : source.BySpeaker()) {
    ++counts.speakers;
    counts.most_utterances = std::max(counts.most_utterances, places.size());
  }
  const bool labelled = pool.WithoutGender().empty();
  for (const auto& [voice, places] : pool.BySpeaker()) {
    ++counts.pool_voices;
    if (labelled) ++counts.pool_genders[pool.genders.at(voice)];
  }
  return counts;
}

double EpsilonPerSpeaker(const VoiceIndOptions& options, const ProtectCounts& counts) {
  return VoiceIndBudget(options.eps, DrawsPerSpeaker(options, counts)).SequentialEpsilon(0.0);
}

std::string ProtectRecord(const ProtectOptions& options, const ProtectCounts& counts,
                          const std::string& version) {
  const bool voice_ind = options.method == ProtectMethod::kVoiceInd;
  ordered_json record = {{"sotto", version}, {"verb", "protect-embedding"}};
  record["method"] = voice_ind ? "voice-ind" : "pool";
  if (voice_ind) {
    record["voice_ind"] = VoiceIndRecord(options.voice_ind, counts);
  } else {
    record["pool"] = PoolRecord(options.pool_options, counts, !options.plda.empty());
  }
  record["randomness"] = Randomness(options);
  record["context_given"] =
      !(voice_ind ? options.voice_ind.context : options.pool_options.context).empty();
  record["ids"] = "kept";
  record["counts"] = {{"utterances", counts.utterances},
                      {"speakers", counts.speakers},
                      {"pool_voices", counts.pool_voices}};
  record["complete"] = true;
  return DumpJson(record, 2) + "\n";
}

}  // namespace sotto

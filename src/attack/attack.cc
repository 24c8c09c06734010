#include "attack/attack.h"

#include <fmt/format.h>

#include <algorithm>

#include "attack/attack_sound.h"
#include "audio/pairing.h"
#include "base/error.h"
#include "base/files.h"
#include "release/release_record.h"
#include "speaker/embed_corpus.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Of a release of embeddings, whose record lies beside them.
void ReadPoolRule(const fs::path& released, const MethodTable& methods, AttackMaterial& material) {
  const fs::path file = RecordFile(released);
  if (!fs::exists(file)) {
    material.absent[Attacker::kPoolRule] = fmt::format(
        "'{}' has no sotto-run.json that tells how pseudonyms were chosen", released.string());
    return;
  }
  SetPoolRule(ParsePoolRule(ReadTextFile(file), file.string(), methods), material);
}

EmbeddingSet ReadJoined(const std::vector<fs::path>& folders, const std::string& what) {
  std::vector<EmbeddingSet> sets;
  for (const fs::path& folder : folders) {
    RequireSameEncoder(folders.front(), folder);
    sets.push_back(ReadEmbeddings(folder));
    if (!sets.back().HasSpeakers()) {
      throw Error(fmt::format("'{}': no speakers (utt2spk)", folder.string()));
    }
  }
  return JoinEmbeddings(sets, what);
}

LadderResult AttackEmbeddings(const AttackOptions& o) {
  AttackMaterial material;
  const auto optional = [](const std::vector<fs::path>& folders,
                           const char* what) -> std::optional<EmbeddingSet> {
    if (folders.empty()) return std::nullopt;
    return ReadJoined(folders, what);
  };
  material.base.original = ReadJoined(o.embeddings_original, "original embeddings");
  material.base.released = ReadJoined(o.embeddings_released, "protected embeddings");
  RequireSameEncoder(o.embeddings_original.front(), o.embeddings_released.front());
  material.base.own_enrolment = optional(o.embeddings_enrolment, "the attacker's enrolment");
  material.base.background = optional(o.embeddings_background, "background");
  material.base.own_background =
      optional(o.embeddings_background_protected, "protected background");
  if (!o.embeddings_retrained_released.empty()) {
    material.retrained.emplace();
    material.retrained->released =
        ReadJoined(o.embeddings_retrained_released, "release by the retrained encoder");
    material.retrained->own_enrolment =
        optional(o.embeddings_retrained_enrolment, "enrolment by the retrained encoder");
    material.retrained->own_background =
        optional(o.embeddings_retrained_background, "background by the retrained encoder");
  }
  material.absent = {
      {Attacker::kWithinRelease, std::string(InfoOf(Attacker::kWithinRelease).lacks)},
      {Attacker::kWords, "given embeddings: there are no transcripts"},
      {Attacker::kInformed, "given embeddings: it needs sound and the key of the release"},
      {Attacker::kSemiInformedQuick,
       "it needs protected background embeddings (--embeddings-background-protected)"}};
  ReadPoolRule(o.embeddings_released.front(), o.method_table, material);
  PairById(material.base.original->ids, material.base.released.ids,
           {.original = "originals",
            .released = "release",
            .what = "embeddings",
            .may_lack_released = true});
  const TrialPlan plan(*material.base.original, o.plan);
  LadderResult result = RunLadder(plan, material, o.ladder);
  if (plan.Excluded() > 0) {
    result.notes.push_back(
        fmt::format("{} speakers without a gender were left out", plan.Excluded()));
  }
  return result;
}

}  // namespace

void AttackOptions::Validate() const {
  const bool corpora = !original.empty() || !released.empty();
  if (corpora == (GivesEmbeddings() || !embeddings_released.empty())) {
    throw Error("give either --original and --protected, or embeddings of both");
  }
  if (corpora && (original.empty() || released.empty())) {
    throw Error("--original and --protected belong together");
  }
  if (!corpora && (embeddings_original.empty() || embeddings_released.empty())) {
    throw Error("--embeddings-original and --embeddings-protected belong together");
  }
  const bool sound_only = !background.empty() || !attacker_encoder.empty() || !key_file.empty() ||
                          seed.has_value() || !encoder.empty();
  if (!corpora && sound_only) {
    throw Error("--background, --encoder, --attacker-encoder, --key and --seed go with corpora");
  }
  if (embeddings_retrained_released.empty() != embeddings_retrained_enrolment.empty()) {
    throw Error("embeddings by a retrained encoder are needed of release and enrolment");
  }
  for (const int n :
       {informed_trials, informed_enrolment, background_speakers, background_utterances}) {
    if (n < 0) throw Error("limits are 0 (none) or above");
  }
}

LadderResult Attack(const AttackOptions& options) {
  options.Validate();
  AttackOptions complete = options;
  complete.ladder.unlabelled = options.plan.unlabelled;
  // The published lists enrol all utterances of a speaker.
  std::vector<int>& l = complete.plan.l;
  const bool has_all = std::find(l.begin(), l.end(), 0) != l.end();
  if (!options.trial_lists.empty() && !has_all) l.push_back(0);
  for (const fs::path& list : options.trial_lists) {
    const auto lines = ParseTrialList(ReadTextFile(list), list.string());
    complete.plan.listed.insert(complete.plan.listed.end(), lines.begin(), lines.end());
  }
  return complete.GivesEmbeddings() ? AttackEmbeddings(complete) : AttackSound(complete);
}

}  // namespace sotto

#include "targets/voice_ind_targets.h"

#include <fmt/format.h>

#include "base/error.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {

const char* const kVoiceIndCovers =
    "the choice of the target voice alone: content and pitch still depend on the speaker";

VoiceIndTargets::VoiceIndTargets(const SpeakerPool& pool, double eps) : eps_(eps) {
  const VoiceIndMechanism refuses_what_it_cannot_do(eps);
  std::map<Gender, std::vector<std::size_t>> of;
  for (std::size_t i = 0; i < pool.voices.size(); ++i) {
    if (!places_.emplace(pool.voices[i].name, i).second) {
      throw Error(fmt::format("two voices '{}' in the pool", pool.voices[i].name));
    }
    of[pool.voices[i].gender].push_back(i);
  }
  for (const auto& [gender, voices] : of) {
    EmbeddingSet& set = candidates_[gender];
    const auto size = static_cast<Eigen::Index>(pool.voices[voices[0]].embedding.size());
    set.vectors.resize(size, static_cast<Eigen::Index>(voices.size()));
    for (std::size_t k = 0; k < voices.size(); ++k) {
      const SpeakerVoice& voice = pool.voices[voices[k]];
      set.ids.push_back(voice.name);
      set.vectors.col(static_cast<Eigen::Index>(k)) =
          Eigen::Map<const Eigen::VectorXf>(voice.embedding.data(), size);
    }
    set.speakers = set.ids;
  }
}

std::size_t VoiceIndTargets::Draw(const TargetDraws& draws, Gender gender,
                                  const std::string& speaker, const std::string& utterance,
                                  const std::vector<float>& source, std::size_t pause) const {
  if (draws.How() == Strategy::kConst) {
    throw Error("target voice-ind: strategy const has no source to choose by (perm or random)");
  }
  const auto candidates = candidates_.find(gender);
  if (candidates == candidates_.end()) {
    throw Error("the pool has no voice of the target's gender");
  }
  const bool per_speaker = draws.How() == Strategy::kPerm;
  EmbeddingSet one;
  one.ids = {per_speaker ? speaker : utterance};
  // A name that no candidate has: whether speakers are in the pool is asked before (neural_method).
  one.speakers = {"the source"};
  one.vectors =
      Eigen::Map<const Eigen::VectorXf>(source.data(), static_cast<Eigen::Index>(source.size()));
  VoiceIndOptions options;
  options.eps = eps_;
  options.per = ProtectPer::kUtterance;  // the set holds what one draw is for
  const std::string parameter = per_speaker  ? "voice-ind speaker"
                                : pause == 0 ? "voice-ind utterance"
                                             : fmt::format("voice-ind after pause {}", pause);
  const VoiceIndRelease release =
      ReleaseVoiceInd(one, candidates->second, options, draws.Derive(parameter, ""));
  // Candidates are in order of name there.
  std::map<std::string, std::size_t> ordered;
  for (const std::string& name : candidates->second.ids) ordered[name] = places_.at(name);
  return std::next(ordered.begin(), static_cast<std::ptrdiff_t>(release.drawn[0]))->second;
}

double VoiceIndEpsilon(double eps, std::size_t draws) {
  Budget budget;
  PrivacyEvent event = VoiceIndMechanism(eps).Event();
  event.count = draws;
  budget.Spend(event);
  return budget.SequentialEpsilon(0.0);
}

}  // namespace sotto

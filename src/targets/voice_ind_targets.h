// Targets by voice-indistinguishability (speaker/voice_indistinguishability.h): one of the voices
// of a public pool, drawn with more weight the nearer it lies to the source's embedding, so that
// who sees which voice was taken learns no more about the source than exp(eps·d) for two sources at
// the distance d.
//
// What the eps covers: the choice of the voice among the candidates, nothing else. Content and
// pitch go through the method as they do with any target and still depend on the speaker. Every
// draw for a speaker costs eps: one with strategy perm, k with random and k utterances, and as many
// again for each stretch between pauses where a stream draws anew. Where the target's gender
// follows the source's, the candidates tell that gender, outside eps; a drawn gender does not look
// at the source and costs nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "speaker/embeddings.h"
#include "targets/pseudo_speakers.h"
#include "targets/target_rule.h"
#include "targets/targets.h"

namespace sotto {

class VoiceIndTargets {
 public:
  // Throws Error for an eps that the mechanism refuses, or two voices of one name.
  VoiceIndTargets(const SpeakerPool& pool, double eps);

  // A place in the pool's voices, for a source with this embedding. perm draws by the speaker's id,
  // random by the utterance's and the pause after which it speaks (0: it begins), under a key for
  // each: no id can make two draws share their randomness. Each draw checks the bound on the matrix
  // it was drawn from. Throws Error for const, which has no source to choose by, and where the pool
  // has no such voice.
  std::size_t Draw(const TargetDraws& draws, Gender gender, const std::string& speaker,
                   const std::string& utterance, const std::vector<float>& source,
                   std::size_t pause = 0) const;

 private:
  double eps_;
  std::map<std::string, std::size_t> places_;  // name to place
  std::map<Gender, EmbeddingSet> candidates_;
};

// What so many draws for one speaker cost together.
double VoiceIndEpsilon(double eps, std::size_t draws);

// The rule that chooses so.
std::shared_ptr<const TargetRule> VoiceIndRule();

// What an eps covers here, in one sentence for records, notes and pages.
extern const char* const kVoiceIndCovers;

}  // namespace sotto

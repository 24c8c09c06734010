// The voices to be protected, as far as a method has to know them, and the targets chosen for them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "targets/pitch.h"
#include "targets/pool.h"
#include "targets/voice_models.h"

namespace sotto {

// What stands for the embedding of an utterance that is not among the sources.
enum class UnknownPrint {
  kRefuse,         // nothing: Error
  kMeanOfSpeaker,  // an attacker's guess at it
};

class SourceVoices {
 public:
  // Voices that a corpus run has just modelled; those that failed are an Error once asked for.
  explicit SourceVoices(ModelledVoices modelled, UnknownPrint unknown = UnknownPrint::kRefuse);
  // A profile. One with a single voice is the user's own and serves every speaker.
  explicit SourceVoices(VoiceProfile profile);

  // Error when the speaker is not among them.
  const VoiceModel& Find(const std::string& speaker) const;
  // The mean of the speaker's embeddings (each of length 1), or the embedding of one utterance.
  // Error for an utterance that could not be embedded or is unknown, or a speaker without any.
  std::vector<float> MeanPrint(const std::string& speaker) const;
  std::vector<float> Print(const std::string& speaker, const std::string& utterance) const;
  // Of `speaker` to voice `target` of the pool.
  ClassTargets Targets(const std::string& speaker, const VoicePool& pool, std::size_t target) const;

 private:
  std::size_t Index(const std::string& speaker) const;

  std::vector<VoiceModel> voices_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, std::string> failures_;
  std::optional<VoiceProfile> profile_;
  Voiceprints prints_;
  UnknownPrint unknown_ = UnknownPrint::kRefuse;
};

// Draws target voices and pitch from a pool for the speakers and utterances of a run.
class TargetVoices {
 public:
  // A profile, where given, must have been fitted to `pool`: Error otherwise.
  TargetVoices(VoicePool pool, TargetDraws draws, PitchMode pitch, TargetGender gender,
               std::optional<VoiceProfile> profile);

  // True when targets or pitch depend on the source and no profile tells about it yet.
  bool NeedsFit(bool needs_classes) const;
  bool FollowGender() const { return gender_ != TargetGender::kRandom; }
  void Fit(SourceVoices sources) { sources_ = std::move(sources); }

  PitchMap Pitch(const std::string& speaker, const std::string& utterance) const;
  const VoiceModel& Source(const std::string& speaker) const;
  ClassTargets Targets(const std::string& speaker, const std::string& utterance) const;
  const TargetDraws& Draws() const { return draws_; }

 private:
  std::size_t Choose(const std::string& speaker, const std::string& utterance) const;

  VoicePool pool_;
  TargetDraws draws_;
  PitchMode pitch_;
  TargetGender gender_;
  std::optional<SourceVoices> sources_;
};

}  // namespace sotto

#include "targets/source_voices.h"

#include <fmt/format.h>

#include "base/error.h"
#include "targets/vtln.h"

namespace sotto {

SourceVoices::SourceVoices(ModelledVoices modelled, UnknownPrint unknown)
    : voices_(std::move(modelled.voices)),
      failures_(std::move(modelled.failures)),
      prints_(std::move(modelled.prints)),
      unknown_(unknown) {
  for (std::size_t i = 0; i < voices_.size(); ++i) index_[voices_[i].name] = i;
}

SourceVoices::SourceVoices(VoiceProfile profile) : profile_(std::move(profile)) {
  voices_ = profile_->voices;
  for (std::size_t i = 0; i < voices_.size(); ++i) index_[voices_[i].name] = i;
}

std::size_t SourceVoices::Index(const std::string& speaker) const {
  if (profile_ && voices_.size() == 1) return 0;
  const auto found = index_.find(speaker);
  if (found != index_.end()) return found->second;
  const auto failure = failures_.find(speaker);
  throw Error(failure != failures_.end()
                  ? failure->second
                  : fmt::format("speaker '{}' is not in the profile", speaker));
}

const VoiceModel& SourceVoices::Find(const std::string& speaker) const {
  return voices_[Index(speaker)];
}

std::vector<float> SourceVoices::MeanPrint(const std::string& speaker) const {
  const EmbeddingSet& set = prints_.set;
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(set.vectors.rows());
  std::size_t count = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.speakers[i] != speaker) continue;
    sum += set.vectors.col(static_cast<Eigen::Index>(i)).normalized();
    ++count;
  }
  if (count == 0) {
    throw Error(
        fmt::format("speaker '{}': no utterance has an embedding, so there is no target{}", speaker,
                    prints_.failures.empty() ? "" : "; " + prints_.failures.begin()->second));
  }
  return {sum.data(), sum.data() + sum.size()};
}

std::vector<float> SourceVoices::Print(const std::string& speaker,
                                       const std::string& utterance) const {
  const auto failure = prints_.failures.find(utterance);
  if (failure != prints_.failures.end()) throw Error(failure->second);
  const EmbeddingSet& set = prints_.set;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.ids[i] != utterance || set.speakers[i] != speaker) continue;
    const auto column = set.vectors.col(static_cast<Eigen::Index>(i));
    return {column.data(), column.data() + column.size()};
  }
  if (unknown_ == UnknownPrint::kMeanOfSpeaker) return MeanPrint(speaker);
  throw Error(fmt::format("utterance '{}' of speaker '{}' has no embedding, so there is no target",
                          utterance, speaker));
}

ClassTargets SourceVoices::Targets(const std::string& speaker, const VoicePool& pool,
                                   std::size_t target) const {
  const std::size_t i = Index(speaker);
  return profile_ ? profile_->targets[i * profile_->pool_size + target]
                  : FitClasses(voices_[i], pool.voices[target]);
}

TargetVoices::TargetVoices(VoicePool pool, TargetDraws draws, PitchMode pitch, TargetGender gender,
                           std::optional<VoiceProfile> profile)
    : pool_(std::move(pool)), draws_(std::move(draws)), pitch_(pitch), gender_(gender) {
  if (!profile) return;
  if (profile->pool_checksum != pool_.checksum || profile->pool_size != pool_.voices.size()) {
    throw Error("the profile was fitted to another pool: give that one (--pool) or fit again");
  }
  sources_ = SourceVoices(*std::move(profile));
}

bool TargetVoices::NeedsFit(bool needs_classes) const {
  return !sources_ && (needs_classes || pitch_ == PitchMode::kTarget);
}

const VoiceModel& TargetVoices::Source(const std::string& speaker) const {
  if (!sources_) throw Error(fmt::format("the method has not been fitted to '{}'", speaker));
  return sources_->Find(speaker);
}

std::size_t TargetVoices::Choose(const std::string& speaker, const std::string& utterance) const {
  const VoiceModel& source = Source(speaker);
  const Gender gender = source.gender == Gender::kUnknown
                            ? GuessGender(source.log_f0_mean, pool_.voices)
                            : source.gender;
  return DrawTarget(draws_, pool_, gender_, gender, speaker, utterance);
}

PitchMap TargetVoices::Pitch(const std::string& speaker, const std::string& utterance) const {
  switch (pitch_) {
    case PitchMode::kTarget:
      return PitchToTarget(Source(speaker), pool_.voices[Choose(speaker, utterance)]);
    case PitchMode::kRandom:
      return DrawPitch(draws_, speaker, utterance);
    case PitchMode::kKeep:
      break;
  }
  return {};
}

ClassTargets TargetVoices::Targets(const std::string& speaker, const std::string& utterance) const {
  const std::size_t target = Choose(speaker, utterance);
  return sources_->Targets(speaker, pool_, target);
}

}  // namespace sotto

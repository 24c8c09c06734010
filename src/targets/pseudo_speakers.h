// Voices that nobody has: drawn from a distribution fitted to a public pool of voices, without a
// look at the voice to be protected, so that the choice says nothing about it.
//
// For each gender a normal distribution of the pool's embeddings (each of length 1), with Ledoit &
// Wolf's (2004) shrinkage of the covariance S towards its mean variance, since a pool has fewer
// voices than an embedding has components. A draw needs no decomposition:
//   x = μ + √(1−λ)·Σᵢ gᵢ·(xᵢ − μ)/√n + √(λ·tr S/p)·h,   g, h standard normal
// and the pitch (mean and deviation of ln F0) is drawn by the same g, so that it fits the voice.
// A draw that lies too near a voice of the pool is drawn again: no target is a real person.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "nn/safetensors.h"
#include "targets/pitch.h"
#include "targets/pool.h"
#include "targets/targets.h"

namespace sotto {

struct SpeakerVoice : PitchLevel {
  std::string name;
  Gender gender = Gender::kUnknown;
  std::vector<float> embedding;
};

// Voices by embedding: what the neural method takes its targets from. The file is safetensors with
// metadata sotto.kind "voices", sotto.names and sotto.genders (JSON lists), sotto.encoder (what
// made the embeddings, WeightsFingerprint()), and tensors embeddings (n × size), pitch (n × 2).
struct SpeakerPool {
  std::vector<SpeakerVoice> voices;
  std::string encoder;
};
SpeakerPool ReadSpeakerPool(const TensorFile& file);
TensorFile WriteSpeakerPool(const SpeakerPool& pool);
// One voice for each speaker: the mean of the utterances' embeddings (each of length 1), pitch over
// all voiced frames. Throws Error with counts when a speaker has no gender or no voiced frames.
SpeakerPool MakeSpeakerPool(const SpeechPack& pack, const FeaturePack& features);

// The cosine above which a voice counts as one of the pool, for embeddings that were trained to
// tell speakers apart.
inline constexpr double kNearestVoice = 0.85;
// The same for other embeddings: the median over the pool's voices of the cosine to the nearest
// other voice, so that a new voice stands no nearer to a person than people stand to one another.
double UsualNearest(const SpeakerPool& pool);

class PseudoSpeakers {
 public:
  // Throws Error with counts when a gender has fewer than 10 voices or a voice is not complete.
  // `nearest`: draws with a larger cosine to a voice of the pool are drawn again.
  explicit PseudoSpeakers(const SpeakerPool& pool, double nearest = kNearestVoice);

  // A voice of this gender for this speaker and utterance, by the strategy of `draws`. Throws Error
  // when a hundred draws in a row lie too near a voice of the pool.
  SpeakerVoice Draw(const TargetDraws& draws, Gender gender, const std::string& speaker,
                    const std::string& utterance) const;

  // The shrinkage λ of a gender's covariance.
  double Shrinkage(Gender gender) const { return groups_.at(gender).shrinkage; }

 private:
  struct Group {
    Eigen::VectorXd mean, pitch_mean;
    Eigen::MatrixXd centred, pitch_centred;   // one voice a column
    double shrinkage = 0.0, isotropic = 0.0;  // λ, tr S/p
  };
  static Group Fit(const Eigen::MatrixXd& embeddings, const Eigen::MatrixXd& pitch);

  std::map<Gender, Group> groups_;
  Eigen::MatrixXd pool_;  // all voices, of length 1, one a column
  double nearest_;
};

// The gender of a target: the source's, the other, or one drawn. Throws Error when the rule needs a
// source's gender that is not known.
Gender TargetGenderFor(const TargetDraws& draws, TargetGender rule, Gender source,
                       const std::string& speaker, const std::string& utterance);

}  // namespace sotto

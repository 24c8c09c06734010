#include <cmath>
#include <numeric>

#include "assess/trials.h"
#include "assess/verify.h"
#include "base/parallel.h"
#include "sotto/sotto.h"
#include "speaker/embed_corpus.h"

namespace sotto {

std::vector<float> SpeakerEmbedding(const std::filesystem::path& file) {
  static const std::unique_ptr<SpeakerEncoder> encoder = OpenEncoder(kDefaultEncoder);
  std::vector<float> embedding = EmbedFile(*encoder, file);
  const float length =
      std::sqrt(std::inner_product(embedding.begin(), embedding.end(), embedding.begin(), 0.0F));
  for (float& x : embedding) x /= length;
  return embedding;
}

std::vector<Figure> VerificationFigures(std::span<const double> same_speaker,
                                        std::span<const double> different_speakers, int resamples) {
  Trials trials;
  trials.scores.assign(same_speaker.begin(), same_speaker.end());
  trials.is_target.assign(same_speaker.size(), 1);
  trials.scores.insert(trials.scores.end(), different_speakers.begin(), different_speakers.end());
  trials.is_target.resize(trials.scores.size(), 0);
  VerifyOptions options;
  options.resamples = resamples;
  options.jobs = DefaultJobs();
  return Verify(trials, MakeLevels(trials), options).figures;
}

}  // namespace sotto

#include "attack/voice_ind_study.h"

#include <algorithm>
#include <utility>

namespace sotto {

VoiceIndStudy StudyVoiceInd(const std::filesystem::path& in, const std::filesystem::path& pool,
                            CurveOptions options, const Key& key) {
  const EmbeddingSet source = ReadSource(in);
  const EmbeddingSet voices = ReadPoolEmbeddings(pool);
  std::sort(options.eps.begin(), options.eps.end());
  if (options.n.empty()) {
    const std::size_t all = voices.BySpeaker().size();
    options.n = {std::max<std::size_t>(1, all / 16), std::max<std::size_t>(1, all / 4), all};
  }
  VoiceIndStudy study;
  study.attacker = options.plda.empty() ? "ignorant, cosine" : "ignorant, PLDA";
  study.speakers = source.BySpeaker().size();
  study.repeats = options.repeats;
  for (CurvePoint& point : VoiceIndCurve(source, voices, options, key)) {
    const ScoreLevels levels = MakeLevels(point.tar, point.non);
    study.points.push_back({std::move(point), MeasureScores(levels, VerifyOptions{})});
  }
  return study;
}

}  // namespace sotto

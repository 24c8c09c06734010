#include "attack/calibrate_cosine.h"

#include <fmt/format.h>

#include "assess/calibration.h"
#include "assess/trials.h"
#include "base/error.h"
#include "speaker/scoring.h"

namespace sotto {

LlrCalibration CalibrateCosine(const EmbeddingSet& set) {
  const std::size_t speakers = set.BySpeaker().size();
  if (speakers < 2 || speakers == set.size()) {
    throw Error(
        fmt::format("calibration: {} utterances of {} speakers; two speakers, one of them "
                    "with two utterances, are wanted",
                    set.size(), speakers));
  }
  const Eigen::MatrixXf scores = CosineScores(set.vectors, set.vectors);
  Trials trials;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      trials.scores.push_back(scores(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
      trials.is_target.push_back(set.speakers[i] == set.speakers[j] ? 1 : 0);
    }
  }
  const LinearCalibration fitted = FitLinearCalibration(MakeLevels(trials));
  return {fitted.a, fitted.b};
}

}  // namespace sotto

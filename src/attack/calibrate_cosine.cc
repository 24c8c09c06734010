#include "attack/calibrate_cosine.h"

#include <fmt/format.h>

#include <utility>

#include "assess/calibration.h"
#include "assess/trials.h"
#include "base/error.h"
#include "nn/encoder_net.h"
#include "speaker/embed_corpus.h"
#include "speaker/scoring.h"

namespace sotto {

LlrCalibration CalibrateCosine(const EmbeddingSet& set) {
  const std::size_t speakers = set.BySpeaker().size();
  if (speakers < 2 || speakers == set.size()) {
    throw Error(
        fmt::format("calibration: {} utterances of {} speakers; two speakers, one of them "
                    "with two utterances, are needed",
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

CalibratedEncoder CalibrateEncoder(const CalibrationRun& run) {
  TensorFile file = ReadTensorFile(run.encoder);
  if (!run.average.empty()) {
    std::vector<TensorFile> nets = {std::move(file)};
    for (const auto& path : run.average) nets.push_back(ReadTensorFile(path));
    file = AverageNets(nets);
  }
  const auto embed = [&](const std::filesystem::path& corpus, StoredAs stored) {
    const auto encoder = ParseEncoder(SerialiseTensorFile(file, stored), run.encoder.string());
    return EmbedCorpus(*encoder, ListUtterances({corpus}), {run.jobs, {}}).set;
  };
  if (!run.centre.empty()) {
    const Eigen::VectorXf mean = embed(run.centre, StoredAs::kFloat32).vectors.rowwise().mean();
    CentreEmbeddings(file, {mean.data(), static_cast<std::size_t>(mean.size())});
  }
  const EmbeddingSet set = embed(run.corpus, run.stored);
  const LlrCalibration calibration = CalibrateCosine(set);
  WriteCalibration(calibration, file);
  return {std::move(file), calibration, set.size(), set.BySpeaker().size()};
}

}  // namespace sotto

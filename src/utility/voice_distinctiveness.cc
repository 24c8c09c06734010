#include "utility/voice_distinctiveness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "assess/panels.h"
#include "assess/similarity.h"
#include "base/error.h"

namespace sotto {
namespace {

using Vectors = std::vector<std::vector<float>>;

Vectors UnitVectors(std::span<const std::vector<float>> vectors) {
  Vectors unit(vectors.begin(), vectors.end());
  for (std::vector<float>& v : unit) {
    double sum = 0.0;
    for (const float value : v) sum += static_cast<double>(value) * value;
    if (sum <= 0.0) throw Error("an embedding is zero");
    const auto scale = static_cast<float>(1.0 / std::sqrt(sum));
    for (float& value : v) value *= scale;
  }
  return unit;
}

// All pairs i ≠ j; `symmetric`: each once.
SegmentComparisons Compare(const Vectors& a, const Vectors& b, bool symmetric,
                           const std::vector<std::uint32_t>& speaker_of,
                           const std::vector<std::string>& names) {
  SegmentComparisons out;
  out.speakers = names;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = symmetric ? i + 1 : 0; j < b.size(); ++j) {
      if (i == j) {
        ++out.n_identical_removed;
        continue;
      }
      double score = 0.0;
      for (std::size_t k = 0; k < a[i].size(); ++k) {
        score += static_cast<double>(a[i][k]) * b[j][k];
      }
      out.scores.push_back(score);
      out.spk_a.push_back(speaker_of[i]);
      out.spk_b.push_back(speaker_of[j]);
    }
  }
  return out;
}

}  // namespace

Figure MeasureVoiceDistinctiveness(std::span<const std::vector<float>> original,
                                   std::span<const std::vector<float>> released,
                                   std::span<const std::string> speakers,
                                   const IntervalOptions& intervals) {
  Figure figure;
  figure.name = "g_vd_db";
  figure.unit = "dB";
  figure.value = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, std::uint32_t> number;
  std::map<std::string, std::size_t> utterances;
  for (const std::string& speaker : speakers) {
    number.emplace(speaker, 0);
    ++utterances[speaker];
  }
  std::vector<std::string> names;
  for (auto& [name, index] : number) {
    index = static_cast<std::uint32_t>(names.size());
    names.push_back(name);
  }
  figure.counts = {{"n_speakers", names.size()}, {"n_utterances", speakers.size()}};
  const auto alone = std::count_if(utterances.begin(), utterances.end(),
                                   [](const auto& entry) { return entry.second < 2; });
  if (names.size() < 2 || alone > 0) {
    figure.remark = "needs two speakers with two utterances each; here " +
                    std::to_string(names.size()) + " speakers, " + std::to_string(alone) +
                    " of them with one utterance";
    return figure;
  }
  std::vector<std::uint32_t> speaker_of;
  for (const std::string& speaker : speakers) speaker_of.push_back(number[speaker]);
  try {
    const Vectors o = UnitVectors(original), p = UnitVectors(released);
    const SimilarityResult result = MeasureSimilarity(Compare(o, o, true, speaker_of, names),
                                                      Compare(o, p, false, speaker_of, names),
                                                      Compare(p, p, true, speaker_of, names));
    const Panel panel = SimilarityPanel(result, intervals);
    for (const Figure& one : panel.figures) {
      if (one.name != "g_vd_db") continue;
      const auto counts = std::move(figure.counts);
      figure = one;
      figure.counts = counts;
    }
  } catch (const Error& error) {
    figure.remark = error.what();
  }
  if (!std::isfinite(figure.value) && figure.remark.empty()) {
    figure.remark = "the similarity matrices are flat";
  }
  return figure;
}

}  // namespace sotto

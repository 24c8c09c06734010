#include "spoof/spoof_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "assess/levels.h"
#include "assess/verification.h"
#include "spoof/spoof_features.h"

namespace sotto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kAllAttacks = "all attacks";

// Scores of one kind of speech: genuine, or one attack.
struct Side {
  std::vector<std::vector<double>> by_speaker;
  std::size_t n = 0;

  std::vector<double> Drawn(const std::vector<double>& weights) const {
    std::vector<double> all;
    for (std::size_t s = 0; s < by_speaker.size(); ++s) {
      for (int copy = 0; copy < static_cast<int>(weights[s]); ++copy) {
        all.insert(all.end(), by_speaker[s].begin(), by_speaker[s].end());
      }
    }
    return all;
  }
};

double ShareAccepted(const std::vector<double>& scores, double threshold) {
  const auto n =
      std::count_if(scores.begin(), scores.end(), [&](double score) { return score >= threshold; });
  return scores.empty() ? kNaN : static_cast<double>(n) / static_cast<double>(scores.size());
}

Figure MakeFigure(const std::string& name, const std::string& attack, std::size_t n_bona,
                  std::size_t n_spoof) {
  Figure figure;
  figure.name = name;
  figure.unit = "probability";
  figure.direction = Direction::kLowerIsBetter;
  figure.attacker = attack;
  figure.counts = {{"n_bona_fide", n_bona}, {"n_spoof", n_spoof}};
  return figure;
}

}  // namespace

std::size_t SpoofScores::Refused() const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const SpoofRow& row) { return !row.refused.empty(); }));
}

SpoofScores ScoreCorpora(const SpoofModel& model, const SpoofCorpora& corpora, int jobs) {
  SpoofScores scores{
      model.name, model.front_end.Fingerprint(), model.Threshold(), model.net.decision_only, {}};
  const auto& utterances = corpora.list.utterances;
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    scores.rows.push_back({utterances[i].id,
                           utterances[i].speaker,
                           corpora.attacks[i],
                           corpora.bona_fide[i],
                           0.0,
                           false,
                           {}});
  }
  const auto trouble = HearUtterances(
      corpora.list, AllOf(corpora.list), jobs, [&](std::size_t i, std::span<const float> x) {
        scores.rows[i].score = model.Score(SpoofFeatures(x));
        scores.rows[i].accepted = scores.rows[i].score >= scores.threshold;
      });
  for (std::size_t i = 0; i < trouble.size(); ++i) scores.rows[i].refused = trouble[i];
  return scores;
}

std::string FormatSpoofScores(const SpoofScores& scores) {
  std::string text = "utt\tattack\tkey\tscore\tdecision\n";
  for (const SpoofRow& row : scores.rows) {
    if (!row.refused.empty()) continue;
    text += fmt::format("{}\t{}\t{}\t{:.6f}\t{}\n", row.utterance, row.attack,
                        !row.bona_fide   ? "-"
                        : *row.bona_fide ? "bonafide"
                                         : "spoof",
                        row.score, row.accepted ? "genuine" : "spoof");
  }
  return text;
}

std::optional<SpoofFigures> MeasureSpoof(const SpoofScores& scores,
                                         const IntervalOptions& intervals) {
  std::map<std::string, std::map<std::string, std::vector<double>>> by_attack;
  for (const SpoofRow& row : scores.rows) {
    if (!row.bona_fide || !row.refused.empty()) continue;
    by_attack[*row.bona_fide ? "" : row.attack][row.speaker].push_back(row.score);
  }
  if (!by_attack.contains("") || by_attack.size() < 2) return std::nullopt;
  std::vector<Side> sides;  // genuine first
  std::vector<std::string> names;
  for (const auto& [attack, speakers] : by_attack) {
    names.push_back(attack);
    Side& side = sides.emplace_back();
    for (const auto& [speaker, values] : speakers) {
      side.by_speaker.push_back(values);
      side.n += values.size();
    }
  }
  const auto measure = [&](const std::vector<std::vector<double>>& weights) {
    const std::vector<double> bona = sides[0].Drawn(weights[0]);
    std::vector<double> all, values(1);
    for (std::size_t a = 1; a < sides.size(); ++a) {
      const std::vector<double> spoof = sides[a].Drawn(weights[a]);
      values.push_back(EerArgmin(MakeLevels(bona, spoof)));
      all.insert(all.end(), spoof.begin(), spoof.end());
    }
    values[0] = EerArgmin(MakeLevels(bona, all));
    values.push_back(1.0 - ShareAccepted(bona, scores.threshold));
    values.push_back(ShareAccepted(all, scores.threshold));
    return values;
  };
  SpoofFigures result;
  std::size_t n_spoof = 0, voices = 0;
  for (std::size_t a = 1; a < sides.size(); ++a) {
    n_spoof += sides[a].n;
    voices += sides[a].by_speaker.size();
  }
  const std::size_t n_bona = sides[0].n;
  result.figures.push_back(MakeFigure("cm_eer", kAllAttacks, n_bona, n_spoof));
  for (std::size_t a = 1; a < sides.size(); ++a) {
    result.figures.push_back(MakeFigure("cm_eer " + names[a], names[a], n_bona, sides[a].n));
  }
  result.figures.push_back(MakeFigure("p_miss", kAllAttacks, n_bona, 0));
  result.figures.push_back(MakeFigure("p_fa", kAllAttacks, 0, n_spoof));
  std::vector<std::vector<double>> once;
  once.reserve(sides.size());
  for (const Side& side : sides) once.emplace_back(side.by_speaker.size(), 1.0);
  const std::vector<double> values = measure(once);
  for (std::size_t k = 0; k < values.size(); ++k) result.figures[k].value = values[k];
  AddIntervals(result.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    std::vector<std::vector<double>> weights;
    weights.reserve(sides.size());
    for (const Side& side : sides) weights.push_back(DrawUnits(rng, side.by_speaker.size()));
    return measure(weights);
  });
  result.bootstrap =
      intervals.resamples == 0
          ? "none"
          : fmt::format(
                "speaker-level ({} genuine speakers, {} voices of attacks), {} resamples, "
                "seed {}",
                sides[0].by_speaker.size(), voices, intervals.resamples, intervals.seed);
  return result;
}

}  // namespace sotto

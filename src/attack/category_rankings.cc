#include "attack/category_rankings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "assess/verification.h"

namespace sotto {

using Eigen::Index;

CategoryRankings::CategoryRankings(const Eigen::Ref<const Eigen::MatrixXf>& scores,
                                   const std::vector<int>& category,
                                   const std::vector<std::size_t>& speaker,
                                   const std::vector<int>& fold) {
  const std::set<int> folds =
      fold.empty() ? std::set<int>{0} : std::set<int>(fold.begin(), fold.end());
  // Of two categories the first alone has a row; figures of the second would be the same.
  for (Index k = 0; k < scores.rows(); ++k) {
    for (const int one : folds) {
      std::vector<double> values;
      std::vector<std::uint8_t> is;
      std::vector<std::size_t> speakers;
      for (std::size_t i = 0; i < category.size(); ++i) {
        if (!fold.empty() && fold[i] != one) continue;
        values.push_back(scores(k, static_cast<Index>(i)));
        is.push_back(category[i] == k ? 1 : 0);
        speakers.push_back(speaker[i]);
      }
      const auto n = std::count(is.begin(), is.end(), std::uint8_t{1});
      if (n == 0 || n == std::ssize(is)) continue;
      rankings_.push_back({k, std::move(speakers), WeightedLevels(values, is)});
    }
  }
}

ScoreLevels CategoryRankings::Ranking::Weighted(const std::vector<double>& weights) const {
  std::vector<double> of_vector;
  of_vector.reserve(speakers.size());
  for (const std::size_t speaker : speakers) of_vector.push_back(weights[speaker]);
  ScoreLevels weighed = levels.Levels();
  levels.Weigh(of_vector, weighed);
  return weighed;
}

double CategoryRankings::AreaUnderCurve(const std::vector<double>& weights) const {
  std::map<Index, std::pair<double, double>> won;  // of a category: pairs won and all pairs
  for (const Ranking& ranking : rankings_) {
    const ScoreLevels levels = ranking.Weighted(weights);
    const double pairs = levels.n_tar * levels.n_non;
    if (pairs == 0.0) continue;
    won[ranking.category].first += pairs * Auc(levels);
    won[ranking.category].second += pairs;
  }
  double sum = 0.0;
  for (const auto& [category, pairs] : won) sum += pairs.first / pairs.second;
  return sum / static_cast<double>(won.size());
}

double CategoryRankings::Eer(const std::vector<double>& weights) const {
  double sum = 0.0, n = 0.0;
  for (const Ranking& ranking : rankings_) {
    const ScoreLevels levels = ranking.Weighted(weights);
    if (levels.n_tar == 0.0 || levels.n_non == 0.0) continue;
    sum += EerInterpolated(levels);
    n += 1.0;
  }
  return sum / n;
}

}  // namespace sotto

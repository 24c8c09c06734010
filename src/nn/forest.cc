#include "nn/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"

namespace sotto {
namespace {

using Eigen::Index;

constexpr std::size_t kBins = 256;

// Every feature's values as the number of the bin they lie in, and the borders between bins.
struct Binned {
  std::size_t n = 0;
  std::vector<std::vector<std::uint8_t>> codes;  // [feature][example]
  std::vector<std::vector<float>> borders;       // [feature][code]: code or lower is at or below

  explicit Binned(const Eigen::Ref<const Eigen::MatrixXf>& x)
      : n(static_cast<std::size_t>(x.cols())) {
    for (Index f = 0; f < x.rows(); ++f) Add(x.row(f));
  }

 private:
  void Add(const Eigen::RowVectorXf& values) {
    std::vector<float> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> distinct = sorted;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > kBins) {
      // The highest value of each bin.
      std::vector<float> tops;
      for (std::size_t b = 1; b <= kBins; ++b) tops.push_back(sorted[b * n / kBins - 1]);
      tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
      std::vector<float> kept;
      kept.reserve(tops.size());
      for (const float top : tops) kept.push_back(BorderAbove(distinct, top));
      borders.push_back(std::move(kept));
    } else {
      std::vector<float> kept;
      kept.reserve(distinct.size());
      for (const float value : distinct) kept.push_back(BorderAbove(distinct, value));
      borders.push_back(std::move(kept));
    }
    std::vector<std::uint8_t> code(n);
    const std::vector<float>& border = borders.back();
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = std::lower_bound(border.begin(), border.end(), values[static_cast<Index>(i)]);
      code[i] = static_cast<std::uint8_t>(
          std::min<std::ptrdiff_t>(at - border.begin(), std::ssize(border) - 1));
    }
    codes.push_back(std::move(code));
  }

  // Halfway to the next value there is, the value itself where floats leave no room between them.
  static float BorderAbove(const std::vector<float>& distinct, float value) {
    const auto next = std::upper_bound(distinct.begin(), distinct.end(), value);
    if (next == distinct.end()) return value;
    const float half = value + (*next - value) / 2.0F;
    return half < *next ? half : value;
  }
};

struct Split {
  std::size_t feature = 0;
  int code = -1;  // at or below: left; −1: none
  double purity = -std::numeric_limits<double>::infinity();
};

class TreeGrower {
 public:
  TreeGrower(const Binned& data, const std::vector<int>& labels, int n_categories,
             const ForestOptions& options, SeededRng& rng)
      : data_(data),
        labels_(labels),
        categories_(static_cast<std::size_t>(n_categories)),
        min_leaf_(static_cast<std::size_t>(options.min_leaf)),
        rng_(rng),
        features_(data.codes.size()),
        sums_(kBins * categories_),
        counts_(kBins) {
    tree_.gains.resize(features_.size());
    std::iota(features_.begin(), features_.end(), std::size_t{0});
    tried_ = options.features > 0 ? static_cast<std::size_t>(options.features)
                                  : static_cast<std::size_t>(std::lround(
                                        std::sqrt(static_cast<double>(features_.size()))));
    tried_ = std::clamp<std::size_t>(tried_, 1, features_.size());
  }

  // From those examples whose weight is above 0.
  Forest::Tree Grow(const std::vector<double>& weights) {
    weights_ = &weights;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] > 0.0) places_.push_back(static_cast<std::uint32_t>(i));
    }
    tree_.nodes.emplace_back();
    struct Open {
      std::size_t node, begin, end;
    };
    std::vector<Open> open = {{0, 0, places_.size()}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      const Split split = FindSplit(at.begin, at.end);
      if (split.code < 0) {
        MakeLeaf(at.node, at.begin, at.end);
        continue;
      }
      tree_.gains[split.feature] += split.purity - PurityOf(at.begin, at.end);
      const std::vector<std::uint8_t>& code = data_.codes[split.feature];
      const auto first = places_.begin() + static_cast<std::ptrdiff_t>(at.begin);
      const auto middle =
          std::partition(first, places_.begin() + static_cast<std::ptrdiff_t>(at.end),
                         [&](std::uint32_t i) { return static_cast<int>(code[i]) <= split.code; });
      const auto cut = static_cast<std::size_t>(middle - places_.begin());
      const std::size_t children = tree_.nodes.size();
      tree_.nodes[at.node] = {static_cast<int>(split.feature),
                              data_.borders[split.feature][static_cast<std::size_t>(split.code)],
                              static_cast<int>(children)};
      tree_.nodes.resize(children + 2);
      open.push_back({children + 1, cut, at.end});
      open.push_back({children, at.begin, cut});
    }
    return std::move(tree_);
  }

 private:
  void MakeLeaf(std::size_t node, std::size_t begin, std::size_t end) {
    tree_.nodes[node] = {-1, 0.0F, static_cast<int>(tree_.shares.size())};
    std::vector<double> share(categories_);
    double sum = 0.0;
    for (std::size_t k = begin; k < end; ++k) {
      share[Label(places_[k])] += (*weights_)[places_[k]];
      sum += (*weights_)[places_[k]];
    }
    for (const double one : share) tree_.shares.push_back(static_cast<float>(one / sum));
  }

  std::size_t Label(std::uint32_t i) const { return static_cast<std::size_t>(labels_[i]); }

  bool Pure(std::size_t begin, std::size_t end) const {
    return std::all_of(places_.begin() + static_cast<std::ptrdiff_t>(begin),
                       places_.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](std::uint32_t i) { return Label(i) == Label(places_[begin]); });
  }

  double PurityOf(std::size_t begin, std::size_t end) const {
    std::vector<double> sums(categories_);
    for (std::size_t k = begin; k < end; ++k) sums[Label(places_[k])] += (*weights_)[places_[k]];
    return Purity(sums);
  }

  // Features are drawn until enough of them differ within the node.
  Split FindSplit(std::size_t begin, std::size_t end) {
    Split best;
    if (end - begin < 2 * min_leaf_ || Pure(begin, end)) return best;
    std::size_t useful = 0;
    for (std::size_t drawn = 0; drawn < features_.size() && useful < tried_; ++drawn) {
      std::swap(features_[drawn], features_[drawn + rng_.Below(features_.size() - drawn)]);
      useful += TrySplits(features_[drawn], begin, end, best) ? 1 : 0;
    }
    return best;
  }

  // False where the feature is the same for all.
  bool TrySplits(std::size_t feature, std::size_t begin, std::size_t end, Split& best) {
    const std::uint8_t* code = data_.codes[feature].data();
    std::size_t low = kBins, high = 0;
    std::vector<double> left(categories_), right(categories_);
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t i = places_[k];
      const std::size_t bin = code[i];
      low = std::min(low, bin);
      high = std::max(high, bin);
      sums_[bin * categories_ + Label(i)] += (*weights_)[i];
      ++counts_[bin];
      right[Label(i)] += (*weights_)[i];
    }
    std::size_t n_left = 0;
    for (std::size_t bin = low; bin < high; ++bin) {
      n_left += counts_[bin];
      if (counts_[bin] == 0) continue;
      for (std::size_t c = 0; c < categories_; ++c) {
        left[c] += sums_[bin * categories_ + c];
        right[c] -= sums_[bin * categories_ + c];
      }
      if (n_left < min_leaf_ || end - begin - n_left < min_leaf_) continue;
      const double purity = Purity(left) + Purity(right);
      if (purity > best.purity) best = {feature, static_cast<int>(bin), purity};
    }
    const auto range = [&](auto& all, std::size_t width) {
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(low * width),
                all.begin() + static_cast<std::ptrdiff_t>((high + 1) * width), 0);
    };
    range(sums_, categories_);
    range(counts_, 1);
    return low < high;
  }

  // Σ w_c²/Σ w_c: the larger the sum over both sides, the lower their Gini impurity.
  static double Purity(const std::vector<double>& weights) {
    double sum = 0.0, squares = 0.0;
    for (const double w : weights) {
      sum += w;
      squares += w * w;
    }
    return sum > 0.0 ? squares / sum : 0.0;
  }

  const Binned& data_;
  const std::vector<int>& labels_;
  std::size_t categories_, min_leaf_, tried_ = 1;
  SeededRng& rng_;
  const std::vector<double>* weights_ = nullptr;
  std::vector<std::uint32_t> places_;
  std::vector<std::size_t> features_;
  std::vector<double> sums_;  // weight in each bin and category, 0 between the calls
  std::vector<std::uint32_t> counts_;
  Forest::Tree tree_;
};

// Which vectors are whose.
struct Voices {
  std::vector<std::vector<std::size_t>> vectors;      // of each speaker
  std::vector<std::vector<std::size_t>> of_category;  // its speakers

  Voices(const std::vector<int>& labels, const std::vector<int>& speakers, int n_categories)
      : of_category(static_cast<std::size_t>(n_categories)) {
    std::map<int, std::size_t> number;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto [at, fresh] = number.emplace(speakers[i], vectors.size());
      if (fresh) {
        vectors.emplace_back();
        of_category[static_cast<std::size_t>(labels[i])].push_back(at->second);
      }
      vectors[at->second].push_back(i);
    }
  }

  // As many speakers of each category as it has, with replacement.
  std::vector<double> Draw(std::size_t n_vectors, SeededRng& rng) const {
    std::vector<double> weights(n_vectors);
    for (const auto& speakers : of_category) {
      for (std::size_t k = 0; k < speakers.size(); ++k) {
        const auto& own = vectors[speakers[rng.Below(speakers.size())]];
        for (const std::size_t i : own) {
          weights[i] += 1.0 / static_cast<double>(speakers.size() * own.size());
        }
      }
    }
    return weights;
  }
};

void CheckExamples(const Eigen::Ref<const Eigen::MatrixXf>& x, const std::vector<int>& labels,
                   const std::vector<int>& speakers, int n_categories) {
  if (x.cols() != std::ssize(labels) || labels.size() != speakers.size() || x.rows() == 0) {
    throw Error(
        fmt::format("forest: {} vectors of {} dimensions, {} labels and {} speakers: as "
                    "many are needed",
                    x.cols(), x.rows(), labels.size(), speakers.size()));
  }
  std::vector<bool> seen(static_cast<std::size_t>(std::max(n_categories, 0)));
  for (const int label : labels) {
    if (label < 0 || label >= n_categories) {
      throw Error(fmt::format("forest: label {} of {} categories", label, n_categories));
    }
    seen[static_cast<std::size_t>(label)] = true;
  }
  if (n_categories < 2 || std::count(seen.begin(), seen.end(), false) > 0) {
    throw Error("forest: two categories or more are needed, and examples of each");
  }
  if (!x.allFinite()) throw Error("forest: a vector is not finite");
}

// The mean over the trees of each feature's share of the tree's gains.
Eigen::VectorXd MeanGains(const std::vector<Forest::Tree>& trees, Index dimension) {
  Eigen::VectorXd importance = Eigen::VectorXd::Zero(dimension);
  for (const Forest::Tree& tree : trees) {
    const Eigen::Map<const Eigen::VectorXd> gains(tree.gains.data(), dimension);
    const double sum = gains.sum();
    if (sum > 0.0) importance += gains / sum;
  }
  const double sum = importance.sum();
  if (sum > 0.0) importance /= sum;
  return importance;
}

}  // namespace

void ForestOptions::Validate() const {
  if (trees < 1 || features < 0 || min_leaf < 1) {
    throw Error(fmt::format("forest: {} trees, {} features, leaves of {}: at least 1, 0 and 1",
                            trees, features, min_leaf));
  }
}

Forest Forest::Train(const Eigen::Ref<const Eigen::MatrixXf>& x, const std::vector<int>& labels,
                     const std::vector<int>& speakers, int n_categories,
                     const ForestOptions& options) {
  options.Validate();
  CheckExamples(x, labels, speakers, n_categories);
  Forest forest;
  forest.n_categories_ = n_categories;
  forest.dimension_ = x.rows();
  forest.trees_.resize(static_cast<std::size_t>(options.trees));
  const Binned binned(x);
  const Voices voices(labels, speakers, n_categories);
  // Every tree its own generator, whichever thread grows it.
  SeededRng seeds(options.seed);
  std::vector<std::uint64_t> seed_of(forest.trees_.size());
  for (std::uint64_t& seed : seed_of) seed = seeds();
  ParallelFor(forest.trees_.size(), options.jobs, [&](std::size_t t) {
    SeededRng rng(seed_of[t]);
    const std::vector<double> weights = voices.Draw(labels.size(), rng);
    forest.trees_[t] = TreeGrower(binned, labels, n_categories, options, rng).Grow(weights);
  });
  forest.importance_ = MeanGains(forest.trees_, x.rows());
  return forest;
}

Eigen::MatrixXf Forest::Shares(const Eigen::Ref<const Eigen::MatrixXf>& x, int jobs) const {
  if (x.rows() != dimension_) {
    throw Error(fmt::format("forest: {} dimensions, it was trained for {}", x.rows(), dimension_));
  }
  Eigen::MatrixXf shares(n_categories_, x.cols());
  constexpr Index kChunk = 64;
  ParallelFor(static_cast<std::size_t>((x.cols() + kChunk - 1) / kChunk), jobs,
              [&](std::size_t chunk) {
                const Index begin = static_cast<Index>(chunk) * kChunk;
                for (Index t = begin; t < std::min(x.cols(), begin + kChunk); ++t) {
                  Eigen::VectorXd sum = Eigen::VectorXd::Zero(n_categories_);
                  for (const Tree& tree : trees_) {
                    const Node* node = tree.nodes.data();
                    while (node->feature >= 0) {
                      const bool right = !(x(node->feature, t) <= node->threshold);
                      node = tree.nodes.data() + node->next + (right ? 1 : 0);
                    }
                    for (Index c = 0; c < n_categories_; ++c) {
                      sum[c] += tree.shares[static_cast<std::size_t>(node->next + c)];
                    }
                  }
                  shares.col(t) = (sum / static_cast<double>(trees_.size())).cast<float>();
                }
              });
  return shares;
}

}  // namespace sotto

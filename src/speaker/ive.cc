#include "speaker/ive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "nn/forest.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr const char* kKept = "ive.kept";
constexpr const char* kDimension = "ive.dimension";

// Of each of the variables, for all attributes together.
Eigen::VectorXd Importance(const HiderData& data, const std::vector<int>& variables,
                           const IveOptions& options, int step) {
  const MatrixXf x = data.x(variables, Eigen::all);
  ForestOptions forest;
  forest.trees = options.trees;
  forest.jobs = options.jobs;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(x.rows());
  for (Index a = 0; a < data.categories.rows(); ++a) {
    const Eigen::VectorXi row = data.categories.row(a);
    forest.seed = options.seed + static_cast<std::uint64_t>(step);
    sum +=
        Forest::Train(
            x, {row.begin(), row.end()}, data.speaker,
            static_cast<int>(data.header.attributes[static_cast<std::size_t>(a)].categories.size()),
            forest)
            .Importance();
  }
  return sum;
}

class IveMethodEntry : public HiderMethod {
 public:
  IveMethodEntry()
      : HiderMethod("ive", "incremental variable elimination (Terhörst et al. 2019)",
                    {{.name = "steps",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", IveOptions{}.steps),
                      .help = "Steps of training and elimination"},
                     {.name = "share",
                      .kind = Parameter::Kind::kNumber,
                      .unit = "X",
                      .preset = fmt::format("{}", IveOptions{}.share),
                      .help = "Share of the variables left that each step eliminates"},
                     {.name = "trees",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", IveOptions{}.trees),
                      .help = "Trees of the ensemble"},
                     {.name = "seed",
                      .kind = Parameter::Kind::kCount,
                      .unit = "N",
                      .preset = fmt::format("{}", IveOptions{}.seed),
                      .help = "Of what is drawn in training"}}) {}

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    IveOptions options;
    options.steps = static_cast<int>(values.Number("steps").value_or(options.steps));
    options.share = values.Number("share").value_or(options.share);
    options.trees = static_cast<int>(values.Number("trees").value_or(options.trees));
    options.seed = static_cast<std::uint64_t>(
        values.Number("seed").value_or(static_cast<double>(options.seed)));
    options.jobs = DefaultJobs();
    Ive fitted = FitIve(data, options);
    const std::string settings =
        fmt::format("{} steps of {}, {} trees, seed {}: {} of {} variables left", options.steps,
                    options.share, options.trees, options.seed, fitted.kept.size(), data.x.rows());
    return std::make_unique<IveHider>(HeaderOf(data, Name(), settings), data.x.rows(),
                                      std::move(fitted.kept));
  }

  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return IveHider::Parse(file, std::move(header));
  }
};

}  // namespace

void IveOptions::Validate() const {
  if (steps < 1 || trees < 1 || !(share > 0.0 && share < 1.0)) {
    throw Error(
        fmt::format("ive: {} steps of {} with {} trees: 1 and more, a share above 0 and "
                    "below 1, 1 and more",
                    steps, share, trees));
  }
}

Ive FitIve(const HiderData& data, const IveOptions& options) {
  options.Validate();
  CheckHiderData(data);
  Ive out;
  out.kept.resize(static_cast<std::size_t>(data.x.rows()));
  std::iota(out.kept.begin(), out.kept.end(), 0);
  for (int step = 0; step < options.steps && out.kept.size() > 1; ++step) {
    ThrowIfCancelled();
    const Eigen::VectorXd importance = Importance(data, out.kept, options, step);
    const auto left = static_cast<double>(out.kept.size());
    const auto n =
        static_cast<std::size_t>(std::clamp(std::round(options.share * left), 1.0, left - 1.0));
    std::vector<Index> order(out.kept.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index i, Index j) { return importance[i] > importance[j]; });
    std::vector<int> gone;
    for (std::size_t k = 0; k < n; ++k)
      gone.push_back(out.kept[static_cast<std::size_t>(order[k])]);
    std::erase_if(out.kept, [&](int variable) {
      return std::find(gone.begin(), gone.end(), variable) != gone.end();
    });
    out.eliminated.push_back(std::move(gone));
  }
  return out;
}

IveHider::IveHider(HiderHeader header, Index dimension, std::vector<int> kept)
    : Hider(std::move(header), dimension), kept_(std::move(kept)) {
  const bool ascends =
      std::adjacent_find(kept_.begin(), kept_.end(), std::greater_equal<>()) == kept_.end();
  if (kept_.empty() || !ascends || kept_.front() < 0 || kept_.back() >= dimension) {
    throw Error(fmt::format("ive: the {} variables kept are none of {} in ascending order",
                            kept_.size(), dimension));
  }
}

std::unique_ptr<IveHider> IveHider::Parse(const TensorFile& file, HiderHeader header) {
  const IntegerTensor& kept = file.GetIntegers(kKept, {-1});
  const IntegerTensor& dimension = file.GetIntegers(kDimension, {1});
  return std::make_unique<IveHider>(std::move(header), dimension.values.at(0),
                                    std::vector<int>(kept.values.begin(), kept.values.end()));
}

void IveHider::Store(TensorFile& file) const {
  file.integers[kKept] = {{std::ssize(kept_)}, {kept_.begin(), kept_.end()}};
  file.integers[kDimension] = {{1}, {static_cast<std::int32_t>(Dimension())}};
}

MatrixXf IveHider::Latent(const Eigen::Ref<const MatrixXf>& x, const Categories&) const {
  return x(kept_, Eigen::all);
}

std::shared_ptr<const HiderMethod> IveMethod() { return std::make_shared<IveMethodEntry>(); }

}  // namespace sotto

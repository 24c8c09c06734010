#include "speaker/transport.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "speaker/adversarial_hider.h"
#include "speaker/hide_gender.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"
#include "speaker/linear_algebra.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A^p of a symmetric matrix; eigenvalues below a 1e-12 part of the largest count as that.
MatrixXd Power(const MatrixXd& a, double p) {
  const SymmetricEigen e = DecomposeSymmetric(a);
  const double least = 1e-12 * e.values.maxCoeff();
  return e.vectors * e.values.cwiseMax(least).array().pow(p).matrix().asDiagonal() *
         e.vectors.transpose();
}

// Speakers of one group in one corpus.
struct Cell {
  VectorXd mean;     // of the speakers' means
  MatrixXd between;  // covariance of the speakers' means
  MatrixXd total;    // of a voiceprint of any speaker: the means' own errors are not counted twice
  MatrixXd within;   // mean of the speakers' covariances; zeros where nobody has two voiceprints
  std::size_t speakers = 0;
  bool has_within = false;
};

Cell MeasureCell(const HiderData& data, const std::map<int, std::vector<Index>>& speakers) {
  const Index d = data.x.rows();
  Cell cell;
  cell.speakers = speakers.size();
  MatrixXd means(d, std::ssize(speakers));
  cell.within = MatrixXd::Zero(d, d);
  Index at = 0;
  std::size_t measured = 0;
  double inverse = 0.0;
  for (const auto& [speaker, places] : speakers) {
    MatrixXd x(d, std::ssize(places));
    for (Index i = 0; i < x.cols(); ++i)
      x.col(i) = data.x.col(places[static_cast<std::size_t>(i)]).cast<double>();
    means.col(at) = x.rowwise().mean();
    inverse += 1.0 / static_cast<double>(x.cols()) / static_cast<double>(speakers.size());
    if (x.cols() > 1) {
      x.colwise() -= means.col(at);
      cell.within.noalias() += x * x.transpose() / static_cast<double>(x.cols() - 1);
      ++measured;
    }
    ++at;
  }
  cell.has_within = measured > 0;
  if (measured > 0) cell.within /= static_cast<double>(measured);
  cell.mean = means.rowwise().mean();
  means.colwise() -= cell.mean;
  cell.between =
      means * means.transpose() / static_cast<double>(std::max<Index>(1, means.cols() - 1));
  cell.total = cell.between + (1.0 - inverse) * cell.within;
  return cell;
}

struct Domain {
  std::vector<Cell> groups;
  double weight = 0.0;  // √ of the harmonic mean of the groups' speakers; all add up to 1
};

// Corpora in which every group has two speakers or more; where there are none, all are one.
std::vector<Domain> MeasureCorpora(const HiderData& data, std::size_t n_groups, bool merged) {
  const std::vector<int> group = JointCategories(data.categories, data.header.attributes);
  std::map<int, std::vector<std::map<int, std::vector<Index>>>> places;
  for (std::size_t i = 0; i < group.size(); ++i) {
    auto& groups = places[merged ? 0 : data.domain[i]];
    groups.resize(n_groups);
    groups[static_cast<std::size_t>(group[i])][data.speaker[i]].push_back(static_cast<Index>(i));
  }
  std::vector<Domain> corpora;
  double sum = 0.0;
  for (const auto& [domain, groups] : places) {
    if (std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.size() < 2; })) {
      continue;
    }
    Domain corpus;
    double inverse = 0.0;
    for (const auto& speakers : groups) {
      corpus.groups.push_back(MeasureCell(data, speakers));
      inverse += 1.0 / static_cast<double>(speakers.size());
    }
    corpus.weight = std::sqrt(static_cast<double>(n_groups) / inverse);
    sum += corpus.weight;
    corpora.push_back(std::move(corpus));
  }
  for (Domain& corpus : corpora) corpus.weight /= sum;
  if (corpora.empty() && !merged) return MeasureCorpora(data, n_groups, true);
  if (corpora.empty()) throw Error("transport: each group needs two speakers or more");
  return corpora;
}

// Weighted mean over corpora of what `part` takes from a group's cell; those without are left out.
template <typename Part>
auto Mean(const std::vector<Domain>& corpora, std::size_t group, const Part& part,
          bool only_with_within = false) {
  auto sum = (0.0 * part(corpora.front().groups[group])).eval();
  double weights = 0.0;
  for (const Domain& corpus : corpora) {
    if (only_with_within && !corpus.groups[group].has_within) continue;
    sum += corpus.weight * part(corpus.groups[group]);
    weights += corpus.weight;
  }
  if (weights == 0.0) throw Error("transport: no speaker has two voiceprints");
  return (sum / weights).eval();
}

// How the groups' differences vary between corpora: the weighted scatter of each group's mean
// about the middle of its corpus, less the same over all corpora.
MatrixXd DifferenceScatter(const std::vector<Domain>& corpora, const std::vector<VectorXd>& means) {
  const double share = 1.0 / static_cast<double>(means.size());
  VectorXd common = VectorXd::Zero(means.front().size());
  for (const VectorXd& mean : means) common += share * mean;
  MatrixXd scatter = MatrixXd::Zero(common.size(), common.size());
  for (const Domain& corpus : corpora) {
    VectorXd centre = VectorXd::Zero(common.size());
    for (const Cell& cell : corpus.groups) centre += share * cell.mean;
    for (std::size_t g = 0; g < means.size(); ++g) {
      const VectorXd off = (corpus.groups[g].mean - centre) - (means[g] - common);
      scatter += corpus.weight * off * off.transpose();
    }
  }
  return scatter;
}

// How whole corpora are shifted: the weighted scatter of their middles.
MatrixXd ShiftScatter(const std::vector<Domain>& corpora) {
  std::vector<VectorXd> middles;
  VectorXd common = VectorXd::Zero(corpora.front().groups.front().mean.size());
  for (const Domain& corpus : corpora) {
    middles.emplace_back(VectorXd::Zero(common.size()));
    for (const Cell& cell : corpus.groups) {
      middles.back() += cell.mean / static_cast<double>(corpus.groups.size());
    }
    common += corpus.weight * middles.back();
  }
  MatrixXd scatter = MatrixXd::Zero(common.size(), common.size());
  for (std::size_t i = 0; i < corpora.size(); ++i) {
    const VectorXd off = middles[i] - common;
    scatter += corpora[i].weight * off * off.transpose();
  }
  return scatter;
}

// Turns columns from `first` on so that those with most of the scatter come first.
void TurnTowards(const MatrixXd& scatter, Index first, MatrixXd& basis, MatrixXd& turn) {
  const Index rest = basis.cols() - first;
  const MatrixXd own = basis.rightCols(rest);
  const MatrixXd vectors =
      DecomposeSymmetric(own.transpose() * scatter * own).vectors.rowwise().reverse();
  basis.rightCols(rest) = own * vectors;
  turn.rightCols(rest) = (turn.rightCols(rest) * vectors).eval();
}

}  // namespace

void TransportOptions::Validate() const {
  if (dimension < 2 || erased < 0 || erased_shifts < 0 || erased + erased_shifts > dimension - 2) {
    throw Error(fmt::format("transport: {} dimensions of which {} are erased: two must be left",
                            dimension, erased + erased_shifts));
  }
  if (!(shrink >= 0.0 && shrink <= 1.0) || !(within_floor > 0.0) || !(flattening >= 0.0)) {
    throw Error(
        "transport: shrink must lie in [0, 1], the floor above 0, flattening at 0 or above");
  }
}

MatrixXd GaussianTransport(const MatrixXd& from, const MatrixXd& to) {
  const MatrixXd root = Power(from, 0.5), inverse = Power(from, -0.5);
  return inverse * Power(root * to * root, 0.5) * inverse;
}

MatrixXd WassersteinBarycentre(const std::vector<MatrixXd>& covariances) {
  MatrixXd s = MatrixXd::Zero(covariances.front().rows(), covariances.front().cols());
  for (const MatrixXd& c : covariances) s += c / static_cast<double>(covariances.size());
  for (int step = 0; step < 100; ++step) {
    const MatrixXd root = Power(s, 0.5), inverse = Power(s, -0.5);
    MatrixXd mean = MatrixXd::Zero(s.rows(), s.cols());
    for (const MatrixXd& c : covariances) {
      mean += Power(root * c * root, 0.5) / static_cast<double>(covariances.size());
    }
    const MatrixXd next = inverse * mean * mean * inverse;
    const double moved = (next - s).norm() / s.norm();
    s = next;
    if (moved < 1e-12) break;
  }
  return s;
}

TransportSpace::TransportSpace(const HiderData& data, const TransportOptions& options)
    : options_(options) {
  options_.Validate();
  CheckHiderData(data);
  const std::size_t n_groups = CountJointCategories(data.header.attributes);
  const std::vector<Domain> corpora = MeasureCorpora(data, n_groups, false);
  const Index d = data.x.rows();
  MatrixXd within = MatrixXd::Zero(d, d), between = MatrixXd::Zero(d, d);
  std::vector<VectorXd> means;
  std::vector<MatrixXd> totals;
  const auto share = 1.0 / static_cast<double>(n_groups);
  for (std::size_t g = 0; g < n_groups; ++g) {
    within += share * Mean(
                          corpora, g, [](const Cell& c) { return c.within; }, true);
    between += share * Mean(
                           corpora, g, [](const Cell& c) { return c.between; }, true);
    means.push_back(Mean(corpora, g, [](const Cell& c) { return c.mean; }));
    totals.push_back(Mean(corpora, g, [](const Cell& c) { return c.total; }));
  }
  // What a speaker's voiceprints and the groups' differences do from one corpus to the next is what
  // speakers must stand out of (Fukunaga 1990, ch. 10).
  MatrixXd noise = within;
  noise.diagonal().array() += options_.within_floor * within.trace() / static_cast<double>(d);
  const MatrixXd scatter = DifferenceScatter(corpora, means);
  noise += 2.0 * scatter;
  const MatrixXd whitener = Power(noise, -0.5);
  const SymmetricEigen lda = DecomposeSymmetric(whitener * between * whitener);
  // No more coordinates than there are differences between speakers.
  const auto rank = static_cast<Index>((lda.values.array() > 1e-6 * lda.values.maxCoeff()).count());
  const Index k = std::min<Index>({options_.dimension, d, rank});
  if (k < 2) throw Error("transport: the speakers do not differ in two coordinates");
  const VectorXd ratios = lda.values.tail(k).reverse().cwiseMax(1e-9);
  basis_ = whitener * lda.vectors.rightCols(k).rowwise().reverse() *
           (1.0 + ratios.array()).rsqrt().matrix().asDiagonal();
  MatrixXd turn = MatrixXd::Identity(k, k);
  TurnTowards(scatter, 0, basis_, turn);
  // Deviations from a mean of all corpora: there are fewer directions than corpora.
  const auto n_corpora = static_cast<Index>(corpora.size());
  telling_ = std::min({static_cast<Index>(options_.erased),
                       (n_corpora - 1) * static_cast<Index>(n_groups - 1), k - 2});
  TurnTowards(ShiftScatter(corpora), telling_, basis_, turn);
  erased_ = telling_ +
            std::min({static_cast<Index>(options_.erased_shifts), n_corpora - 1, k - 2 - telling_});
  const VectorXd weights = (ratios.array() / (1.0 + ratios.array())).pow(options_.flattening);
  scale_ = (turn.transpose() * weights.asDiagonal() * turn).diagonal();
  for (std::size_t g = 0; g < n_groups; ++g) {
    means_.push_back(basis_.transpose() * means[g]);
    covariances_.push_back(basis_.transpose() * totals[g] * basis_);
  }
}

std::vector<AffineMap> TransportSpace::Maps(Index first, Index count) const {
  std::vector<MatrixXd> covariances;
  MatrixXd pooled = MatrixXd::Zero(count, count);
  for (const MatrixXd& c : covariances_) {
    covariances.emplace_back(c.block(first, first, count, count));
    pooled += covariances.back() / static_cast<double>(covariances_.size());
  }
  for (MatrixXd& c : covariances) c = (1.0 - options_.shrink) * c + options_.shrink * pooled;
  const MatrixXd common = WassersteinBarycentre(covariances);
  std::vector<AffineMap> maps;
  for (std::size_t g = 0; g < covariances.size(); ++g) {
    const MatrixXd map =
        scale_.segment(first, count).asDiagonal() * GaussianTransport(covariances[g], common);
    const MatrixXd whole = map * basis_.middleCols(first, count).transpose();
    maps.push_back({whole.cast<float>(), (-map * means_[g].segment(first, count)).cast<float>()});
  }
  return maps;
}

AffineHider FitTransport(const HiderData& data, const TransportOptions& options) {
  const TransportSpace space(data, options);
  const std::string settings =
      fmt::format("dimension {}, erased {} + {}, shrink {:g}, within floor {:g}, flattening {:g}",
                  options.dimension, space.Telling(), space.Erased() - space.Telling(),
                  options.shrink, options.within_floor, options.flattening);
  return {HeaderOf(data, "transport", settings),
          space.Maps(space.Erased(), space.Dimension() - space.Erased())};
}

namespace {

// Those of transport alone.
std::vector<Parameter> OwnParameters() {
  std::vector<Parameter> all = TransportParameters();
  all.push_back({.name = "fine-tune",
                 .kind = Parameter::Kind::kNumber,
                 .unit = "N",
                 .preset = "0",
                 .help = "Steps of training against an ensemble of attackers, of which the best on "
                         "held-out speakers is kept; they may find nothing better"});
  return all;
}

class Transport : public HiderMethod {
 public:
  Transport()
      : HiderMethod("transport",
                    "Each group's distribution onto the common one, for owners who tell their own "
                    "group (Wasserstein barycentre of Gaussians)",
                    OwnParameters()) {}

  std::string_view OwnModel() const override { return kHideGenderBytes; }
  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    const TransportOptions options = ReadTransportOptions(values);
    const auto fit = [&options](const HiderData& some) { return FitTransport(some, options); };
    FineTuneOptions training;
    training.steps = static_cast<int>(values.Number("fine-tune").value_or(0.0));
    return std::make_unique<AffineHider>(training.steps == 0 ? fit(data)
                                                             : FineTuneHider(data, fit, training));
  }
  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return AffineHider::Parse(file, std::move(header), true);
  }
};

}  // namespace

std::vector<Parameter> TransportParameters() {
  const TransportOptions preset;
  return {{.name = "dimension",
           .kind = Parameter::Kind::kCount,
           .preset = std::to_string(preset.dimension),
           .help = "Coordinates kept, the best for telling speakers apart: fewer hide more and "
                   "tell fewer speakers apart"},
          {.name = "erased",
           .kind = Parameter::Kind::kNumber,
           .preset = std::to_string(preset.erased),
           .help = "Directions left out, those in which the groups' difference varies most between "
                   "corpora"},
          {.name = "erased-shifts",
           .kind = Parameter::Kind::kNumber,
           .preset = std::to_string(preset.erased_shifts),
           .help = "Directions left out besides, those in which whole corpora are shifted"},
          {.name = "shrink",
           .kind = Parameter::Kind::kNumber,
           .preset = fmt::format("{:g}", preset.shrink),
           .help = "How far each group's covariance is moved towards the mean of all, 0 to 1"}};
}

TransportOptions ReadTransportOptions(const ParameterValues& values) {
  TransportOptions options;
  options.dimension = static_cast<int>(*values.Number("dimension"));
  options.erased = static_cast<int>(*values.Number("erased"));
  options.erased_shifts = static_cast<int>(*values.Number("erased-shifts"));
  options.shrink = *values.Number("shrink");
  options.Validate();
  return options;
}

std::shared_ptr<const HiderMethod> TransportMethod() { return std::make_shared<Transport>(); }

}  // namespace sotto

#include "speaker/erase_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "speaker/hider_data.h"
#include "speaker/hiders.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

// Columns whose L1 norm is above the bound are scaled down to it.
void ClipColumns(double bound, Eigen::Ref<MatrixXf> z) {
  for (Index i = 0; i < z.cols(); ++i) {
    const double norm = z.col(i).cast<double>().lpNorm<1>();
    if (norm > bound) z.col(i) *= static_cast<float>(bound / norm);
  }
}

double MedianL1(const MatrixXf& z) {
  VectorXf norms = z.cwiseAbs().colwise().sum();
  std::nth_element(norms.begin(), norms.begin() + norms.size() / 2, norms.end());
  return norms[norms.size() / 2];
}

}  // namespace

EraseNoiseHider::EraseNoiseHider(AffineHider maps, double bound, VectorXf gains)
    : Hider(maps.Header(), maps.Dimension()),
      maps_(std::move(maps)),
      bound_(bound),
      gains_(std::move(gains)) {
  const Index rows = maps_.Maps().front().matrix.rows();
  if (gains_.size() < 1 || gains_.size() >= rows) {
    throw Error(
        fmt::format("erase-noise: {} of {} coordinates are noised; one at least must be, "
                    "and one must not",
                    gains_.size(), rows));
  }
  if (!(bound_ > 0.0 && std::isfinite(bound_)) || !(gains_.minCoeff() >= 0.0F) ||
      !(gains_.maxCoeff() <= 1.0F)) {
    throw Error("erase-noise: the bound must be above 0, the weights in [0, 1]");
  }
}

MatrixXf EraseNoiseHider::Latent(const Eigen::Ref<const MatrixXf>& x,
                                 const Categories& categories) const {
  MatrixXf z = maps_.Latent(x, categories);
  ClipColumns(bound_, z.topRows(gains_.size()));
  return z;
}

MatrixXf EraseNoiseHider::FromLatent(const Eigen::Ref<const MatrixXf>& z) const {
  MatrixXf y = z;
  y.topRows(gains_.size()).array().colwise() *= gains_.array();
  return y;
}

void EraseNoiseHider::Store(TensorFile& file) const {
  file = maps_.File();
  file.tensors["noise.bound"] = {{1}, {static_cast<float>(bound_)}};
  file.tensors["noise.gains"] = {{gains_.size()}, {gains_.begin(), gains_.end()}};
}

std::unique_ptr<EraseNoiseHider> EraseNoiseHider::Parse(const TensorFile& file,
                                                        HiderHeader header) {
  const NamedTensor& gains = file.Get("noise.gains", {-1});
  return std::make_unique<EraseNoiseHider>(
      std::move(*AffineHider::Parse(file, std::move(header), true)),
      file.Get("noise.bound", {1}).values.front(),
      Eigen::Map<const VectorXf>(gains.values.data(), std::ssize(gains.values)));
}

EraseNoiseHider FitEraseNoise(const HiderData& data, const TransportOptions& options, double eps) {
  if (!(eps > 0.0 && std::isfinite(eps))) {
    throw Error(fmt::format("erase-noise: epsilon {} must be above 0", eps));
  }
  const TransportSpace space(data, options);
  if (space.Telling() == 0)
    throw Error("erase-noise: no coordinate to noise; erased must be above 0");
  // Shifts of corpora are left out as in transport: the telling coordinates stand first.
  std::vector<AffineMap> maps = space.Maps(0, space.Telling());
  const std::vector<AffineMap> others =
      space.Maps(space.Erased(), space.Dimension() - space.Erased());
  for (std::size_t g = 0; g < maps.size(); ++g) {
    MatrixXf matrix(maps[g].matrix.rows() + others[g].matrix.rows(), data.x.rows());
    matrix << maps[g].matrix, others[g].matrix;
    VectorXf offset(matrix.rows());
    offset << maps[g].offset, others[g].offset;
    maps[g] = {std::move(matrix), std::move(offset)};
  }
  AffineHider affine(
      HeaderOf(data, "erase-noise",
               fmt::format("dimension {}, noised {}, erased {}, shrink {:g}, weights for eps {:g}",
                           options.dimension, space.Telling(), space.Erased() - space.Telling(),
                           options.shrink, eps)),
      std::move(maps));
  MatrixXf z = affine.Latent(data.x, data.categories).topRows(space.Telling());
  const double bound = MedianL1(z);
  if (!(bound > 0.0)) throw Error("erase-noise: the coordinates to be noised are all zero");
  ClipColumns(bound, z);
  const double scale = 2.0 * bound / eps, noise = 2.0 * scale * scale;  // variance of Laplace noise
  VectorXf gains(z.rows());
  for (Index i = 0; i < gains.size(); ++i) {
    const double signal = z.row(i).squaredNorm() / static_cast<double>(z.cols());
    gains[i] = static_cast<float>(signal / (signal + noise));
  }
  return {std::move(affine), bound, std::move(gains)};
}

namespace {

class EraseNoise : public HiderMethod {
 public:
  EraseNoise()
      : HiderMethod("erase-noise",
                    "transport, and differentially private noise on the few coordinates that still "
                    "tell the groups apart",
                    Parameters()) {}

  HiderNoise Noise() const override { return HiderNoise::kNeeded; }

  std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const override {
    return std::make_unique<EraseNoiseHider>(
        FitEraseNoise(data, ReadTransportOptions(values), *values.Number("eps-weights")));
  }
  std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const override {
    return EraseNoiseHider::Parse(file, std::move(header));
  }

 private:
  static std::vector<Parameter> Parameters() {
    std::vector<Parameter> all = TransportParameters();
    all.push_back({.name = "eps-weights",
                   .kind = Parameter::Kind::kNumber,
                   .preset = "1",
                   .help = "The epsilon that the noised coordinates are weighted for"});
    return all;
  }
};

}  // namespace

std::shared_ptr<const HiderMethod> EraseNoiseMethod() { return std::make_shared<EraseNoise>(); }

}  // namespace sotto

#include "targets/envelope_classes.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "dsp/warp.h"

namespace sotto {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const Matrix>;

Matrix SpreadStart(const ConstMatrix& rows, Eigen::Index k, SeededRng& rng) {
  Matrix centres(k, rows.cols());
  centres.row(0) =
      rows.row(static_cast<Eigen::Index>(rng.Below(static_cast<std::uint64_t>(rows.rows()))));
  Eigen::VectorXf nearest = (rows.rowwise() - centres.row(0)).rowwise().squaredNorm();
  for (Eigen::Index c = 1; c < k; ++c) {
    double left = rng.Uniform() * nearest.cast<double>().sum();
    Eigen::Index chosen = 0;
    while (chosen + 1 < rows.rows() && left >= nearest[chosen]) left -= nearest[chosen++];
    centres.row(c) = rows.row(chosen);
    nearest = nearest.cwiseMin((rows.rowwise() - centres.row(c)).rowwise().squaredNorm());
  }
  return centres;
}

// ‖x − c‖² = ‖x‖² − 2x·c + ‖c‖²; the first term is the same for all c.
double Assign(const ConstMatrix& rows, const Matrix& centres, double row_energy,
              std::vector<int>& labels) {
  const Matrix scores =
      (-2.0F * rows * centres.transpose()).rowwise() + centres.rowwise().squaredNorm().transpose();
  double inertia = row_energy;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    Eigen::Index best = 0;
    inertia += scores.row(i).minCoeff(&best);
    labels[static_cast<std::size_t>(i)] = static_cast<int>(best);
  }
  return inertia;
}

Clusters Lloyd(const ConstMatrix& rows, Matrix centres, double row_energy) {
  constexpr int kMaxRounds = 100;
  Clusters found;
  found.labels.assign(static_cast<std::size_t>(rows.rows()), -1);
  std::vector<int> labels(found.labels.size());
  for (int round = 0; round < kMaxRounds; ++round) {
    found.inertia = Assign(rows, centres, row_energy, labels);
    if (labels == found.labels) break;
    found.labels = labels;
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(centres.rows(), centres.cols());
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(centres.rows());
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const int label = labels[static_cast<std::size_t>(i)];
      sums.row(label) += rows.row(i).cast<double>();
      counts[label] += 1.0;
    }
    for (Eigen::Index c = 0; c < centres.rows(); ++c) {
      // A class that lost all its frames keeps its place.
      if (counts[c] > 0.0) centres.row(c) = (sums.row(c) / counts[c]).cast<float>();
    }
  }
  found.centroids.assign(centres.data(), centres.data() + centres.size());
  return found;
}

}  // namespace

void RemoveMean(std::span<float> feature) {
  double sum = 0.0;
  for (const float value : feature) sum += value;
  const auto mean = static_cast<float>(sum / static_cast<double>(feature.size()));
  for (float& value : feature) value -= mean;
}

void EnvelopeFeature(std::span<const float> power, double top_hz, std::span<float> feature) {
  // Places of the points among the bins; nearest bins are 1024/fs apart, finer than the points.
  const double scale = static_cast<double>(power.size() - 1) / top_hz * kWarpTopHz /
                       static_cast<double>(feature.size() - 1);
  constexpr float kSmallest = 1e-20F;  // −200 dB
  for (std::size_t i = 0; i < feature.size(); ++i) {
    const double place =
        std::min(scale * static_cast<double>(i), static_cast<double>(power.size() - 1));
    const auto below = std::min(static_cast<std::size_t>(place), power.size() - 2);
    const auto part = static_cast<float>(place - static_cast<double>(below));
    feature[i] =
        std::log(std::max(kSmallest, power[below] + part * (power[below + 1] - power[below])));
  }
  RemoveMean(feature);
}

double SquaredDistance(std::span<const float> a, std::span<const float> b) {
  using Row = Eigen::Map<const Eigen::VectorXf>;
  const auto n = static_cast<Eigen::Index>(a.size());
  return static_cast<double>((Row(a.data(), n) - Row(b.data(), n)).squaredNorm());
}

Clusters KMeans(std::span<const float> rows, std::size_t dimension, std::size_t k, int restarts) {
  const std::size_t n = rows.size() / dimension;
  if (n < k) throw Error(fmt::format("{} frames are too few for {} classes", n, k));
  const ConstMatrix matrix(rows.data(), static_cast<Eigen::Index>(n),
                           static_cast<Eigen::Index>(dimension));
  const double row_energy = matrix.cast<double>().squaredNorm();
  SeededRng rng(1);
  Clusters best;
  best.inertia = std::numeric_limits<double>::infinity();
  for (int i = 0; i < restarts; ++i) {
    Clusters found =
        Lloyd(matrix, SpreadStart(matrix, static_cast<Eigen::Index>(k), rng), row_energy);
    if (found.inertia < best.inertia) best = std::move(found);
  }
  return best;
}

std::size_t NearestCentroid(std::span<const float> centroids, std::span<const float> feature) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k * feature.size() < centroids.size(); ++k) {
    const double d =
        SquaredDistance(centroids.subspan(k * feature.size(), feature.size()), feature);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  return best;
}

}  // namespace sotto

// Training of the mixture, of T and of the encoder. Sums run over a fixed number of parts, each in
// order, so that the result does not depend on the number of threads.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "speaker/ivector.h"
#include "speaker/lda.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

constexpr std::size_t kParts = 8;
constexpr Index kChunk = 2048;           // frames of one matrix product
constexpr std::size_t kBlock = 32;       // utterances of one matrix product
constexpr float kVarianceFloor = 0.01F;  // of the global variance
constexpr double kMinOccupancy = 10.0;   // frames; below, a component keeps its place

struct GmmSums {
  VectorXd n;
  MatrixXd f, s;
  double log_likelihood = 0.0;
};

class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - start_;
    start_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// `wanted` of 0 … n−1 without repetition, in increasing order.
std::vector<std::size_t> Sample(std::size_t n, std::size_t wanted, std::uint64_t seed) {
  std::vector<std::size_t> places(n);
  std::iota(places.begin(), places.end(), 0);
  if (wanted >= n) return places;
  SeededRng rng(seed);
  for (std::size_t i = 0; i < wanted; ++i) std::swap(places[i], places[i + rng.Below(n - i)]);
  places.resize(wanted);
  std::sort(places.begin(), places.end());
  return places;
}

// One utterance of each speaker after the other until there are enough. When that would leave less
// than two for each, fewer speakers: LDA learns from pairs.
std::vector<std::size_t> ChooseUtterances(const UtteranceList& list, std::size_t wanted,
                                          std::uint64_t seed) {
  std::map<std::string, std::vector<std::size_t>> by_speaker;
  for (std::size_t i = 0; i < list.utterances.size(); ++i) {
    by_speaker[list.utterances[i].speaker].push_back(i);
  }
  SeededRng rng(seed);
  while (by_speaker.size() > 2 && wanted < 2 * by_speaker.size()) {
    by_speaker.erase(
        std::next(by_speaker.begin(), static_cast<std::ptrdiff_t>(rng.Below(by_speaker.size()))));
  }
  for (auto& [speaker, places] : by_speaker) {
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      std::swap(places[i], places[i + rng.Below(places.size() - i)]);
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t round = 0; chosen.size() < wanted; ++round) {
    const std::size_t before = chosen.size();
    for (const auto& [speaker, places] : by_speaker) {
      if (round < places.size() && chosen.size() < wanted) chosen.push_back(places[round]);
    }
    if (chosen.size() == before) break;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// What the maximisation of T needs of some utterances.
struct TotalSums {
  MatrixXf a;  // R² × C: Σ n·E[w·wᵀ]
  MatrixXf b;  // C·D × R: Σ f·E[w]ᵀ
  VectorXf g;  // R²: Σ E[w·wᵀ]
};

void AddToSums(const TotalVariability& total, std::span<const BaumWelch> stats, TotalSums& sums) {
  const Index c = stats[0].n.size(), rows = stats[0].f.size(), r = total.t.cols();
  const auto count = static_cast<Index>(stats.size());
  MatrixXf counts(c, count), first(rows, count), w(r, count), moments(r * r, count);
  for (Index u = 0; u < count; ++u) {
    counts.col(u) = stats[static_cast<std::size_t>(u)].n;
    first.col(u) = stats[static_cast<std::size_t>(u)].f;
  }
  const MatrixXf precisions = total.products * counts;
  const MatrixXf projected = total.t.transpose() * first;
  for (Index u = 0; u < count; ++u) {
    MatrixXf precision = Eigen::Map<const MatrixXf>(precisions.col(u).data(), r, r);
    precision.diagonal().array() += 1.0F;
    const Eigen::LLT<MatrixXf> llt(precision);
    w.col(u) = llt.solve(projected.col(u));
    Eigen::Map<MatrixXf> moment(moments.col(u).data(), r, r);
    moment = llt.solve(MatrixXf::Identity(r, r));
    moment.noalias() += w.col(u) * w.col(u).transpose();
  }
  sums.a.noalias() += moments * counts.transpose();
  sums.b.noalias() += first * w.transpose();
  sums.g += moments.rowwise().sum();
}

// The expectation over all utterances.
TotalSums SumOverUtterances(const TotalVariability& total, const std::vector<BaumWelch>& stats,
                            int jobs) {
  const Index c = stats[0].n.size(), rows = stats[0].f.size(), r = total.t.cols();
  const std::size_t blocks = (stats.size() + kBlock - 1) / kBlock;
  std::vector<TotalSums> parts(kParts);
  ParallelFor(kParts, jobs, [&](std::size_t p) {
    parts[p] = {MatrixXf::Zero(r * r, c), MatrixXf::Zero(rows, r), VectorXf::Zero(r * r)};
    for (std::size_t block = p; block < blocks; block += kParts) {
      const std::size_t begin = block * kBlock, count = std::min(kBlock, stats.size() - begin);
      AddToSums(total, std::span(stats).subspan(begin, count), parts[p]);
    }
  });
  for (std::size_t p = 1; p < kParts; ++p) {
    parts[0].a += parts[p].a;
    parts[0].b += parts[p].b;
    parts[0].g += parts[p].g;
  }
  return std::move(parts[0]);
}

// The T that fits the sums of n utterances best, with minimum divergence (Kenny 2008): what w
// turned out to vary by becomes part of T.
MatrixXf MaximisedTotal(const TotalSums& sums, std::size_t n, int jobs) {
  const Index c = sums.a.cols(), rows = sums.b.rows(), r = sums.b.cols(), d = rows / c;
  const MatrixXd g =
      Eigen::Map<const MatrixXf>(sums.g.data(), r, r).cast<double>() / static_cast<double>(n);
  const MatrixXd root = Eigen::LLT<MatrixXd>(g).matrixL();
  MatrixXf t(rows, r);
  ParallelFor(static_cast<std::size_t>(c), jobs, [&](std::size_t i) {
    const auto k = static_cast<Index>(i);
    MatrixXd a = Eigen::Map<const MatrixXf>(sums.a.col(k).data(), r, r).cast<double>();
    a.diagonal().array() += 1e-6 * (1.0 + a.trace() / static_cast<double>(r));
    const MatrixXd b = sums.b.middleRows(k * d, d).cast<double>();
    t.middleRows(k * d, d) =
        (Eigen::LLT<MatrixXd>(a).solve(b.transpose()).transpose() * root).cast<float>();
  });
  return t;
}

// What the utterances that serve were found to hold.
struct Heard {
  std::vector<MatrixXf> features;
  std::vector<std::string> speakers;
  std::size_t left_out = 0, frames = 0, distinct_speakers = 0;
};

// Throws Error without two speakers of two utterances each.
Heard HearSpeech(const UtteranceList& list, const IvectorOptions& options) {
  const std::vector<std::size_t> chosen =
      ChooseUtterances(list, options.max_utterances, options.gmm.seed);
  std::vector<MatrixXf> features(list.utterances.size());
  ForEachUtterance(
      list, chosen, options.jobs,
      [&](std::size_t i, std::span<const float> x) {
        try {
          features[i] = IvectorFeatures(x);
        } catch (const Error&) {
          features[i].resize(0, 0);  // counted below
        }
      },
      options.max_seconds);
  Heard heard;
  std::map<std::string, int> per_speaker;
  for (const std::size_t i : chosen) {
    if (features[i].size() == 0) {
      ++heard.left_out;
      continue;
    }
    heard.features.push_back(std::move(features[i]));
    heard.speakers.push_back(list.utterances[i].speaker);
    ++per_speaker[heard.speakers.back()];
    heard.frames += static_cast<std::size_t>(heard.features.back().cols());
  }
  const auto pairs = std::count_if(per_speaker.begin(), per_speaker.end(),
                                   [](const auto& s) { return s.second >= 2; });
  if (pairs < 2) {
    throw Error(
        fmt::format("i-vector: {} utterances of {} speakers, {} of them with two or more; "
                    "at least two such speakers are needed",
                    heard.features.size(), per_speaker.size(), pairs));
  }
  heard.distinct_speakers = per_speaker.size();
  return heard;
}

// `wanted` of all frames, one to a column.
MatrixXf SampleFrames(const Heard& heard, std::size_t wanted, std::uint64_t seed) {
  const auto sample = Sample(heard.frames, wanted, seed);
  MatrixXf x(heard.features[0].rows(), static_cast<Index>(sample.size()));
  std::size_t next = 0, before = 0;
  for (const MatrixXf& features : heard.features) {
    const auto count = static_cast<std::size_t>(features.cols());
    for (; next < sample.size() && sample[next] < before + count; ++next) {
      x.col(static_cast<Index>(next)) = features.col(static_cast<Index>(sample[next] - before));
    }
    before += count;
  }
  return x;
}

// Centred and of one length. Returns the mean.
VectorXf CentreAndScale(MatrixXf& w) {
  VectorXf mean = w.rowwise().mean();
  w.colwise() -= mean;
  for (Index i = 0; i < w.cols(); ++i) {
    w.col(i) *= std::sqrt(static_cast<float>(w.rows())) / w.col(i).norm();
  }
  return mean;
}

NamedTensor MatrixTensor(const MatrixXf& m) {
  return {{m.cols(), m.rows()}, {m.data(), m.data() + m.size()}};
}

NamedTensor VectorTensor(const VectorXf& v) {
  return {{v.size()}, {v.data(), v.data() + v.size()}};
}

}  // namespace

DiagonalGmm TrainGmm(const Eigen::Ref<const MatrixXf>& x, const GmmOptions& options,
                     std::vector<double>* history) {
  const Index d = x.rows(), n = x.cols(), c = options.components;
  if (c < 1 || n < 2 * c || options.iterations < 1) {
    throw Error(
        fmt::format("GMM: {} components, {} iterations, {} frames; at least 1, 1 and two "
                    "frames for each component are needed",
                    c, options.iterations, n));
  }
  const VectorXf mean = x.rowwise().mean();
  const VectorXf variance = (x.colwise() - mean).cwiseAbs2().rowwise().mean().cwiseMax(1e-10F);
  DiagonalGmm gmm;
  gmm.weights = VectorXf::Constant(c, 1.0F / static_cast<float>(c));
  gmm.variances = variance.replicate(1, c);
  gmm.means.resize(d, c);
  const auto start = Sample(static_cast<std::size_t>(n), static_cast<std::size_t>(c), options.seed);
  for (Index i = 0; i < c; ++i) {
    gmm.means.col(i) = x.col(static_cast<Index>(start[static_cast<std::size_t>(i)]));
  }
  const Index chunks = (n + kChunk - 1) / kChunk;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    std::vector<GmmSums> parts(kParts);
    ParallelFor(kParts, options.jobs, [&](std::size_t p) {
      GmmSums& sums = parts[p];
      sums.n = VectorXd::Zero(c);
      sums.f = MatrixXd::Zero(d, c);
      sums.s = MatrixXd::Zero(d, c);
      for (Index chunk = static_cast<Index>(p); chunk < chunks;
           chunk += static_cast<Index>(kParts)) {
        const Index begin = chunk * kChunk;
        const auto block = x.middleCols(begin, std::min(kChunk, n - begin));
        MatrixXf posteriors = gmm.LogJoint(block);
        sums.log_likelihood += DiagonalGmm::ToPosteriors(posteriors);
        sums.n += posteriors.rowwise().sum().cast<double>();
        const MatrixXf transposed = posteriors.transpose();
        sums.f += (block * transposed).cast<double>();
        sums.s += (block.cwiseAbs2() * transposed).cast<double>();
      }
    });
    GmmSums total = parts[0];
    for (std::size_t p = 1; p < kParts; ++p) {
      total.n += parts[p].n;
      total.f += parts[p].f;
      total.s += parts[p].s;
      total.log_likelihood += parts[p].log_likelihood;
    }
    if (history != nullptr) history->push_back(total.log_likelihood / static_cast<double>(n));
    for (Index i = 0; i < c; ++i) {
      gmm.weights[i] = static_cast<float>(std::max(total.n[i], 1e-3) / static_cast<double>(n));
      if (total.n[i] < kMinOccupancy) continue;
      const VectorXd m = total.f.col(i) / total.n[i];
      const VectorXd v = total.s.col(i) / total.n[i] - m.cwiseAbs2();
      gmm.means.col(i) = m.cast<float>();
      gmm.variances.col(i) = v.cast<float>().cwiseMax(kVarianceFloor * variance);
    }
    gmm.weights /= gmm.weights.sum();
  }
  return gmm;
}

TotalVariability TrainTotal(const std::vector<BaumWelch>& stats, const TotalOptions& options) {
  if (stats.empty() || options.dimension < 1 || options.iterations < 1) {
    throw Error(fmt::format("total variability: {} utterances, dimension {}, {} iterations",
                            stats.size(), options.dimension, options.iterations));
  }
  const Index c = stats[0].n.size(), rows = stats[0].f.size(), r = options.dimension;
  SeededRng rng(options.seed);
  MatrixXf start(rows, r);
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i < rows; ++i) start(i, j) = 0.1F * static_cast<float>(rng.Gaussian());
  }
  TotalVariability total(std::move(start), c);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const TotalSums sums = SumOverUtterances(total, stats, options.jobs);
    total = TotalVariability(MaximisedTotal(sums, stats.size(), options.jobs), c);
  }
  return total;
}

void IvectorOptions::Validate() const {
  if (lda_dimension < 1 || max_utterances < 4 || gmm_frames < 1000 || !(max_seconds >= 1.0)) {
    throw Error(
        fmt::format("i-vector: LDA dimension {} (1 or more), {} utterances (4 or more), "
                    "{} frames (1000 or more), {} s of each (1 or more)",
                    lda_dimension, max_utterances, gmm_frames, max_seconds));
  }
}

TrainedIvector TrainIvector(const UtteranceList& list, const IvectorOptions& options) {
  options.Validate();
  TrainedIvector trained;
  Stopwatch watch;
  Heard heard = HearSpeech(list, options);
  trained.utterances = heard.features.size();
  trained.speakers = heard.distinct_speakers;
  trained.frames = heard.frames;
  trained.left_out = heard.left_out;
  trained.seconds_features = watch.Lap();

  GmmOptions gmm_options = options.gmm;
  gmm_options.jobs = options.jobs;
  const DiagonalGmm gmm =
      TrainGmm(SampleFrames(heard, options.gmm_frames, options.gmm.seed + 1), gmm_options);
  trained.seconds_gmm = watch.Lap();

  const std::size_t n = heard.features.size();
  std::vector<BaumWelch> stats(n);
  ParallelFor(n, options.jobs, [&](std::size_t i) {
    stats[i] = Accumulate(gmm, heard.features[i]);
    heard.features[i].resize(0, 0);
  });
  TotalOptions total_options = options.total;
  total_options.jobs = options.jobs;
  const TotalVariability total = TrainTotal(stats, total_options);
  MatrixXf w(total.t.cols(), static_cast<Index>(n));
  ParallelFor(n, options.jobs,
              [&](std::size_t i) { w.col(static_cast<Index>(i)) = total.Ivector(stats[i]); });
  const VectorXf mean = CentreAndScale(w);
  LdaOptions lda_options;
  lda_options.dimension = options.lda_dimension;
  const AffineTransform lda = TrainLda(w.cast<double>(), heard.speakers, lda_options);
  trained.seconds_total = watch.Lap();

  trained.file.tensors["gmm.weights"] = VectorTensor(gmm.weights);
  trained.file.tensors["gmm.means"] = MatrixTensor(gmm.means);
  trained.file.tensors["gmm.variances"] = MatrixTensor(gmm.variances);
  trained.file.tensors["total"] = MatrixTensor(total.t);
  trained.file.tensors["mean"] = VectorTensor(mean);
  trained.file.tensors["lda"] = MatrixTensor(MatrixXf(lda.matrix.cast<float>().transpose()));
  trained.file.metadata["sotto.kind"] = "ivector";
  trained.file.metadata["sotto.training"] = nlohmann::ordered_json{
      {"utterances", trained.utterances},
      {"speakers", trained.speakers},
      {"frames", trained.frames},
      {"components", options.gmm.components},
      {"dimension", options.total.dimension},
      {"lda_dimension", options.lda_dimension},
      {"seed", options.gmm.seed}}.dump();
  return trained;
}

}  // namespace sotto

#include "speaker/voice_indistinguishability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/parallel.h"
#include "dp/mechanisms.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

constexpr double kSameVoice = 1e-6;  // of angular distance: the same vector after a float file

Eigen::MatrixXd UnitColumns(const Eigen::Ref<const Eigen::MatrixXf>& x) {
  Eigen::MatrixXd unit = x.cast<double>();
  for (Eigen::Index i = 0; i < unit.cols(); ++i) {
    const double length = unit.col(i).norm();
    if (!(length > 0.0) || !std::isfinite(length)) {
      throw Error(fmt::format("embedding {} has no direction (length {})", i, length));
    }
    unit.col(i) /= length;
  }
  return unit;
}

std::string_view Bytes(const float* data, Eigen::Index count) {
  return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(count) * sizeof(float)};
}

std::string_view Text(const std::array<std::uint8_t, 32>& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::vector<double> Row(const Eigen::MatrixXd& m, Eigen::Index row) {
  std::vector<double> values(static_cast<std::size_t>(m.cols()));
  for (Eigen::Index j = 0; j < m.cols(); ++j) values[static_cast<std::size_t>(j)] = m(row, j);
  return values;
}

// Candidates that are protected speakers, by name or because the vector is the same.
std::size_t CountOverlap(const EmbeddingSet& source, const SpeakerModels& candidates,
                         const Eigen::MatrixXd& distances) {
  std::set<std::string> names;
  for (const auto& [speaker, places] : source.BySpeaker()) names.insert(speaker);
  std::size_t overlapping = 0;
  for (std::size_t j = 0; j < candidates.ids.size(); ++j) {
    if (names.contains(candidates.ids[j]) ||
        distances.col(static_cast<Eigen::Index>(j)).minCoeff() < kSameVoice) {
      ++overlapping;
    }
  }
  return overlapping;
}

}  // namespace

Eigen::MatrixXd AngularDistances(const Eigen::Ref<const Eigen::MatrixXf>& a,
                                 const Eigen::Ref<const Eigen::MatrixXf>& b) {
  const Eigen::MatrixXd u = UnitColumns(a);
  const Eigen::MatrixXd v = UnitColumns(b);
  Eigen::MatrixXd d = u.transpose() * v;
  for (Eigen::Index i = 0; i < d.rows(); ++i) {
    for (Eigen::Index j = 0; j < d.cols(); ++j) {
      const double cosine = d(i, j);
      // arccos loses half its digits near ±1; there the angle is 2·atan2(|u − v|, |u + v|) (Kahan).
      const double angle = std::abs(cosine) < 0.9 ? std::acos(cosine)
                                                  : 2.0 * std::atan2((u.col(i) - v.col(j)).norm(),
                                                                     (u.col(i) + v.col(j)).norm());
      d(i, j) = angle / M_PI;
    }
  }
  return d;
}

VoiceIndMechanism::VoiceIndMechanism(double eps) : eps_(eps) {
  CheckEpsilon(eps);
  if (eps > 1e6)
    throw Error(fmt::format("epsilon {}: at most 1e6, and far below to mean anything", eps));
  // The largest cost, c·1, takes at most 60 bits: finer than the distances themselves.
  shift_ = std::min(60, 59 - std::ilogb(std::max(0.5 * eps, 1.0)));
}

std::vector<std::uint64_t> VoiceIndMechanism::Costs(std::span<const double> distances) const {
  // 1e-12 less than eps/2 pays for the rounding of the costs and of the distances.
  const double factor = std::ldexp(0.5 * eps_ * (1.0 - 1e-12), shift_);
  std::vector<std::uint64_t> costs;
  costs.reserve(distances.size());
  for (const double d : distances) {
    if (!(d >= 0.0 && d <= 1.0)) throw Error(fmt::format("angular distance {}: from 0 to 1", d));
    costs.push_back(static_cast<std::uint64_t>(std::nearbyint(factor * d)));
  }
  return costs;
}

std::size_t VoiceIndMechanism::Release(std::span<const double> distances, Budget& budget,
                                       BitSource& bits) const {
  if (distances.empty()) throw Error("voice-indistinguishability: no candidates");
  const auto costs = Costs(distances);
  budget.Spend(Event());
  return SampleByCost(costs, shift_, bits);
}

Eigen::VectorXd VoiceIndMechanism::LogProbabilities(std::span<const double> distances) const {
  const auto costs = Costs(distances);
  Eigen::VectorXd logs(static_cast<Eigen::Index>(costs.size()));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    logs[static_cast<Eigen::Index>(i)] = -std::ldexp(static_cast<double>(costs[i]), -shift_);
  }
  const double highest = logs.maxCoeff();
  return logs.array() - (highest + std::log((logs.array() - highest).exp().sum()));
}

double VoiceIndMechanism::ExpectedDistance(std::span<const double> distances) const {
  const Eigen::VectorXd logs = LogProbabilities(distances);
  double sum = 0.0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    sum += std::exp(logs[static_cast<Eigen::Index>(i)]) * distances[i];
  }
  return sum;
}

PrivacyEvent VoiceIndMechanism::Event() const {
  return PrivacyEvent::Pure(eps_, "voice-indistinguishability");
}

VoiceIndCheck CheckVoiceInd(const VoiceIndMechanism& mechanism, const Eigen::MatrixXd& between,
                            const Eigen::MatrixXd& to_candidates, int jobs) {
  const Eigen::Index n = to_candidates.rows();
  Eigen::MatrixXd logs(to_candidates.cols(), n);  // one column per input
  for (Eigen::Index i = 0; i < n; ++i) {
    logs.col(i) = mechanism.LogProbabilities(Row(to_candidates, i));
  }
  VoiceIndCheck check;
  check.inputs = static_cast<std::size_t>(n);
  check.candidates = static_cast<std::size_t>(to_candidates.cols());
  std::mutex mutex;
  ParallelFor(static_cast<std::size_t>(n), jobs, [&](std::size_t row) {
    const auto i = static_cast<Eigen::Index>(row);
    double ratio = 0.0;
    double excess = -1.0;
    for (Eigen::Index j = i + 1; j < n; ++j) {
      const double loss = (logs.col(i) - logs.col(j)).array().abs().maxCoeff();
      const double bound = mechanism.Epsilon() * between(i, j);
      excess = std::max(excess, loss - bound);
      if (bound > 1e-9) ratio = std::max(ratio, loss / bound);
    }
    const std::scoped_lock lock(mutex);
    check.largest_ratio = std::max(check.largest_ratio, ratio);
    check.largest_excess = row == 0 ? excess : std::max(check.largest_excess, excess);
  });
  check.holds = check.largest_excess <= 1e-12 * std::max(1.0, mechanism.Epsilon());
  return check;
}

void RequireBound(const VoiceIndCheck& check) {
  if (check.holds) return;
  throw Error(
      fmt::format("voice-indistinguishability: the bound fails by {} on the matrix of this "
                  "release; nothing is released",
                  check.largest_excess));
}

Budget VoiceIndBudget(double eps, std::size_t draws) {
  PrivacyEvent event = VoiceIndMechanism(eps).Event();
  event.count = draws;
  Budget budget;
  budget.Spend(event);
  return budget;
}

VoiceIndRelease ReleaseVoiceInd(const EmbeddingSet& source, const EmbeddingSet& pool,
                                const VoiceIndOptions& options, const Key& key) {
  const VoiceIndMechanism mechanism(options.eps);
  if (source.Dimension() != pool.Dimension()) {
    throw Error(fmt::format("embeddings of {} dimensions, pool of {}: made by different encoders",
                            source.Dimension(), pool.Dimension()));
  }
  const SpeakerModels candidates = MakeModels(pool, ModelOf::kSpeaker, Averaging::kPlain);
  const SpeakerModels inputs = MakeModels(
      source, options.per == ProtectPer::kSpeaker ? ModelOf::kSpeaker : ModelOf::kUtterance,
      Averaging::kPlain);
  const Eigen::MatrixXd distances = AngularDistances(inputs.vectors, candidates.vectors);
  VoiceIndRelease release;
  VoiceIndMeasured& measured = release.measured;
  measured.overlapping = CountOverlap(source, candidates, distances);
  if (measured.overlapping > 0 && !options.assignment_only) {
    throw Error(
        fmt::format("{} of {} candidates are protected speakers: the release would show their "
                    "voiceprints. Take a public pool without them, or say that only the "
                    "assignment is to be protected",
                    measured.overlapping, candidates.ids.size()));
  }
  // The matrix: every protected voiceprint and every candidate as an input.
  Eigen::MatrixXf all(inputs.vectors.rows(), inputs.vectors.cols() + candidates.vectors.cols());
  all << inputs.vectors, candidates.vectors;
  Eigen::MatrixXd to_candidates(all.cols(), candidates.vectors.cols());
  to_candidates << distances, AngularDistances(candidates.vectors, candidates.vectors);
  measured.check =
      CheckVoiceInd(mechanism, AngularDistances(all, all), to_candidates, options.jobs);
  RequireBound(measured.check);
  const auto pool_digest = key.Hash({Bytes(candidates.vectors.data(), candidates.vectors.size())});
  const std::string eps_text = fmt::format("{:a}", options.eps);
  const std::string level = options.per == ProtectPer::kSpeaker ? "speaker" : "utterance";
  std::map<std::string, std::size_t> drawn;
  for (std::size_t i = 0; i < inputs.ids.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const auto d = Row(distances, row);
    KeyedBits bits(
        key, {"sotto voice-ind 1", options.context, level, inputs.ids[i], eps_text,
              Text(pool_digest), Bytes(inputs.vectors.col(row).data(), inputs.vectors.rows())});
    Budget one;
    drawn[inputs.ids[i]] = mechanism.Release(d, one, bits);
    measured.expected_distance +=
        mechanism.ExpectedDistance(d) / static_cast<double>(inputs.ids.size());
  }
  release.set = source;
  release.drawn.resize(source.size());
  for (const auto& [speaker, places] : source.BySpeaker()) {
    const std::size_t draws = options.per == ProtectPer::kSpeaker ? 1 : places.size();
    release.draws_most = std::max(release.draws_most, draws);
    for (const std::size_t place : places) {
      const std::string& unit = options.per == ProtectPer::kSpeaker ? speaker : source.ids[place];
      release.drawn[place] = drawn.at(unit);
      release.set.vectors.col(static_cast<Eigen::Index>(place)) =
          candidates.vectors.col(static_cast<Eigen::Index>(release.drawn[place]));
    }
  }
  release.budget = VoiceIndBudget(options.eps, release.draws_most);
  return release;
}

}  // namespace sotto

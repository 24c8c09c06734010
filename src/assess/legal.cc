#include "assess/legal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double LogChoose(double n, double k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

// The threshold above which lies 1/N of a set that is 1/N the own speaker's conversations and
// (N−1)/N other speakers': midway between the last score let through and the next.
double IsolationThreshold(std::span<const double> own, std::span<const double> others,
                          std::size_t n) {
  std::vector<std::pair<double, double>> weighted;  // (score, weight)
  const double share = 1.0 / static_cast<double>(n);
  for (const double s : own) weighted.emplace_back(s, share / static_cast<double>(own.size()));
  for (const double s : others) {
    weighted.emplace_back(s, (1.0 - share) / static_cast<double>(others.size()));
  }
  std::sort(weighted.begin(), weighted.end(), [](auto& a, auto& b) { return a.first > b.first; });
  double above = 0.0;
  for (std::size_t i = 0; i + 1 < weighted.size(); ++i) {
    above += weighted[i].second;
    // Half of the next weight: the number let through is the one nearest to 1/N.
    if (above + weighted[i + 1].second / 2.0 > share) {
      const double middle = (weighted[i].first + weighted[i + 1].first) / 2.0;
      return std::isfinite(middle) ? middle : weighted[i + 1].first;
    }
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace

void LegalOptions::Validate() const {
  for (const std::size_t n : population) {
    if (n < 2) throw Error(fmt::format("N = {}: a population has at least 2 speakers", n));
  }
  for (const std::size_t l : utterances) {
    if (l < 1) throw Error("L = 0: a conversation has at least 1 utterance");
  }
}

double LinkProbability(std::size_t others, std::size_t above, std::size_t tied, std::size_t drawn) {
  // Σ_j P(j tied rivals and no higher one are drawn) / (j + 1)
  const auto below = static_cast<double>(others - above - tied);
  const auto ties = static_cast<double>(tied);
  const auto k = static_cast<double>(drawn);
  const double all = LogChoose(static_cast<double>(others), k);
  double sum = 0.0;
  for (double j = 0.0; j <= std::min(ties, k); j += 1.0) {
    if (k - j > below) continue;
    sum += std::exp(LogChoose(ties, j) + LogChoose(below, k - j) - all) / (j + 1.0);
  }
  return sum;
}

double SingleOutProbability(double own, std::span<const double> others, std::size_t drawn) {
  // none[c], one[c]: probability of having drawn c of the speakers seen so far and fired never or
  // once. Sampling in sequence: a speaker is drawn with (still needed)/(still left).
  std::vector<double> none(drawn + 1);
  std::vector<double> one(drawn + 1);
  none[0] = 1.0 - own;
  one[0] = own;
  for (std::size_t t = 0; t < others.size(); ++t) {
    const auto left = static_cast<double>(others.size() - t);
    const double fires = others[t];
    for (std::size_t c = std::min(t + 1, drawn) + 1; c-- > 0;) {
      const auto take = [&](std::size_t at) { return static_cast<double>(drawn - at) / left; };
      const double skip = 1.0 - std::min(1.0, take(c));
      double next_one = one[c] * skip;
      double next_none = none[c] * skip;
      if (c > 0) {
        const double taken = std::min(1.0, take(c - 1));
        next_one += taken * (one[c - 1] * (1.0 - fires) + none[c - 1] * fires);
        next_none += taken * none[c - 1] * (1.0 - fires);
      }
      one[c] = next_one;
      none[c] = next_none;
    }
  }
  return one[drawn];
}

double SinglingOutChance(std::size_t n) {
  const auto count = static_cast<double>(n);
  return std::pow(1.0 - 1.0 / count, count - 1.0);
}

LegalMeter::LegalMeter(const Trials& trials) {
  const IdColumn& enrol = trials.enrol_spk.Present() ? trials.enrol_spk : trials.enrol;
  if (!enrol.Present() || !trials.test.Present()) {
    throw Error("legal figures need the columns test and enrol_spk (or enrol)");
  }
  enrolments_ = enrol.names;
  const std::size_t n_utterances = trials.test.names.size();
  scores_.assign(n_utterances, std::vector<double>(enrolments_.size()));
  std::vector<std::vector<std::uint32_t>> counts(n_utterances,
                                                 std::vector<std::uint32_t>(enrolments_.size()));
  std::vector<std::string> speaker_of(n_utterances);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::uint32_t utterance = trials.test.index[i];
    scores_[utterance][enrol.index[i]] += trials.scores[i];
    ++counts[utterance][enrol.index[i]];
    std::string& speaker = speaker_of[utterance];
    const bool known = trials.test_spk.Present() || trials.is_target[i] != 0;
    if (!known) continue;
    const std::string& named = trials.test_spk.Present() ? trials.test_spk.At(i) : enrol.At(i);
    if (!speaker.empty() && speaker != named) {
      throw Error(fmt::format("test utterance '{}' has two speakers, '{}' and '{}'",
                              trials.test.At(i), speaker, named));
    }
    speaker = named;
  }
  std::unordered_map<std::string, std::size_t> enrolment_of;
  for (std::size_t e = 0; e < enrolments_.size(); ++e) enrolment_of.emplace(enrolments_[e], e);
  std::unordered_map<std::string, std::size_t> speaker_index;
  for (std::size_t u = 0; u < n_utterances; ++u) {
    for (std::size_t e = 0; e < enrolments_.size(); ++e) {
      scores_[u][e] = counts[u][e] > 0 ? scores_[u][e] / counts[u][e] : kNaN;
    }
    if (speaker_of[u].empty()) continue;
    const auto [found, fresh] = speaker_index.emplace(speaker_of[u], speakers_.size());
    if (fresh) {
      const auto own = enrolment_of.find(speaker_of[u]);
      speakers_.push_back({speaker_of[u], own == enrolment_of.end() ? kNone : own->second, {}});
    }
    speakers_[found->second].utterances.push_back(u);
  }
  if (std::none_of(speakers_.begin(), speakers_.end(),
                   [](const Speaker& speaker) { return speaker.enrolment != kNone; })) {
    throw Error(
        "no test speaker is enrolled: the names of test_spk and enrol_spk (or enrol) never agree");
  }
}

std::vector<std::vector<LegalMeter::Conversation>> LegalMeter::Conversations(std::size_t l) const {
  std::vector<std::vector<Conversation>> out(speakers_.size());
  for (std::size_t s = 0; s < speakers_.size(); ++s) {
    const auto& utterances = speakers_[s].utterances;
    for (std::size_t begin = 0; begin + l <= utterances.size(); begin += l) {
      Conversation mean(enrolments_.size());
      for (std::size_t k = 0; k < l; ++k) {
        for (std::size_t e = 0; e < mean.size(); ++e) mean[e] += scores_[utterances[begin + k]][e];
      }
      for (double& score : mean) score /= static_cast<double>(l);
      out[s].push_back(std::move(mean));
    }
  }
  return out;
}

std::optional<double> LegalMeter::Link(const Conversation& conversation, std::size_t own,
                                       std::size_t n) {
  if (std::isnan(conversation[own])) return std::nullopt;
  std::size_t others = 0;
  std::size_t above = 0;
  std::size_t tied = 0;
  for (std::size_t e = 0; e < conversation.size(); ++e) {
    if (e == own || std::isnan(conversation[e])) continue;
    ++others;
    above += conversation[e] > conversation[own] ? 1 : 0;
    tied += conversation[e] == conversation[own] ? 1 : 0;
  }
  if (others + 1 < n) return std::nullopt;
  return LinkProbability(others, above, tied, n - 1);
}

std::optional<double> LegalMeter::SingleOut(
    const std::vector<std::vector<Conversation>>& conversations, std::size_t s, std::size_t n,
    std::size_t tested) const {
  const std::size_t own = speakers_[s].enrolment;
  std::vector<double> own_calibration;
  std::vector<double> calibration;
  std::vector<std::vector<double>> test(speakers_.size());
  for (std::size_t t = 0; t < speakers_.size(); ++t) {
    for (std::size_t c = 0; c < conversations[t].size(); ++c) {
      const double score = conversations[t][c][own];
      if (std::isnan(score)) continue;
      if (c % 2 == tested) {
        test[t].push_back(score);
      } else {
        (t == s ? own_calibration : calibration).push_back(score);
      }
    }
  }
  if (own_calibration.empty() || calibration.empty() || test[s].empty()) return std::nullopt;
  const double threshold = IsolationThreshold(own_calibration, calibration, n);
  const auto firing = [&](const std::vector<double>& scores) {
    const auto fired = std::count_if(scores.begin(), scores.end(),
                                     [&](double score) { return score > threshold; });
    return static_cast<double>(fired) / static_cast<double>(scores.size());
  };
  std::vector<double> others;
  for (std::size_t t = 0; t < speakers_.size(); ++t) {
    if (t != s && !test[t].empty()) others.push_back(firing(test[t]));
  }
  if (others.size() + 1 < n) return std::nullopt;
  return SingleOutProbability(firing(test[s]), others, n - 1);
}

double LegalPoint::Weighted(std::span<const double> weights) const {
  double sum = 0.0;
  double n_weighted = 0.0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    sum += weights[s] * speaker_sum[s];
    n_weighted += weights[s] * speaker_n[s];
  }
  return n_weighted > 0.0 ? sum / n_weighted : kNaN;
}

LegalResult LegalMeter::Measure(const LegalOptions& options) const {
  options.Validate();
  LegalResult result;
  result.n_enrol_speakers = enrolments_.size();
  result.n_test_speakers = speakers_.size();
  for (const Speaker& speaker : speakers_) result.n_utterances += speaker.utterances.size();
  const auto add = [](LegalPoint& point, std::size_t s, const std::optional<double>& probability) {
    if (!probability) return;
    point.speaker_sum[s] += *probability;
    point.speaker_n[s] += 1.0;
    ++point.n_tried;
  };
  const std::vector<double> once(speakers_.size(), 1.0);
  const std::vector<double> zeros(speakers_.size());
  const auto keep = [&](std::vector<LegalPoint>& points, LegalPoint point) {
    if (point.n_tried == 0) return;
    point.value = point.Weighted(once);
    points.push_back(std::move(point));
  };
  for (const std::size_t l : options.utterances) {
    const auto conversations = Conversations(l);
    for (const std::size_t n : options.population) {
      LegalPoint link{n, l, 0.0, 1.0 / static_cast<double>(n), 0, zeros, zeros};
      LegalPoint single{n, l, 0.0, SinglingOutChance(n), 0, zeros, zeros};
      for (std::size_t s = 0; s < speakers_.size(); ++s) {
        if (speakers_[s].enrolment == kNone) continue;
        for (const Conversation& conversation : conversations[s]) {
          add(link, s, Link(conversation, speakers_[s].enrolment, n));
        }
        add(single, s, SingleOut(conversations, s, n, 0));
        add(single, s, SingleOut(conversations, s, n, 1));
      }
      keep(result.linkability, std::move(link));
      keep(result.singling_out, std::move(single));
    }
  }
  return result;
}

}  // namespace sotto

#include "spoof/spoof_training.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>

#include "assess/tandem.h"
#include "assess/verification.h"
#include "base/error.h"
#include "base/random.h"
#include "dsp/level.h"
#include "nn/mlp.h"
#include "spoof/spoof_features.h"

namespace sotto {
namespace {

constexpr double kSecondsPerCut = 1.0;
constexpr double kShortShare = 0.2;
constexpr std::size_t kShortest = 9600;  // 0.6 s
constexpr double kOne = 1 << IntegerNet::kFractionBits;

// What was heard of one utterance.
struct Heard {
  std::vector<std::vector<float>> cuts;  // features; the first as in use
  // Of the recording and of the first cut: active level in dB, seconds before speech.
  double level[2] = {}, lead[2] = {};
};

// The places of cuts depend on seed and utterance alone.
Heard Hear(std::span<const float> x, bool all_cuts, SeededRng rng) {
  Heard heard;
  const SpeechStretch stretch = FindSpeech(x);
  const std::vector<float> first = PrepareSpeech(x);
  heard.cuts.push_back(SpoofLfcc(first));
  const auto seconds = [](std::size_t samples) {
    return static_cast<double>(samples) / kSpoofRateHz;
  };
  heard.level[0] = ActiveSpeechLevel(x, kSpoofRateHz).active_db;
  heard.level[1] = ActiveSpeechLevel(first, kSpoofRateHz).active_db;
  heard.lead[0] = seconds(stretch.begin);
  heard.lead[1] = seconds(FindSpeech(first).begin);
  if (!all_cuts) return heard;
  const std::size_t n = stretch.end - stretch.begin;
  const auto cuts = static_cast<std::size_t>(seconds(n) / kSecondsPerCut);
  const std::size_t last = n - std::min(n, kSpoofSamples);
  for (std::size_t k = 1; k < cuts; ++k) {
    const std::size_t begin = stretch.begin + rng.Below(last + 1);
    const bool is_short = rng.Uniform() < kShortShare;
    const std::size_t most =
        is_short ? kShortest + rng.Below(kSpoofSamples - kShortest) : kSpoofSamples;
    heard.cuts.push_back(SpoofLfcc(PrepareSpeech(x.subspan(begin, stretch.end - begin), most)));
  }
  return heard;
}

// Every n-th speaker of each class, and all of one attack.
std::vector<bool> HoldOut(const SpoofCorpora& corpora, const SpoofTrainingOptions& options) {
  const auto& utterances = corpora.list.utterances;
  std::set<std::string> names[2];
  const auto whole = [&](std::size_t i) {
    return !options.held_out_attack.empty() && corpora.attacks[i] == options.held_out_attack;
  };
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    if (!whole(i)) names[*corpora.bona_fide[i] ? 1 : 0].insert(utterances[i].speaker);
  }
  std::set<std::string> out;
  for (const auto& side : names) {
    int place = 0;
    for (const std::string& name : side) {
      if (++place % options.hold_out_every == 0) out.insert(name);
    }
  }
  std::vector<bool> held(utterances.size());
  bool found = options.held_out_attack.empty();
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    held[i] = whole(i) || out.contains(utterances[i].speaker);
    found = found || whole(i);
  }
  if (!found) {
    throw Error(fmt::format("no spoof is by the attack '{}' that is to be held out",
                            options.held_out_attack));
  }
  return held;
}

// Bounds of the float net under which its integers keep to those of IntegerNet, however they round.
MlpBounds BoundsOf(const SpoofTrainingOptions& options) {
  const double half = 0.5 / kOne;  // of a weight, rounded
  MlpBounds bounds;
  bounds.input = options.x_max;
  bounds.weight = 4.0 - 2.0 * half;
  const double sums = std::ldexp(1.0, IntegerNet::kLayerBits - 26);
  bounds.hidden = sums - options.x_max * half * static_cast<double>(kSpoofInputs) - 1.0;
  // Half of the range for the score, half for a threshold, which lies among the scores; units may
  // reach `sums` once they are rounded.
  const double scores = std::ldexp(1.0, IntegerNet::kScoreBits - 40);
  bounds.output = (scores - sums * half * options.units - 1.0) * bounds.hidden / sums;
  return bounds;
}

SpoofModel ToIntegers(const Mlp& mlp, const SpoofTrainingOptions& options) {
  const MlpWeights& from = mlp.Weights();
  SpoofModel model;
  model.name = fmt::format("PRIVASP-{}", options.units);
  model.front_end = {{from.mean.data(), from.mean.data() + from.mean.size()},
                     {from.scale.data(), from.scale.data() + from.scale.size()},
                     static_cast<std::int32_t>(std::lround(kOne * options.x_max))};
  const auto rounded = [](double value) { return std::llround(kOne * value); };
  IntegerNet& net = model.net;
  net.inputs = kSpoofInputs;
  net.units = static_cast<std::uint32_t>(from.w1.rows());
  net.x_max = model.front_end.x_max;
  net.decision_only = options.decision_only;
  for (Eigen::Index i = 0; i < from.w1.rows(); ++i) {
    for (Eigen::Index j = 0; j < from.w1.cols(); ++j) {
      net.w1.push_back(static_cast<std::int32_t>(rounded(from.w1(i, j))));
    }
    net.b1.push_back(rounded(from.b1[i]) << IntegerNet::kFractionBits);
    net.w2.push_back(static_cast<std::int32_t>(rounded(from.w2[i])));
  }
  net.b_out = rounded(from.b2) << (2 * IntegerNet::kFractionBits);
  return model;
}

Eigen::MatrixXf Columns(const std::vector<const std::vector<float>*>& columns) {
  Eigen::MatrixXf x(static_cast<Eigen::Index>(columns.at(0)->size()),
                    static_cast<Eigen::Index>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    x.col(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::VectorXf>(columns[i]->data(), x.rows());
  }
  return x;
}

// Between the score that has to be rejected for equal error rates and the next above it.
double ChooseThreshold(const SpoofScores& scores) {
  std::vector<double> bona, spoof;
  for (const SpoofRow& row : scores.rows) {
    if (row.refused.empty()) (*row.bona_fide ? bona : spoof).push_back(row.score);
  }
  if (bona.empty() || spoof.empty()) {
    throw Error(
        fmt::format("held out: {} genuine utterances and {} spoofs, both are needed; hold "
                    "out more speakers",
                    bona.size(), spoof.size()));
  }
  const ScoreLevels levels = MakeLevels(bona, spoof);
  const double at = AsvErrorRates(bona, spoof, {}).threshold;
  for (const Level& level : levels.levels) {
    if (level.score > at) return std::isfinite(at) ? 0.5 * (at + level.score) : level.score;
  }
  return std::nextafter(at, HUGE_VAL);
}

class Training {
 public:
  Training(const SpoofCorpora& corpora, const SpoofTrainingOptions& options)
      : corpora_(corpora),
        options_(options),
        held_(HoldOut(corpora, options)),
        heard_(held_.size()) {}

  TrainedSpoof Run() {
    Listen();
    const Mlp mlp = Learn();
    result_.model = ToIntegers(mlp, options_);
    result_.held_out = ScoreHeldOut();
    const double threshold = ChooseThreshold(result_.held_out);
    result_.model.net.threshold = std::llround(std::ldexp(threshold, 39));
    CheckRanges(result_.model.net);
    SpoofScores& scores = result_.held_out;
    scores.threshold = result_.model.Threshold();
    for (SpoofRow& row : scores.rows) row.accepted = row.score >= scores.threshold;
    result_.model.training = InWords();
    Compare(mlp);
    Control("level", [](const Heard& heard, int side) { return std::vector{heard.level[side]}; });
    Control("leading silence",
            [](const Heard& heard, int side) { return std::vector{heard.lead[side]}; });
    Control("both", [](const Heard& heard, int side) {
      return std::vector{heard.level[side], heard.lead[side]};
    });
    return std::move(result_);
  }

 private:
  // For the model's header.
  std::string InWords() const {
    const auto lowest = std::min_element(result_.losses.begin(), result_.losses.end());
    const std::string attack = options_.held_out_attack.empty()
                                   ? ""
                                   : fmt::format(" and all of attack {}", options_.held_out_attack);
    return fmt::format(
        "{} cuts ({} genuine) of {} utterances; held out for the threshold: one voice in {}{} ({} "
        "utterances); seed {}, epoch {} of {} (loss {:.3g}), batch {}, learning rate {}, weight "
        "decay {}",
        result_.cuts, result_.cuts_bona_fide, result_.utterances, options_.hold_out_every, attack,
        result_.held_out.rows.size(), options_.seed, lowest - result_.losses.begin() + 1,
        options_.epochs, *lowest, options_.batch, options_.learning_rate, options_.weight_decay);
  }

  void Listen() {
    const auto trouble = HearUtterances(
        corpora_.list, AllOf(corpora_.list), options_.jobs,
        [&](std::size_t i, std::span<const float> x) {
          heard_[i] = Hear(x, !held_[i], SeededRng(options_.seed + 0x9e3779b97f4a7c15U * (i + 1)));
        });
    for (std::size_t i = 0; i < trouble.size(); ++i) {
      if (trouble[i].empty()) continue;
      heard_[i].cuts.clear();
      result_.refused.emplace_back(corpora_.list.utterances[i].id, trouble[i]);
    }
  }

  Mlp Learn() {
    std::vector<const std::vector<float>*> columns;
    std::vector<std::uint8_t> labels;
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      if (held_[i] || heard_[i].cuts.empty()) continue;
      ++result_.utterances;
      for (const std::vector<float>& cut : heard_[i].cuts) {
        columns.push_back(&cut);
        labels.push_back(*corpora_.bona_fide[i] ? 1 : 0);
      }
    }
    if (columns.empty()) throw Error("no speech to train on");
    MlpOptions mlp;
    mlp.hidden = options_.units;
    mlp.epochs = options_.epochs;
    mlp.batch = options_.batch;
    mlp.learning_rate = options_.learning_rate;
    mlp.weight_decay = options_.weight_decay;
    mlp.seed = options_.seed;
    mlp.keep_lowest = true;
    mlp.bounds = BoundsOf(options_);
    Mlp trained = Mlp::Train(Columns(columns), labels, mlp);
    result_.losses = trained.Losses();
    result_.cuts = columns.size();
    result_.cuts_bona_fide =
        static_cast<std::size_t>(std::count(labels.begin(), labels.end(), std::uint8_t{1}));
    return trained;
  }

  SpoofScores ScoreHeldOut() const {
    SpoofScores scores{
        result_.model.name, result_.model.front_end.Fingerprint(), 0.0, options_.decision_only, {}};
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      if (!held_[i] || heard_[i].cuts.empty()) continue;
      const Utterance& utterance = corpora_.list.utterances[i];
      scores.rows.push_back({utterance.id,
                             utterance.speaker,
                             corpora_.attacks[i],
                             corpora_.bona_fide[i],
                             result_.model.Score(heard_[i].cuts.front()),
                             false,
                             {}});
    }
    return scores;
  }

  void Compare(const Mlp& mlp) {
    const double threshold = result_.model.Threshold();
    for (const Heard& heard : heard_) {
      if (heard.cuts.empty()) continue;
      const std::vector<float>& x = heard.cuts.front();
      const double real = mlp.Logits(Columns({&x}))[0], whole = result_.model.Score(x);
      ++result_.compared;
      result_.flipped += (real >= threshold) != (whole >= threshold) ? 1 : 0;
      result_.largest_difference = std::max(result_.largest_difference, std::abs(real - whole));
    }
  }

  template <typename Told>
  void Control(const std::string& name, const Told& told) {
    SpoofControl control{name};
    for (const int side : {0, 1}) {
      std::vector<std::vector<float>> values[2];  // trained on, held out
      std::vector<std::uint8_t> labels[2];
      for (std::size_t i = 0; i < heard_.size(); ++i) {
        if (heard_[i].cuts.empty()) continue;
        const std::vector<double> what = told(heard_[i], side);
        values[held_[i] ? 1 : 0].emplace_back(what.begin(), what.end());
        labels[held_[i] ? 1 : 0].push_back(*corpora_.bona_fide[i] ? 1 : 0);
      }
      std::vector<const std::vector<float>*> columns[2];
      for (const int part : {0, 1}) {
        for (const auto& value : values[part]) columns[part].push_back(&value);
      }
      MlpOptions small;
      small.hidden = 16;
      const Eigen::VectorXf logits =
          Mlp::Train(Columns(columns[0]), labels[0], small).Logits(Columns(columns[1]));
      const std::vector<double> scores(logits.data(), logits.data() + logits.size());
      (side == 0 ? control.eer_recorded : control.eer_heard) =
          EerInterpolated(MakeLevels(scores, labels[1]));
    }
    result_.controls.push_back(std::move(control));
  }

  const SpoofCorpora& corpora_;
  const SpoofTrainingOptions& options_;
  const std::vector<bool> held_;
  std::vector<Heard> heard_;
  TrainedSpoof result_;
};

}  // namespace

void SpoofTrainingOptions::Validate() const {
  const auto in = [](double value, double low, double high, const char* name) {
    if (!(value >= low && value <= high)) {
      throw Error(fmt::format("countermeasure: {} {} is outside {} to {}", name, value, low, high));
    }
  };
  // 8 MiB hold 1390 units; the float net may take 64 deviations, but then its bounds leave little.
  in(units, 1, 1390, "units");
  in(epochs, 1, 10000, "epochs");
  in(batch, 1, 100000, "batch");
  in(learning_rate, 1e-8, 1.0, "learning_rate");
  in(weight_decay, 0.0, 100.0, "weight_decay");
  in(x_max, 1.0, 16.0, "x_max");
  in(hold_out_every, 2, 1000, "hold_out_every");
}

TrainedSpoof TrainSpoof(const SpoofCorpora& corpora, const SpoofTrainingOptions& options) {
  options.Validate();
  for (const auto& bona_fide : corpora.bona_fide) {
    if (!bona_fide) throw Error("training: every corpus must be genuine speech or spoofs");
  }
  return Training(corpora, options).Run();
}

}  // namespace sotto

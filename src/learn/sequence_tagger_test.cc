#include "learn/sequence_tagger.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "learn/chain_crf.h"
#include "text/crf.h"

namespace sotto {
namespace {

using torch::Tensor;

struct Chain {
  // Three sentences of 4, 2 and 1 tokens.
  std::vector<std::int64_t> sizes = {3, 2, 1, 1};
  Tensor emissions;
  ChainWeights weights;
  // The rows of each sentence.
  std::vector<std::vector<std::int64_t>> rows = {{0, 3, 5, 6}, {1, 4}, {2}};

  explicit Chain(std::int64_t labels) {
    torch::manual_seed(3);
    emissions = torch::randn({7, labels});
    weights = {torch::randn({labels, labels}), torch::randn({labels}), torch::randn({labels})};
  }
  double Score(std::size_t sentence, const std::vector<std::int64_t>& labels) const {
    double sum = 0.0;
    for (std::size_t t = 0; t < labels.size(); ++t) {
      sum += emissions[rows[sentence][t]][labels[t]].item<double>();
      sum += (t == 0 ? weights.first[labels[t]] : weights.between[labels[t - 1]][labels[t]])
                 .item<double>();
    }
    return sum + weights.last[labels.back()].item<double>();
  }
  // Calls it with all rows of labels of a sentence.
  template <typename Body>
  void ForAll(std::size_t sentence, const Body& body) const {
    const std::int64_t n = emissions.size(1);
    std::vector<std::int64_t> labels(rows[sentence].size(), 0);
    for (bool more = true; more;) {
      body(labels);
      more = false;
      for (std::int64_t& label : labels) {
        if (++label < n) {
          more = true;
          break;
        }
        label = 0;
      }
    }
  }
};

TEST(ChainCrf, IsWhatEveryRowOfLabelsSaysTogether) {
  const Chain chain(4);
  const Tensor partition = ChainLogPartition(chain.emissions, chain.sizes, chain.weights);
  const std::vector<std::int64_t> best = ChainBest(chain.emissions, chain.sizes, chain.weights);
  for (std::size_t s = 0; s < 3; ++s) {
    double sum = 0.0, most = -1e9;
    std::vector<std::int64_t> most_likely;
    chain.ForAll(s, [&](const std::vector<std::int64_t>& labels) {
      const double score = chain.Score(s, labels);
      sum += std::exp(score);
      if (score > most) {
        most = score;
        most_likely = labels;
      }
    });
    EXPECT_NEAR(partition[static_cast<std::int64_t>(s)].item<double>(), std::log(sum), 1e-5);
    for (std::size_t t = 0; t < most_likely.size(); ++t) {
      EXPECT_EQ(best[static_cast<std::size_t>(chain.rows[s][t])], most_likely[t]) << s << " " << t;
    }
  }
}

TEST(ChainCrf, TheScoreIsThatOfTheRowOfLabels) {
  const Chain chain(3);
  const std::vector<std::vector<std::int64_t>> labels = {{2, 0, 1, 1}, {1, 2}, {0}};
  Tensor rows = torch::zeros({7}, torch::kLong);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t t = 0; t < labels[s].size(); ++t) rows[chain.rows[s][t]] = labels[s][t];
  }
  const Tensor scores = ChainScore(chain.emissions, rows, chain.sizes, chain.weights);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_NEAR(scores[static_cast<std::int64_t>(s)].item<double>(), chain.Score(s, labels[s]),
                1e-5);
  }
}

TEST(ChainCrf, ItsGradientIsTheDifferenceOfWhatIsExpected) {
  // d(log Z − s)/d emission[t, y] = P(y at t) − [y is right]: it sums to 0 over y.
  Chain chain(3);
  chain.emissions.requires_grad_(true);
  const Tensor labels = torch::tensor(std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 0});
  (ChainLogPartition(chain.emissions, chain.sizes, chain.weights) -
   ChainScore(chain.emissions, labels, chain.sizes, chain.weights))
      .sum()
      .backward();
  const Tensor gradient = chain.emissions.grad();
  EXPECT_LT(gradient.sum(1).abs().max().item<double>(), 1e-5);
  EXPECT_LT(gradient.gather(1, labels.unsqueeze(1)).max().item<double>(), 0.0);
}

TEST(ChainCrf, IsThatOfTheRoomText) {
  torch::manual_seed(4);
  const auto n = static_cast<std::int64_t>(kBioLabels);
  constexpr std::int64_t kTokens = 9;
  const Tensor emissions = torch::randn({kTokens, n}), between = torch::randn({n, n});
  const ChainWeights only = BioOnly();
  // There a sentence follows an outside, and its end says nothing.
  const ChainWeights weights{between + only.between, between[0] + only.first, only.last};
  std::vector<LabelScores> scores(kTokens);
  TransitionScores transitions{};
  for (std::int64_t y = 0; y < n; ++y) {
    const auto label = static_cast<std::size_t>(y);
    for (std::int64_t t = 0; t < kTokens; ++t) {
      scores[static_cast<std::size_t>(t)][label] = emissions[t][y].item<double>();
    }
    for (std::int64_t x = 0; x < n; ++x) {
      transitions[static_cast<std::size_t>(x)][label] = between[x][y].item<double>();
    }
  }
  const std::vector<std::int64_t> sizes(kTokens, 1);
  EXPECT_NEAR(ChainLogPartition(emissions, sizes, weights)[0].item<double>(),
              SumLabellings(scores, transitions).log_partition, 1e-4);
  const auto best = ChainBest(emissions, sizes, weights);
  const std::vector<BioLabel> theirs = BestLabels(scores, transitions);
  EXPECT_EQ(std::vector<BioLabel>(best.begin(), best.end()), theirs);
}

TEST(ChainCrf, NothingButBioComesOut) {
  const ChainWeights only = BioOnly();
  const auto n = static_cast<std::int64_t>(kBioLabels);
  torch::manual_seed(5);
  const Tensor emissions = 10.0 * torch::randn({200, n});
  const auto best = ChainBest(emissions, std::vector<std::int64_t>(200, 1), only);
  BioLabel before = kOutside;
  for (const std::int64_t label : best) {
    EXPECT_TRUE(MayFollow(before, static_cast<BioLabel>(label)));
    before = static_cast<BioLabel>(label);
  }
}

// "call NAME NAME in PLACE": names and places are of words that the net has not seen, but for how
// they end; the word before says where they begin.
std::vector<TaggedSentence> Toy(std::uint64_t seed, std::size_t count) {
  SeededRng random(seed);
  const auto word = [&](const char* end) {
    std::string made;
    for (int i = 0; i < 4; ++i) made += static_cast<char>('a' + random.Below(26));
    return made + end;
  };
  std::vector<TaggedSentence> sentences;
  for (std::size_t i = 0; i < count; ++i) {
    TaggedSentence s;
    const auto add = [&](const std::string& w, BioLabel label) {
      s.words.push_back(w);
      s.labels.push_back(label);
    };
    for (std::uint64_t k = random.Below(3); k > 0; --k) add("please", kOutside);
    add("call", kOutside);
    add(word("ski"), BeginOf(EntityType::kPerson));
    if (random.Below(2) == 0) add(word("ova"), InsideOf(EntityType::kPerson));
    if (random.Below(2) == 0) {
      add("in", kOutside);
      add(word("burg"), BeginOf(EntityType::kLocation));
    }
    if (random.Below(2) == 0) add(word("ly"), kOutside);
    sentences.push_back(std::move(s));
  }
  return sentences;
}

SequenceTaggerTraining Small() {
  SequenceTaggerTraining t;
  t.words = 12;
  t.bytes = 8;
  t.filters = 16;
  t.hidden = 16;
  t.epochs = 12;
  t.dropout = 0.2;
  t.run.learning_rate = 1e-2;
  t.run.warm_up = 5;
  return t;
}

TEST(SequenceTagger, LearnsAToyLanguage) {
  torch::set_num_threads(1);
  const auto held_out = Toy(3, 100);
  const TrainedSequenceTagger trained =
      TrainSequenceTagger(Toy(1, 320), Toy(2, 60), {held_out, {}}, Small());
  std::size_t right = 0, all = 0;
  for (std::size_t s = 0; s < held_out.size(); ++s) {
    ASSERT_EQ(trained.tags[0][s].size(), held_out[s].labels.size());
    for (std::size_t t = 0; t < held_out[s].labels.size(); ++t, ++all) {
      right += trained.tags[0][s][t] == held_out[s].labels[t] ? 1 : 0;
    }
  }
  EXPECT_GT(static_cast<double>(right), 0.97 * static_cast<double>(all));
  EXPECT_TRUE(trained.tags[1].empty());
  EXPECT_GT(trained.best_step, 0);
  EXPECT_EQ(trained.curve[1].step, 10);  // an epoch
}

TEST(SequenceTagger, TheSeedSaysWhatIsLearnt) {
  torch::set_num_threads(1);
  SequenceTaggerTraining t = Small();
  t.epochs = 2;
  const auto training = Toy(1, 64), development = Toy(2, 20);
  const auto loss = [&] {
    return TrainSequenceTagger(training, development, {}, t).curve.back()["dev_loss"];
  };
  const double once = loss();
  EXPECT_EQ(once, loss());
  t.run.seed = 2;
  EXPECT_NE(once, loss());
}

TEST(SequenceTagger, TellsWhatCannotBe) {
  SequenceTaggerTraining t = Small();
  EXPECT_THROW(TrainSequenceTagger({}, Toy(1, 2), {}, t), Error);
  EXPECT_THROW(TrainSequenceTagger(Toy(1, 2), {}, {}, t), Error);
  t.dropout = 1.0;
  EXPECT_THROW(TrainSequenceTagger(Toy(1, 2), Toy(2, 2), {}, t), Error);
}

}  // namespace
}  // namespace sotto

#include "learn/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/testing.h"

namespace sotto {
namespace {

using torch::Tensor;

// A linear layer with running statistics behind it is to give the sum of its inputs. Its score is
// what the test says, and it may be cut off in the middle of a batch.
class Sum : public Lesson {
 public:
  explicit Sum(Trainer& trainer) : random_(trainer.Random(1)) {
    for (TorchBackend* backend : {&net_, &smooth_}) Forward(*backend, torch::zeros({2, 3, 1}));
    weights_.emplace(net_);
    average_.emplace(smooth_);
  }

  std::vector<Learner> Learners() override { return {{"net", &*weights_, &*average_}}; }
  Losses Batch(const Moment& now) override {
    if (now.step == cut_off) throw Error("cut off");
    drawn.push_back(random_());
    rates.push_back(now.adam.learning_rate);
    const Tensor x = torch::randn({8, 3, 1});
    first.push_back(x[0][0][0].item<float>());
    net_.SetTraining(true);
    const Tensor loss = (Forward(net_, x) - x.sum(1, true)).square().mean();
    losses.push_back(loss.item<double>());
    return {loss, {loss, torch::ones({})}};
  }
  std::vector<ValidationFigure> Validate(const std::vector<double>& means) override {
    torch::rand({1});  // as real ones draw
    shown.push_back(means);
    const double score = scores.empty() ? 0.0 : scores[std::min(at_++, scores.size() - 1)];
    validated.push_back(Average().clone());
    return {{"loss", "  loss {:.3f}", means[0]}, {"score", "  score {:.1f} %", score, 100.0}};
  }
  std::string_view Best() const override { return "score"; }

  Tensor Average() const { return average_->Values().detach(); }
  Tensor Weights() const { return weights_->Values().detach(); }
  Tensor Statistics() {
    TensorMap all;
    average_->AddWeights("", all);
    return all.at(".statistics");
  }

  std::int64_t cut_off = -1;
  std::vector<double> scores, rates, losses;
  std::vector<std::uint64_t> drawn;
  std::vector<float> first;
  std::vector<std::vector<double>> shown;
  std::vector<Tensor> validated;

 private:
  static Tensor Forward(TorchBackend& backend, const Tensor& x) {
    ConvShape shape;
    shape.in = 3;
    shape.out = 1;
    return backend.BatchNorm(backend.Conv1d(x, "sum", shape), "norm");
  }

  std::mt19937_64& random_;
  TorchBackend net_{torch::kCPU}, smooth_{torch::kCPU};
  std::optional<FlatParameters> weights_, average_;
  std::size_t at_ = 0;
};

RunOptions Short() {
  RunOptions o;
  o.steps = 12;
  o.warm_up = 4;
  o.validate_every = 5;
  o.learning_rate = 0.1;
  o.final_learning_rate = 0.001;
  o.average = 0.5;
  o.seed = 7;
  return o;
}

struct Trained {
  Trained(const RunOptions& o, std::vector<double> scores = {}) : trainer(o), lesson(trainer) {
    lesson.scores = std::move(scores);
    trainer.Run(lesson);
  }
  Trainer trainer;
  Sum lesson;
};

TEST(Trainer, ValidatesAtTheBeginningEverySoManyStepsAndAtTheEnd) {
  const Trained t(Short());
  std::vector<std::int64_t> steps;
  for (const TrainingPoint& p : t.trainer.Curve()) steps.push_back(p.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 5, 10, 12}));
  EXPECT_EQ(t.lesson.losses.size(), 12u);
  // Means over the steps since the last one.
  EXPECT_EQ(t.lesson.shown[0][0], 0.0);
  double sum = 0.0;
  for (int i = 5; i < 10; ++i) sum += t.lesson.losses[static_cast<std::size_t>(i)];
  EXPECT_NEAR(t.lesson.shown[2][0], sum / 5.0, 1e-5 * sum);
  EXPECT_EQ(t.lesson.shown[3][1], 1.0);
  EXPECT_LT(t.lesson.shown[3][0], t.lesson.shown[1][0]);
  const auto record = CurveRecord(t.trainer.Curve());
  EXPECT_EQ(record[2]["loss"], t.trainer.Curve()[2]["loss"]);
  EXPECT_FALSE(CurveRecord(t.trainer.Curve(), false)[2].contains("seconds"));
  EXPECT_THROW(t.trainer.Curve()[0]["no such figure"], Error);
}

TEST(Trainer, TheSeedSaysWhatIsDrawn) {
  const Trained one(Short()), same(Short());
  EXPECT_EQ(one.lesson.drawn, same.lesson.drawn);
  EXPECT_EQ(one.lesson.first, same.lesson.first);
  EXPECT_TRUE(torch::equal(one.lesson.Average(), same.lesson.Average()));
  RunOptions o = Short();
  o.seed = 8;
  const Trained other(o);
  EXPECT_NE(one.lesson.drawn, other.lesson.drawn);
  EXPECT_NE(one.lesson.first, other.lesson.first);
  Trainer trainer(Short());
  EXPECT_NE(trainer.Random(1)(), trainer.Random(2)());
  EXPECT_EQ(&trainer.Random(1), &trainer.Random(1));
}

TEST(Trainer, TheLearningRateRisesAndFalls) {
  const std::vector<double> rates = Trained(Short()).lesson.rates;
  const auto cosine = [](double t) {
    return 0.001 + 0.5 * (0.1 - 0.001) * (1.0 + std::cos(M_PI * t));
  };
  EXPECT_NEAR(rates[0], 0.25 * cosine(0.0), 1e-9);
  EXPECT_NEAR(rates[3], cosine(3.0 / 12.0), 1e-9);
  EXPECT_NEAR(rates[11], cosine(11.0 / 12.0), 1e-9);
  RunOptions o = Short();
  o.decay_after_warm_up = true;
  const std::vector<double> later = Trained(o).lesson.rates;
  EXPECT_NEAR(later[1], 0.05, 1e-9);
  EXPECT_NEAR(later[4], 0.1, 1e-9);
  EXPECT_NEAR(later[6], cosine(2.0 / 8.0), 1e-9);
}

TEST(Trainer, TheLearningRateIsHalvedWhereValidationsBringNoNewBest) {
  RunOptions o = Short();
  o.halve_after = 1;
  EXPECT_THROW(Trained{o}, Error);  // which is the best is not asked then
  o.keep_best = true;
  o.validate_every = 3;
  const Trained t(o, {0.9, 0.9, 0.3, 0.4, 0.5});
  const std::vector<double>& rates = t.lesson.rates;
  ASSERT_EQ(rates.size(), 12u);
  EXPECT_NEAR(rates[2], 0.075, 1e-9);  // in the warm-up
  EXPECT_NEAR(rates[5], 0.05, 1e-9);
  EXPECT_NEAR(rates[8], 0.05, 1e-9);
  EXPECT_NEAR(rates[11], 0.025, 1e-9);
}

TEST(Trainer, TheAverageFollowsTheWeights) {
  RunOptions o = Short();
  o.average = 0.0;
  Trained at_once(o);
  EXPECT_TRUE(torch::equal(at_once.lesson.Average(), at_once.lesson.Weights()));
  EXPECT_GT(at_once.lesson.Statistics().abs().max().item<float>(), 0.0F);
  o.steps = 1;
  o.average = 0.999;  // the first decay is a tenth in any case
  const Trained one(o);
  const Tensor begun = one.lesson.validated[0], expected = 0.1 * begun + 0.9 * one.lesson.Weights();
  EXPECT_TRUE(torch::allclose(one.lesson.Average(), expected));
}

TEST(Trainer, KeepsTheBestNetAndStopsWhenItsPatienceEnds) {
  RunOptions o = Short();
  const std::vector<double> scores = {0.9, 0.3, 0.4, 0.5};
  const Trained last(o, scores);
  EXPECT_EQ(last.trainer.BestStep(), 12);
  EXPECT_TRUE(torch::equal(last.lesson.Average(), last.lesson.validated[3]));
  o.keep_best = true;
  const Trained best(o, scores);
  EXPECT_EQ(best.trainer.BestStep(), 5);
  EXPECT_TRUE(torch::equal(best.lesson.Average(), best.lesson.validated[1]));
  EXPECT_FALSE(torch::equal(best.lesson.Average(), best.lesson.validated[3]));
  o.patience = 1;
  const Trained stopped(o, scores);
  EXPECT_EQ(stopped.trainer.Curve().back().step, 10);
  EXPECT_TRUE(torch::equal(stopped.lesson.Average(), best.lesson.Average()));
}

TEST(Trainer, ARunThatWasCutOffEndsAsIfItHadNotBeen) {
  const testing::TemporaryFolder folder;
  RunOptions o = Short();
  o.warm_up = 8;  // the checkpoint lies in it
  o.keep_best = true;
  const std::vector<double> scores = {0.9, 0.3, 0.4, 0.5};
  Trained whole(o, scores);
  o.checkpoint = folder / "checkpoint";
  for (const std::int64_t cut_off : {7, 11}) {
    SCOPED_TRACE(cut_off);
    o.resume.clear();
    {
      Trainer trainer(o);
      Sum lesson(trainer);
      lesson.scores = scores;
      lesson.cut_off = cut_off;
      EXPECT_THROW(trainer.Run(lesson), Error);
    }
    o.resume = o.checkpoint;
    const std::size_t before = cut_off == 7 ? 1 : 2;  // validations that are not repeated
    Trained more(o, {scores.begin() + static_cast<std::ptrdiff_t>(before), scores.end()});
    EXPECT_EQ(more.trainer.Curve().front().step, cut_off == 7 ? 5 : 10);
    EXPECT_EQ(more.trainer.BestStep(), 5);
    EXPECT_TRUE(torch::equal(more.lesson.Weights(), whole.lesson.Weights()));
    EXPECT_TRUE(torch::equal(more.lesson.Average(), whole.lesson.Average()));
    EXPECT_TRUE(torch::equal(more.lesson.Statistics(), whole.lesson.Statistics()));
    const auto as_before = [&](const auto& all, const auto& rest) {
      return std::equal(rest.rbegin(), rest.rend(), all.rbegin());
    };
    EXPECT_TRUE(as_before(whole.lesson.drawn, more.lesson.drawn));
    EXPECT_TRUE(as_before(whole.lesson.first, more.lesson.first));
    EXPECT_TRUE(as_before(whole.lesson.rates, more.lesson.rates));
    EXPECT_TRUE(as_before(whole.lesson.shown, more.lesson.shown));
  }
}

TEST(Trainer, ACheckpointKnowsHowOftenTheRateWasHalved) {
  const testing::TemporaryFolder folder;
  RunOptions o = Short();
  o.keep_best = true;
  o.halve_after = 1;
  o.validate_every = 2;
  const std::vector<double> scores = {0.3, 0.4, 0.2, 0.5, 0.1};
  const Trained whole(o, scores);
  o.checkpoint = folder / "checkpoint";
  {
    Trainer trainer(o);
    Sum lesson(trainer);
    lesson.scores = scores;
    lesson.cut_off = 7;
    EXPECT_THROW(trainer.Run(lesson), Error);
  }
  o.resume = o.checkpoint;
  const Trained more(o, {0.5, 0.1});
  ASSERT_EQ(more.lesson.rates.size(), 6u);
  EXPECT_NEAR(more.lesson.rates[0], 0.025, 1e-9);
  EXPECT_TRUE(std::equal(more.lesson.rates.rbegin(), more.lesson.rates.rend(),
                         whole.lesson.rates.rbegin()));
}

TEST(Trainer, ACheckpointOfBeforeBeginsWithANewOptimiserAndAWarmUp) {
  const testing::TemporaryFolder folder;
  RunOptions o = Short();
  o.checkpoint = folder / "checkpoint";
  const Trained whole(o);
  TensorFile old = ReadTensorFile(o.checkpoint);
  for (const char* name : {"net.first", "net.second", "net.steps", "random.cpu", "sums"}) {
    EXPECT_EQ(old.tensors.erase(name), 1u) << name;
  }
  std::map<std::string, std::string> metadata;
  for (const char* key : {"sotto.kind", "sotto.step", "sotto.seconds"}) {
    metadata[key] = old.Meta(key);
  }
  old.metadata = metadata;
  WriteTensorFile(folder / "old", old, StoredAs::kFloat32);
  o.resume = folder / "old";
  o.steps = 20;
  const Trained more(o);
  EXPECT_EQ(more.trainer.Curve().front().step, 12);
  EXPECT_TRUE(torch::equal(more.lesson.validated[0], whole.lesson.Average()));
  const double whole_rate = 0.001 + 0.5 * 0.099 * (1.0 + std::cos(M_PI * 12.0 / 20.0));
  EXPECT_NEAR(more.lesson.rates[0], whole_rate / 4.0, 1e-9);
  EXPECT_EQ(more.lesson.drawn[0], whole.lesson.drawn[0]);
}

TEST(Trainer, RefusesCheckpointsThatAreNoneOfItsNet) {
  const testing::TemporaryFolder folder;
  RunOptions o = Short();
  o.checkpoint = folder / "checkpoint";
  Trained trained(o);
  const TensorFile good = ReadTensorFile(o.checkpoint);
  o.resume = folder / "bad";
  const auto refuses = [&](const TensorFile& file) {
    WriteTensorFile(o.resume, file, StoredAs::kFloat32);
    EXPECT_THROW(Trained{o}, Error);
  };
  TensorFile bad = good;
  bad.metadata["sotto.kind"] = "synth";
  refuses(bad);
  bad = good;
  bad.metadata["sotto.step"] = "many";
  refuses(bad);
  bad = good;
  bad.metadata["sotto.random.1"] = "none";
  refuses(bad);
  bad = good;
  bad.tensors.erase("average");
  refuses(bad);
  bad = good;
  bad.tensors["net"] = {{1}, {1.0F}};
  refuses(bad);
}

TEST(RunOptions, NameWhatCannotBe) {
  RunOptions o;
  EXPECT_NO_THROW(o.Validate());
  o.average = 1.0;
  try {
    o.Validate();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("average is 1"), std::string::npos) << error.what();
  }
  o = {};
  o.bf16 = true;
  EXPECT_THROW(o.Validate(), Error);
  o = {};
  o.steps = 0;
  EXPECT_THROW(o.Validate(), Error);
}

TEST(HoldOut, TakesThoseNamedAndDrawsTheRestByTheSeed) {
  const std::vector<std::string> all = {"a", "b", "c", "d", "e", "f", "g", "h"};
  const std::set<std::string> some = ChooseHeldOut(all, {3, {"f"}}, 2, 1);
  EXPECT_EQ(some.size(), 3u);
  EXPECT_TRUE(some.contains("f"));
  EXPECT_EQ(some, ChooseHeldOut(all, {3, {"f"}}, 2, 1));
  EXPECT_NE(some, ChooseHeldOut(all, {3, {"f"}}, 2, 2));
  EXPECT_EQ(ChooseHeldOut(all, {1, {"a", "b"}}, 2, 1), (std::set<std::string>{"a", "b"}));
  EXPECT_THROW(ChooseHeldOut(all, {1, {"nobody"}}, 2, 1), Error);
  EXPECT_THROW(ChooseHeldOut(all, {9, {}}, 2, 1), Error);
}

}  // namespace
}  // namespace sotto

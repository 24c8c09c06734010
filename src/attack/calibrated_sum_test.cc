#include "attack/calibrated_sum.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assess/interner.h"
#include "assess/verification.h"
#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

// Every speaker with every other; two independent Gaussian scores whose targets lie `apart` higher.
struct Scored {
  Scored(int speakers, double apart, double other_apart) {
    SeededRng rng(8);
    Interner names;
    for (int e = 0; e < speakers; ++e) {
      for (int t = 0; t < speakers; ++t) {
        for (int k = 0; k < (e == t ? 8 : 1); ++k) {
          trials.enrol_spk.index.push_back(names.Add(fmt::format("s{:02}", e)));
          trials.test_spk.index.push_back(names.Add(fmt::format("s{:02}", t)));
          trials.is_target.push_back(e == t ? 1 : 0);
          trials.scores.push_back(rng.Gaussian() + (e == t ? apart : 0.0));
          other.push_back(100.0 + 10.0 * (rng.Gaussian() + (e == t ? other_apart : 0.0)));
        }
      }
    }
    trials.enrol_spk.names = names.TakeNames();
    trials.test_spk.names = trials.enrol_spk.names;
  }
  double Eer(const std::vector<double>& scores) const {
    return EerInterpolated(MakeLevels(scores, trials.is_target));
  }

  Trials trials;
  std::vector<double> other;
};

TEST(CalibratedSum, TwoIndependentScoresTellMoreThanOne) {
  const Scored scored(40, 1.5, 2.0);
  const std::vector<double> sum = CalibratedSum(scored.trials, scored.other);
  // d = √(1.5² + 2²) = 2.5: Φ(−1.25) = 10.6 %.
  EXPECT_NEAR(scored.Eer(sum), 0.106, 0.03);
  EXPECT_LT(scored.Eer(sum), scored.Eer(scored.other) - 0.02);
  // A likelihood ratio: of Gaussians it is 1.5·(x − 0.75) + 2·(y − 1).
  double error = 0.0;
  for (std::size_t t = 0; t < sum.size(); ++t) {
    const double y = (scored.other[t] - 100.0) / 10.0;
    error += std::abs(sum[t] - 1.5 * (scored.trials.scores[t] - 0.75) - 2.0 * (y - 1.0));
  }
  EXPECT_LT(error / static_cast<double>(sum.size()), 0.35);
}

TEST(CalibratedSum, AScoreThatSaysNothingDoesNoHarm) {
  const Scored scored(40, 2.0, 0.0);
  EXPECT_NEAR(scored.Eer(CalibratedSum(scored.trials, scored.other)),
              scored.Eer(scored.trials.scores), 0.02);
}

TEST(CalibratedSum, IsFittedOnOtherSpeakers) {
  Scored scored(20, 1.0, 1.0);
  const std::vector<double> before = CalibratedSum(scored.trials, scored.other);
  // Speaker 0 alone has labels that are wrong: the speaker's own trials do not see it.
  for (std::size_t t = 0; t < scored.trials.size(); ++t) {
    if (scored.trials.enrol_spk.At(t) != "s00" && scored.trials.test_spk.At(t) != "s00") continue;
    scored.trials.is_target[t] = scored.trials.is_target[t] != 0 ? 0 : 1;
  }
  const std::vector<double> after = CalibratedSum(scored.trials, scored.other);
  bool others_moved = false;
  for (std::size_t t = 0; t < after.size(); ++t) {
    const bool own =
        scored.trials.enrol_spk.At(t) == "s00" || scored.trials.test_spk.At(t) == "s00";
    if (own) {
      EXPECT_EQ(after[t], before[t]);
    } else {
      others_moved = others_moved || after[t] != before[t];
    }
  }
  EXPECT_TRUE(others_moved);
}

TEST(CalibratedSum, RefusesWhatItCannotFit) {
  const Scored few(2, 1.0, 1.0);
  EXPECT_THROW(CalibratedSum(few.trials, few.other), Error);
  const Scored scored(20, 1.0, 1.0);
  EXPECT_THROW(CalibratedSum(scored.trials, {1.0}), Error);
  Trials nameless = scored.trials;
  nameless.enrol_spk = {};
  EXPECT_THROW(CalibratedSum(nameless, scored.other), Error);
}

}  // namespace
}  // namespace sotto

// embed, score, verify and train ivector, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;

// Voices with different pitch and formants, three recordings each.
void MakeCorpus(const fs::path& folder, int first, int last) {
  for (int s = first; s < last; ++s) {
    for (int i = 0; i < 3; ++i) {
      const double shift = 1.0 + 0.06 * s;
      testing::WriteWav(folder / fmt::format("s{}/{}-{}.wav", s, s, i),
                        testing::SyntheticVowel(1.5, 16000, 90.0 + 15.0 * s + 2.0 * i,
                                                {(600.0 + 60.0 * i) * shift, 1200.0 * shift,
                                                 (2500.0 - 80.0 * i) * shift}));
    }
  }
}

TEST(SpeakerVerbs, FromRecordingsToALikelihoodRatio) {
  TemporaryFolder folder;
  MakeCorpus(folder / "train", 0, 6);
  MakeCorpus(folder / "test", 6, 10);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const Outcome trained = Sotto(fmt::format(
      "train ivector {} -o {} --components 4 --dimension 5 --lda 4", at("train"), at("iv")));
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(Has(trained, "18 utterances of 6 speakers"));

  const Outcome embedded =
      Sotto(fmt::format("embed {} {} --encoder {} --format npy", at("test"), at("e"), at("iv")));
  ASSERT_EQ(embedded.code, 0) << embedded.output;
  EXPECT_TRUE(Has(embedded, "12 utterances of 4 speakers (4 without a gender)"));
  for (const char* name :
       {"xvector.ark", "xvector.scp", "utt2spk", "spk2gender", "xvector.npy", "ids"}) {
    EXPECT_TRUE(fs::exists(folder / "e" / name)) << name;
  }

  const std::string both = fmt::format("--enrol {} --trials {}", at("e"), at("e"));
  const Outcome scores = Sotto(fmt::format("score {} --by utterance", both));
  ASSERT_EQ(scores.code, 0) << scores.output;
  EXPECT_EQ(SplitLines(scores.output).size(), 12U * 11U);
  const Outcome shared = Sotto(fmt::format("score {}", both));
  EXPECT_EQ(shared.code, 1);
  EXPECT_TRUE(Has(shared, "12 of 12 trial utterances are part of the enrolment"));
  const Outcome no_model = Sotto(fmt::format("score {} --backend plda", both));
  EXPECT_EQ(no_model.code, 1);
  EXPECT_TRUE(Has(no_model, "--plda or --train"));
  EXPECT_EQ(Sotto("score --backend other").code, 2);

  const std::string pair = at("test") + "/s6/6-0.wav " + at("test") + "/s6/6-1.wav";
  const Outcome plain = Sotto(fmt::format("verify {} --encoder {}", pair, at("iv")));
  EXPECT_EQ(plain.code, 0) << plain.output;
  EXPECT_TRUE(Has(plain, "uncalibrated"));
  const Outcome fitted = Sotto(fmt::format("train calibration {} --encoder {} -o {}", at("test"),
                                           at("iv"), at("calibrated")));
  ASSERT_EQ(fitted.code, 0) << fitted.output;
  const Outcome words = Sotto(fmt::format("verify {} --encoder {}", pair, at("calibrated")));
  EXPECT_TRUE(Has(words, "support for")) << words.output;
}

TEST(SpeakerVerbs, EmbeddingsOfTwoEncodersAreNotCompared) {
  TemporaryFolder folder;
  MakeCorpus(folder / "c", 0, 3);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  for (const int seed : {1, 2}) {
    ASSERT_EQ(Sotto(fmt::format("train ivector {0} -o {1}{2} --components 2 --dimension 3 --lda 2 "
                                "--seed {2}",
                                at("c"), at("iv"), seed))
                  .code,
              0);
    ASSERT_EQ(
        Sotto(fmt::format("embed {0} {1}/{2} --encoder {3}{2}", at("c"), at("e"), seed, at("iv")))
            .code,
        0);
  }
  const Outcome outcome =
      Sotto(fmt::format("score --enrol {0}/1 --trials {0}/2 --by utterance", at("e")));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome, "different encoders")) << outcome.output;
}

TEST(SpeakerVerbs, HelpEndsWithTwoExamples) {
  for (const char* verb : {"embed", "score", "verify", "train ivector", "train calibration"}) {
    const Outcome help = Sotto(std::string(verb) + " --help");
    EXPECT_EQ(help.code, 0);
    const std::size_t examples = help.output.find("e.g.:");
    ASSERT_NE(examples, std::string::npos) << verb;
    const std::size_t first = help.output.find("sotto ", examples);
    ASSERT_NE(first, std::string::npos) << verb;
    EXPECT_NE(help.output.find("sotto ", first + 1), std::string::npos) << verb;
  }
}

}  // namespace
}  // namespace sotto

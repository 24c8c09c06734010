// spoof train and score, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;

TEST(SpoofVerb, FromRecordingsToATandem) {
  const TemporaryFolder folder;
  testing::MakeSpoofCorpora(folder / "real", folder / "fake");
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const std::string corpora = fmt::format("--bona-fide {} --spoof {}", at("real"), at("fake"));
  const std::string train =
      fmt::format("spoof train {} --units 4 --epochs 2 --hold-out-every 3 --bootstrap 10", corpora);
  const Outcome trained =
      Sotto(fmt::format("{} -o {} --report {}", train, at("net"), at("train.html")));
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(Has(trained, "PRIVASP-4 trained on")) << trained.output;
  EXPECT_TRUE(Has(trained, "decisions flipped"));
  EXPECT_TRUE(Has(trained, "leading silence"));
  EXPECT_TRUE(Has(trained, "cm_eer engine1"));
  EXPECT_NE(ReadTextFile(folder / "train.html").find("Training loss"), std::string::npos);
  EXPECT_EQ(Sotto(fmt::format("{} -o {}", train, at("net"))).code, 1);  // it is there
  const Outcome json = Sotto(fmt::format("{} -o {} --force --json", train, at("net")));
  EXPECT_TRUE(Has(json, "\"eer_heard\"")) << json.output;

  const Outcome scored = Sotto(fmt::format("spoof score {} --model {} -o {} --report {}", corpora,
                                           at("net"), at("cm.tsv"), at("score.html")));
  ASSERT_EQ(scored.code, 0) << scored.output;
  EXPECT_TRUE(Has(scored, "48 utterances by PRIVASP-4"));
  WriteFileAtomically(folder / "asv.tsv",
                      "attack\tkey\tscore\n-\ttarget\t3\n-\ttarget\t2\n-\tnontarget\t0\n"
                      "-\tnontarget\t1\nengine0\tspoof\t3\nengine1\tspoof\t2.5\n");
  const Outcome tandem = Sotto(fmt::format("assess tandem --asv {} --cm {} --json --bootstrap 0",
                                           at("asv.tsv"), at("cm.tsv")));
  EXPECT_EQ(tandem.code, 0) << tandem.output;
  EXPECT_TRUE(Has(tandem, "\"engine1\"")) << tandem.output;
}

TEST(SpoofVerb, ARecordingIsScoredByTheNetInTheProgramAndBadOnesAreNamed) {
  const TemporaryFolder folder;
  const std::vector<float> vowel = testing::SyntheticVowel(2.0, 16000);
  testing::WriteWav(folder / "good.wav", vowel);
  testing::WriteWav(folder / "other.wav", vowel, 8000);
  const std::string good = (folder / "good.wav").string(), bad = (folder / "other.wav").string();
  const Outcome one = Sotto("spoof score " + good);
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_TRUE(Has(one, "utt\tattack\tkey\tscore\tdecision\ngood\t-\t-\t")) << one.output;
  const Outcome two = Sotto(fmt::format("spoof score {} {} --model privasp-512 --json", good, bad));
  EXPECT_EQ(two.code, 1);
  EXPECT_TRUE(Has(two, "8000 Hz: 16000 is wanted")) << two.output;
  EXPECT_TRUE(Has(two, "\"scored\": 1"));
  EXPECT_EQ(Sotto("spoof score").code, 2);
  EXPECT_EQ(Sotto("spoof").code, 2);
  EXPECT_EQ(Sotto(fmt::format("spoof score {} --model {}", good, good)).code, 1);
  for (const char* verb : {"spoof", "spoof train", "spoof score"}) {
    const Outcome help = Sotto(std::string(verb) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(Has(help, "e.g.:"));
  }
}

}  // namespace
}  // namespace sotto

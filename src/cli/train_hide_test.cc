// sotto train hide and sotto train gender-aae, run as a user would.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "speaker/hider.h"
#include "speaker/voices_testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;
using testing::Voices;

struct TrainHide : public ::testing::Test {
  // Women have more of coordinate 0 in both folders, and of another one in each.
  TrainHide() {
    for (const int k : {1, 2}) {
      EmbeddingSet voices = Voices("s", 40, 3, static_cast<std::uint64_t>(k));
      for (Eigen::Index i = 0; i < voices.vectors.cols(); ++i) {
        const float shift = i / 3 % 2 == 0 ? 2.0F : -2.0F;
        voices.vectors(0, i) += shift;
        voices.vectors(k, i) += shift;
      }
      WriteEmbeddings(voices, folder / ("e" + std::to_string(k)));
    }
  }

  std::string At(const std::string& name) const { return (folder / name).string(); }
  // sotto train …, on the embeddings.
  Outcome Train(const std::string& words) const {
    return Sotto("train " + words + " --embeddings " + At("e1") + " " + At("e2"));
  }

  TemporaryFolder folder;
};

constexpr const char* kQuick = "gender-aae --eps-train 20 --latent 8 --epochs 5 -o ";

TEST_F(TrainHide, FitsEveryDefenceByItsName) {
  for (const std::string& name : ProgramHiders().Names()) {
    if (name == "gender-aae") continue;
    const Outcome trained = Train("hide --method " + name + " -o " + At(name));
    ASSERT_EQ(trained.code, 0) << name << ": " << trained.output;
    EXPECT_EQ(ReadHider(At(name))->Header().method, name);
  }
  const Outcome trained = Train(std::string("hide --method ") + kQuick + At("aae") + " --json");
  ASSERT_EQ(trained.code, 0) << trained.output;
  const auto json = ParseJson(trained.out);
  EXPECT_EQ(json["method"], "gender-aae");
  EXPECT_EQ(json["voiceprints"], 240);
  EXPECT_EQ(json["speakers"]["gender"]["F"], 40);
  EXPECT_EQ(json["noisy_coordinates"], 8);
  EXPECT_GT(json["l1_bound"], 0.0);
  const auto hider = ReadHider(At("aae"));
  EXPECT_EQ(hider->Header().training, json["training"]);
  EXPECT_EQ(hider->L1Bound(), json["l1_bound"]);
}

TEST_F(TrainHide, GenderAaeIsTheSameByItsOwnVerbAndGoesOn) {
  ASSERT_EQ(Train(std::string("hide --method ") + kQuick + At("a")).code, 0);
  ASSERT_EQ(Train(kQuick + At("b")).code, 0);
  EXPECT_EQ(ReadTextFile(At("a")), ReadTextFile(At("b")));
  const std::string state = At("state");
  ASSERT_EQ(Train("gender-aae --eps-train 20 --latent 8 --epochs 2 --checkpoint " + state + " -o " +
                  At("part"))
                .code,
            0);
  ASSERT_EQ(Train(kQuick + At("rest") + " --resume " + state).code, 0);
  EXPECT_EQ(ReadTextFile(At("rest")), ReadTextFile(At("a")));
  const Outcome other =
      Train("gender-aae --eps-train 15 --latent 8 -o " + At("other") + " --resume " + state);
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(Has(other, "a checkpoint of other data or settings")) << other.output;
  EXPECT_FALSE(fs::exists(At("other")));
}

TEST_F(TrainHide, BadUsageWritesNothing) {
  const std::string out = " -o " + At("model");
  const auto refused = [&](const std::string& words, const std::string& says) {
    const Outcome outcome = Train(words + out);
    EXPECT_NE(outcome.code, 0) << words;
    EXPECT_TRUE(Has(outcome, says)) << words << ": " << outcome.output;
    EXPECT_FALSE(fs::exists(At("model"))) << words;
  };
  refused("gender-aae", "needs --eps-train");
  refused("gender-aae --eps-train 0", "above 0 is allowed");
  refused("hide --method leace --eps-train 20",
          "--eps-train belongs to --method gender-aae; the method here is leace");
  refused("hide --method none", "none");
  refused("hide", "--method");
  refused("gender-aae --eps-train 20 --attribute age", "need --labels");
  refused("gender-aae --eps-train 20 --resume " + At("e1/utt2spk"), "utt2spk");
  refused("gender-aae --eps-train 20 --checkpoint " + At("model"), "model");
}

TEST_F(TrainHide, AModelThatIsThereStays) {
  WriteFileAtomically(At("model"), "mine");
  EXPECT_EQ(Train(kQuick + At("model")).code, 1);
  EXPECT_EQ(ReadTextFile(At("model")), "mine");
  EXPECT_EQ(Train(kQuick + At("model") + " --force").code, 0);
  EXPECT_NE(ReadTextFile(At("model")), "mine");
}

}  // namespace
}  // namespace sotto

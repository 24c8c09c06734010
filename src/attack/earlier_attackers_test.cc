// Attackers' encoders of earlier builds (tests/fixtures/README.md) fit the releases they always
// did.
#include <gtest/gtest.h>

#include <sstream>

#include "attack/attacker_header.h"
#include "base/files.h"
#include "nn/safetensors.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = SOTTO_FIXTURES;

TEST(EarlierAttackers, FitTheReleasesTheyAlwaysDid) {
  std::istringstream expected(ReadTextFile(kFixtures / "attackers" / "expected.tsv"));
  std::string attacker, release, mismatch;
  int pairs = 0;
  while (std::getline(expected, attacker, '\t') && std::getline(expected, release, '\t') &&
         std::getline(expected, mismatch)) {
    ++pairs;
    const TensorFile file = ReadTensorFile(kFixtures / "attackers" / (attacker + ".safetensors"));
    const fs::path record = kFixtures / "run_records" / (release + ".json");
    EXPECT_EQ(AttackerMismatch(file.Meta("sotto.attacker"),
                               ParseReleaseRecord(ReadTextFile(record), release),
                               "0123456789abcdef", attacker),
              mismatch)
        << attacker << " against " << release;
  }
  EXPECT_GE(pairs, 15);
}

TEST(EarlierAttackers, HaveTheirTrainingCurves) {
  const TensorFile file = ReadTensorFile(kFixtures / "attackers" / "earlier-neural.safetensors");
  const auto curve = ParseTrainingCurve(file.Meta("sotto.training"), file.where);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[1].step, 200.0);
  EXPECT_EQ(curve[1].loss, 8.25);
  EXPECT_EQ(curve[1].held_out_eer, 0.125);
}

}  // namespace
}  // namespace sotto

// A million and ten million trials with many ties, against values of other people's code.
#include <gtest/gtest.h>
#include <sodium.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "assess/numpy_testing.h"
#include "assess/verify.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto {
namespace {

using nlohmann::json;

std::string Sha256(std::span<const double> values) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(values.data()),
                     values.size_bytes());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return hex.data();
}

std::string RecipeValue(const std::filesystem::path& recipe, std::string_view key) {
  const std::string text = ReadTextFile(recipe);
  for (const auto& row : ParseTsv(text, recipe.string()).rows) {
    if (row[0] == key) return std::string(row[1]);
  }
  return "";
}

void ExpectGolden(const std::string& name, std::size_t n) {
  const auto folder = testing::SharedFolder() / "data/golden" / name;
  const auto trials = testing::MakeLargeTrials(
      n, static_cast<std::uint32_t>(std::stoul(RecipeValue(folder / "recipe.tsv", "seed"))));
  // The generator is numpy's to the last bit, so the golden values hold for these very scores.
  ASSERT_EQ(Sha256(trials.tar), RecipeValue(folder / "recipe.tsv", "tar_sha256"));
  ASSERT_EQ(Sha256(trials.non), RecipeValue(folder / "recipe.tsv", "non_sha256"));

  const json values = json::parse(ReadTextFile(folder / "expected.json"))["values"];
  const ScoreFigures ours =
      MeasureScores(MakeLevels(std::span(trials.tar), std::span(trials.non)), VerifyOptions());
  const auto expect = [&](double got, const char* metric, const char* implementation,
                          double tolerance) {
    const double expected = values.at(metric).at(implementation).get<double>();
    EXPECT_NEAR(got, expected, tolerance * expected) << metric;
  };
  expect(ours.auc, "auc", "sklearn", 1e-9);
  expect(ours.eer_argmin, "eer_argmin", "asvspoof5", 1e-9);
  expect(ours.eer, "eer_interp", "sklearn roc_curve + brentq", 1e-9);
  expect(ours.eer_rocch, "eer_rocch", "PyBOSARIS", 1e-9);
  expect(ours.cllr, "cllr", "PYLLR", 1e-9);
  expect(ours.cllr_min, "min_cllr", "PYLLR", 1e-9);
  expect(ours.min_dcf[2], "mindcf_p0.01_cm1_cf1", "PyBOSARIS", 1e-9);
  expect(ours.act_dcf[2], "actdcf_p0.01_cm1_cf1", "PyBOSARIS", 1e-9);
  expect(ours.d_sys, "dsys_omega1", "VoicePAT/VPC2024", 1e-9);
  if (values.contains("zebra_dece_bit")) {
    expect(ours.zebra.d_ece_bits, "zebra_dece_bit", "ZEBRA", 1e-6);
  }
}

TEST(LargeGolden, AMillionTrialsAreReproduced) {
  SOTTO_NEEDS_SHARED("data/golden/large_1e6");
  ExpectGolden("large_1e6", 1000000);
}

TEST(LargeGoldenSlow, TenMillionTrialsAreReproduced) {
  SOTTO_NEEDS_SHARED("data/golden/large_1e7");
  ExpectGolden("large_1e7", 10000000);
}

}  // namespace
}  // namespace sotto

#include "attack/attacker_header.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

constexpr const char* kMcAdams =
    R"({"method": "mcadams", "alpha": "0.5:0.9", "pitch": "keep", "strategy": "random",
        "randomness": "key file", "context_given": true, "ids": "kept", "complete": true})";

// What the header of an attacker trained against `trained` lacks for `release`.
std::string Mismatch(const std::string& trained, const std::string& release) {
  return AttackerMismatch(R"({"base": "", "run": )" + trained + "}",
                          ParseReleaseRecord(release, "run"), "b", "a");
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(AttackerHeader, OtherNetsEpsilonsAndBoundsAreOtherProtections) {
  const std::string neural =
      R"({"method": "neural", "pitch": "target", "target": "voice-ind", "eps": 4.0,
          "target_gender": "random", "target_pool": "default", "nets": "00ff",
          "content": "student", "bend_semitones": 0.0, "strategy": "random", "streaming": true})";
  EXPECT_EQ(Mismatch(neural, neural), "");
  EXPECT_NE(Mismatch(Replaced(neural, "00ff", "00fe"), neural), "");
  EXPECT_NE(Mismatch(Replaced(neural, "4.0", "5.0"), neural), "");
  EXPECT_NE(Mismatch(neural, Replaced(neural, "true}", R"(true, "max_draws": 3})")), "");
}

TEST(AttackerHeader, MustNameTheReleasesProtection) {
  const ReleaseRecord release = ParseReleaseRecord(kMcAdams, "run");
  const std::string base = "0123456789abcdef";
  const auto refused = [&](const std::string& header) -> std::string {
    try {
      RequireAttackerOf(header, release, base, "file");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto header = [](const std::string& from, const std::string& run) {
    return R"({"base": ")" + from + R"(", "run": )" + run + "}";
  };
  EXPECT_EQ(refused(header("0123456789abcdef", kMcAdams)), "");
  EXPECT_EQ(refused(header("", kMcAdams)), "");  // from scratch
  // Another strategy is the same method.
  EXPECT_EQ(refused(header("", R"({"method": "mcadams", "alpha": "0.5:0.9",
                                          "pitch": "keep", "strategy": "perm"})")),
            "");
  EXPECT_NE(refused("").find("no 'sotto.attacker'"), std::string::npos);
  EXPECT_NE(refused(header("fedcba98", kMcAdams)).find("'fedcba98'"), std::string::npos);
  EXPECT_NE(refused(header("0123", kMcAdams)).find("'0123'"), std::string::npos);
  EXPECT_NE(refused(header("", R"({"method": "mcadams", "alpha": "0.8", "pitch": "keep"})"))
                .find("alpha '0.8', the release says '0.5:0.9'"),
            std::string::npos);
  EXPECT_NE(
      refused(header("", R"({"method": "voicemask", "pitch": "keep"})")).find("method 'voicemask'"),
      std::string::npos);
  EXPECT_NE(refused(R"({"base": ""})").find("no object 'run'"), std::string::npos);
}

TEST(AttackerHeader, ReadsTheTrainingCurve) {
  const auto curve = ParseTrainingCurve(
      R"({"curve": [{"step": 100, "loss": 9.5, "held_out_eer": 0.4}, {"step": 200, "loss": 3}]})",
      "file");
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].held_out_eer, 0.4);
  EXPECT_TRUE(std::isnan(curve[1].held_out_eer));
  EXPECT_TRUE(ParseTrainingCurve("", "file").empty());
}

}  // namespace
}  // namespace sotto

// The figures that the VoicePrivacy 2020 recipe printed for its baseline B1, from its score files
// and trial keys, to the printed digit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "assess/verify.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using nlohmann::json;

// Half a unit of the last printed digit; a value exactly between two may be printed either way.
void ExpectPrinted(double got, double printed, double unit, const std::string& what) {
  EXPECT_NEAR(got, printed, unit / 2.0 * (1.0 + 1e-6)) << what;
}

// Kaldi prints four significant digits ("%.4g").
double FourDigits(double value) { return std::pow(10.0, std::floor(std::log10(value)) - 3.0); }

class Published : public ::testing::TestWithParam<std::string> {};

TEST_P(Published, ConditionsAreReproducedToThePrintedDigit) {
  const std::string folder = "data/xvectors/" + GetParam();
  SOTTO_NEEDS_SHARED(folder);
  const auto root = testing::SharedFolder() / folder;
  const json published = json::parse(ReadTextFile(root / "published.json"));
  ASSERT_EQ(published.size(), 6U);
  for (const auto& item : published.items()) {
    const std::string& condition = item.key();
    const json& figures = item.value();
    const std::string key =
        condition.find("trials_f") != std::string::npos ? "trials_f" : "trials_m";
    const Trials trials = ReadKaldiTrials(root / "scores" / condition, root / key / "trials");
    const ScoreLevels data = MakeLevels(trials);
    VerifyOptions options;
    const ScoreFigures ours = MeasureScores(data, options);
    const auto expect = [&](double got, const char* name, double unit) {
      ExpectPrinted(got, figures[name].get<double>(), unit, condition + " " + name);
    };
    expect(100.0 * ours.eer_kaldi, "eer_percent", FourDigits(figures["eer_percent"]));
    expect(ours.min_dcf[2], "min_dcf_p01", 1e-4);
    expect(ours.min_dcf[3], "min_dcf_p001", 1e-4);
    expect(ours.cllr_min, "cllr_min", 1e-3);
    expect(ours.cllr, "cllr_act", 1e-3);
    expect(100.0 * ours.eer_rocch, "rocch_eer_percent", 1e-3);
    expect(ours.d_sys, "d_sys", 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Encoders, Published, ::testing::Values("b1", "b1_retrained_encoder"),
                         [](const auto& encoder) { return encoder.param; });

}  // namespace
}  // namespace sotto

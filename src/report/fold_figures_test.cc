#include "report/fold_figures.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace sotto {
namespace {

// Unprotected, of one voiceprint each; a defence that changes the dimension.
FoldStudy Study() {
  FoldStudy study;
  study.attribute = "gender";
  study.speakers = 40;
  study.voiceprints = 120;
  study.folds = 5;
  FoldRow clean;
  clean.name = "unprotected";
  clean.eer = std::numeric_limits<double>::quiet_NaN();
  clean.uninformed = clean.informed = {0.6, 0.7, 0.95, 0.9, 0.8};
  FoldRow hidden;
  hidden.name = "transport:dimension=6";
  hidden.eer = 0.0625;
  hidden.informed = {0.51, 0.52, 0.53, 0.54, 0.55};
  study.rows = {clean, hidden};
  return study;
}

TEST(FoldFigures, TheTextNamesTheBestAttackerOfEachDefence) {
  const std::string text = FoldsText(Study());
  const auto line = [&](const std::string& name) {
    const auto at = text.find("\n" + name);
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  const std::string clean = line("unprotected"), hidden = line("transport:dimension=6");
  EXPECT_NE(clean.find("–"), std::string::npos) << clean;  // nobody's pairs
  EXPECT_NE(clean.find("  0.95 logistic  "), std::string::npos) << clean;
  EXPECT_TRUE(clean.ends_with("  0.95 logistic")) << clean;
  EXPECT_NE(hidden.find(" 6.2  not applicable "), std::string::npos) << hidden;
  EXPECT_TRUE(hidden.ends_with("  0.55 quadratic")) << hidden;
  EXPECT_NE(text.find("gender of 40 speakers with 120 voiceprints, means over 5 folds"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("measured, not covered by epsilon"), std::string::npos) << text;
}

TEST(FoldFigures, TheJsonHoldsEveryAttackerAndNullWhereThereIsNone) {
  const auto json = ParseJson(FoldsJson(Study()));
  EXPECT_EQ(json["attribute"], "gender");
  EXPECT_EQ(json["speakers"], 40);
  EXPECT_EQ(json["voiceprints"], 120);
  EXPECT_EQ(json["folds"], 5);
  EXPECT_EQ(json["note"], "measured, not covered by epsilon");
  ASSERT_EQ(json["rows"].size(), 2U);
  const auto &clean = json["rows"][0], &hidden = json["rows"][1];
  EXPECT_EQ(clean["defence"], "unprotected");
  EXPECT_TRUE(clean["eer_pairs"].is_null());
  EXPECT_EQ(clean["auc_uninformed"]["mlp"], 0.7);
  EXPECT_EQ(hidden["eer_pairs"], 0.0625);
  EXPECT_TRUE(hidden["auc_uninformed"].is_null());
  ASSERT_EQ(hidden["auc_informed"].size(), kAttributeClassifiers.size());
  double auc = 0.5;
  for (const AttributeClassifier classifier : kAttributeClassifiers) {
    auc += 0.01;
    EXPECT_DOUBLE_EQ(hidden["auc_informed"][Name(classifier)].get<double>(), auc);
  }
}

}  // namespace
}  // namespace sotto

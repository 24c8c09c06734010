#include "report/fold_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "report/json_values.h"

namespace sotto {
namespace {

std::string Best(const std::vector<double>& aucs) {
  if (aucs.empty()) return "not applicable";
  const auto best = std::max_element(aucs.begin(), aucs.end());
  return fmt::format("{:.2f} {}", *best,
                     Name(kAttributeClassifiers[static_cast<std::size_t>(best - aucs.begin())]));
}

nlohmann::ordered_json ByClassifier(const std::vector<double>& aucs) {
  if (aucs.empty()) return nullptr;
  nlohmann::ordered_json json;
  for (std::size_t c = 0; c < aucs.size(); ++c) {
    json[Name(kAttributeClassifiers[c])] = JsonNumber(aucs[c]);
  }
  return json;
}

}  // namespace

std::string FoldsText(const FoldStudy& study) {
  std::size_t width = 7;
  for (const FoldRow& row : study.rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:<{}}  EER of pairs, %  {:<18}  AUC informed\n", "defence",
                                 width, "AUC uninformed");
  for (const FoldRow& row : study.rows) {
    text += fmt::format("{:<{}}  {:>15}  {:<18}  {}\n", row.name, width,
                        std::isnan(row.eer) ? "–" : fmt::format("{:.1f}", 100.0 * row.eer),
                        Best(row.uninformed), Best(row.informed));
  }
  return text + fmt::format(
                    "\n{} of {} speakers with {} voiceprints, means over {} folds of speakers: a "
                    "fold's defence and attackers were trained on all other folds. Of the "
                    "attackers the best is shown; an AUC below 0.5 counts as 1 − AUC. EER: low is "
                    "good.\n{}\n",
                    study.attribute, study.speakers, study.voiceprints, study.folds, kMeasured);
}

std::string FoldsJson(const FoldStudy& study) {
  JsonFields f;
  f("attribute", study.attribute)("speakers", study.speakers)("voiceprints", study.voiceprints);
  f("folds", study.folds);
  auto rows = nlohmann::ordered_json::array();
  for (const FoldRow& row : study.rows) {
    JsonFields one;
    one("defence", row.name)("eer_pairs", row.eer);
    one("auc_uninformed", ByClassifier(row.uninformed));
    one("auc_informed", ByClassifier(row.informed));
    rows.push_back(one.json());
  }
  f("rows", rows)("note", kMeasured);
  return DumpJson(f.json(), 2) + "\n";
}

}  // namespace sotto

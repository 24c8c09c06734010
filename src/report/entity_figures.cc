#include "report/entity_figures.h"

#include <fmt/format.h>

#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

std::string Form(const CorpusScores& scores) {
  return scores.transcripts ? "transcript" : "as written";
}

void AddCounts(JsonFields of, const EntityCounts& counts) {
  of("precision", counts.Precision())("recall", counts.Recall())("f1", counts.F1());
  of("marked", counts.marked)("found", counts.found)("right", counts.right);
}

std::string Json(const TaggerReport& report) {
  JsonFields f;
  f("file", report.file)("bytes", report.bytes)("features", report.features);
  f("names", report.names)("sentences", report.sentences)("recall", report.recall);
  for (const auto& scores : report.corpora) {
    JsonFields of = f("held_out")(scores.corpus)(scores.transcripts ? "transcript" : "as_written");
    for (const auto type : scores.types) {
      AddCounts(of(std::string(EntityName(type))),
                scores.likely.types[static_cast<std::size_t>(type)]);
    }
    AddCounts(of("all"), scores.likely.Total(scores.types));
    of("token_recall", scores.likely.tokens.Recall());
    of("other_masked", scores.likely.tokens.Masked());
    of("token_recall_at_recall", scores.with_recall.tokens.Recall());
    of("other_masked_at_recall", scores.with_recall.tokens.Masked());
  }
  return f("seconds", report.seconds).Text();
}

}  // namespace

std::string PrintedTaggerReport(const TaggerReport& report, bool json) {
  if (json) return Json(report);
  std::string text =
      fmt::format("{}: {} bytes, {} features, {} names, fitted to {} sentences\n\n", report.file,
                  report.bytes, report.features, report.names, report.sentences);
  PageTable entities{"Entities of held-out sentences: precision, recall and F1 in %",
                     {"corpus", "form", "type", "marked", "found", "P", "R", "F1"}};
  PageTable tokens{fmt::format("Tokens of held-out sentences in %, by the most probable labels and "
                               "with --recall {}",
                               report.recall),
                   {"corpus", "form", "recall", "others masked", "recall with", "masked with"}};
  for (const auto& scores : report.corpora) {
    const auto row = [&](const std::string& name, const EntityCounts& counts) {
      entities.rows.push_back({scores.corpus, Form(scores), name, std::to_string(counts.marked),
                               std::to_string(counts.found), Percent(counts.Precision()),
                               Percent(counts.Recall()), Percent(counts.F1())});
    };
    for (const auto type : scores.types) {
      row(std::string(EntityName(type)), scores.likely.types[static_cast<std::size_t>(type)]);
    }
    row("all", scores.likely.Total(scores.types));
    std::vector<EntityType> without;
    for (const auto type : scores.types) {
      if (type != EntityType::kOrganisation) without.push_back(type);
    }
    row("all but ORG", scores.likely.Total(without));
    tokens.rows.push_back({scores.corpus, Form(scores), Percent(scores.likely.tokens.Recall()),
                           Percent(scores.likely.tokens.Masked()),
                           Percent(scores.with_recall.tokens.Recall()),
                           Percent(scores.with_recall.tokens.Masked())});
  }
  text += TableText(entities) + TableText(tokens);
  return text + fmt::format("{:.1f} s\n", report.seconds);
}

}  // namespace sotto

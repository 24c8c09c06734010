#include "report/redact_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "report/json_values.h"

namespace sotto {
namespace {

std::string EpsText(double eps) { return std::isinf(eps) ? "∞" : fmt::format("{:.2f}", eps); }

bool IsDrawn(const RedactReport& report) { return report.options.with == ReplaceWith::kSurrogate; }

std::vector<std::string> TypeNames(const RedactReport& report) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (report.options.types[i]) names.emplace_back(kEntityNames[i]);
  }
  return names;
}

void AddEpsilon(const RedactReport& report, JsonFields f) {
  const EpsilonStatement& epsilon = report.epsilon;
  f("what_the_finder_misses",
    "stands in the text as it was said: epsilon is infinite for it, whatever is replaced");
  auto missed = nlohmann::ordered_json::object(), found = missed, source = missed;
  for (const ClassEpsilon& of : epsilon.classes) {
    const std::string name(EntityName(of.type));
    missed[name] = JsonValue(of.missed);
    found[name] = JsonValue(of.eps);
    source[name] = JsonValue(of.source_eps);
  }
  f("share_missed_on_held_out_text", missed);
  f("share_missed_is_of", "the tokens of entities in sentences that the finder was not trained on");
  f("of_each_entity_found", found)("largest", epsilon.eps);
  f("draws", report.totals.draws);
  f("if_all_entities_were_one_persons", report.totals.total_eps);
  f("the_sources_reading", source)("the_sources_largest", epsilon.source_eps);
  f("told_whatever_epsilon_is", epsilon.told);
}

}  // namespace

std::string RedactRecord(const RedactReport& report, bool one_line) {
  JsonFields f;
  f("sotto", report.version)("verb", "redact")("format", std::string(Name(report.format)));
  if (report.experiment) f("experiment", "draws follow from a public number and protect nobody");
  f("with", IsDrawn(report) ? "surrogate" : "placeholder");
  if (IsDrawn(report)) {
    f("p", report.options.p.Value())("p_for_patterns", report.options.p_for_patterns);
    f("keep_gender", report.options.keep_gender)("keep_format", report.options.keep_format);
    f("surrogates")("source", report.surrogates)("fingerprint", report.surrogates_fingerprint);
  }
  f("dialogue", report.options.consistent);
  f("types", TypeNames(report))("own_words", report.has_own_words);
  JsonFields model = f("finder")("name", report.finder)("fingerprint", report.model_fingerprint);
  if (report.recall) model("recall", *report.recall);
  f("counts_are", kMeasured);
  f("passages", report.totals.passages)("tokens", report.totals.tokens);
  auto found = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (report.options.types[i]) found[std::string(kEntityNames[i])] = report.totals.counts[i];
  }
  if (report.has_own_words) found[std::string(kOwnWordName)] = report.totals.own_words;
  f("found", found);
  AddEpsilon(report, f("epsilon"));
  f("notes", report.notes);
  return one_line ? DumpJson(f.json()) + "\n" : f.Text();
}

std::string RedactSummary(const RedactReport& report) {
  std::vector<std::string> found, missed;
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (report.totals.counts[i] == 0) continue;
    found.push_back(fmt::format("{} {}", report.totals.counts[i], kEntityNames[i]));
  }
  if (report.totals.own_words > 0) {
    found.push_back(fmt::format("{} {}", report.totals.own_words, kOwnWordName));
  }
  // Types of one share in one part.
  std::vector<std::pair<std::string, std::vector<std::string>>> shares;
  for (const ClassEpsilon& of : report.epsilon.classes) {
    if (!of.missed) continue;
    const std::string share = fmt::format("{:.1f} %", 100.0 * *of.missed);
    auto at = std::find_if(shares.begin(), shares.end(),
                           [&share](const auto& known) { return known.first == share; });
    if (at == shares.end()) at = shares.insert(at, {share, {}});
    at->second.emplace_back(EntityName(of.type));
  }
  missed.reserve(shares.size());
  for (const auto& [share, names] : shares) {
    missed.push_back(fmt::format("{} of {}", share, fmt::join(names, ", ")));
  }
  std::string text =
      fmt::format("{} found in {} tokens{}{}; ", report.totals.Found(), report.totals.tokens,
                  found.empty() ? "" : ": ", fmt::join(found, ", "));
  if (!IsDrawn(report)) {
    text += "replaced by placeholders";
  } else if (report.options.p.IsOne()) {
    text += "replaced by surrogates";
  } else {
    text += fmt::format("replaced by surrogates with probability {}", report.options.p.Value());
  }
  text += fmt::format(
      "\nwhat is missed stands as it was said (epsilon ∞); on held-out text {}; "
      "found: epsilon {} each",
      missed.empty() ? "the share is not known"
                     : fmt::format("{} are missed", fmt::join(missed, ", ")),
      EpsText(report.epsilon.eps));
  if (report.totals.total_eps > 0.0) {
    text += fmt::format(", {} if all were one person's", EpsText(report.totals.total_eps));
  }
  return text + "\n";
}

}  // namespace sotto

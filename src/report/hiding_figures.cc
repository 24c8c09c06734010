#include "report/hiding_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attack/hiding_published.h"
#include "base/csv.h"
#include "base/json.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

Json RateJson(const Resampled& rate) {
  JsonFields f;
  f("value", rate.value);
  if (rate.interval) {
    f("low", rate.interval->low)("high", rate.interval->high);
  }
  return f.json();
}

Json AttackersJson(const std::vector<AttackerAuc>& attackers) {
  if (attackers.empty()) return nullptr;
  JsonFields f;
  for (const AttackerAuc& one : attackers) f(Name(one.classifier), RateJson(one.auc));
  return f.json();
}

Json BestJson(const std::vector<AttackerAuc>& attackers) {
  const BestAttacker best = BestOf(attackers);
  if (std::isnan(best.auc)) return nullptr;
  Json json = RateJson({best.auc, best.interval, {}});
  json["classifier"] = Name(best.classifier);
  json["turned"] = best.turned;
  return json;
}

Json PartJson(const HidingPart& part, const std::vector<std::string>& categories) {
  JsonFields f;
  f("part", part.name)("speakers", part.speakers)("utterances", part.utterances);
  f("voiceprints", part.voiceprints);
  const HidingUtility& utility = part.utility;
  f("n_tar", utility.n_tar)("n_non", utility.n_non);
  f("eer_pairs", RateJson(utility.pairs))("eer_templates", RateJson(utility.templates));
  f("eer_pairs_ratio", RateJson(part.pairs_ratio));
  f("eer_templates_ratio", RateJson(part.templates_ratio));
  f("eer_same_category", RateJson(utility.same_category));
  f("eer_by_category", Json::object());
  for (std::size_t c = 0; c < utility.by_category.size(); ++c) {
    f("eer_by_category")(categories[c], RateJson(utility.by_category[c]));
  }
  f("eer_declared_other", RateJson(utility.declared_other));
  f("garbe", RateJson(utility.garbe))("fdr", utility.fdr)("au_fdr", utility.au_fdr);
  const HidingPrivacy& privacy = part.privacy;
  f("auc_uninformed", AttackersJson(privacy.uninformed));
  f("auc_informed", AttackersJson(privacy.informed));
  f("auc_in_domain", AttackersJson(privacy.in_domain));
  f("best_uninformed", BestJson(privacy.uninformed));
  f("best_informed", BestJson(privacy.informed));
  f("best_in_domain", BestJson(privacy.in_domain));
  return f.json();
}

Json RowJson(const HidingRow& row, const std::vector<std::string>& categories) {
  const StudiedDefence& defence = row.defence;
  JsonFields f;
  f("defence", defence.name);
  f("method", defence.hider ? defence.hider->Header().method : "none");
  f("training", defence.hider ? defence.hider->Header().training : "");
  f("eps_train", defence.eps_train)("eps", defence.eps);
  f("auc_ceiling", row.auc_ceiling)("ceiling_covers_everything", row.all_noised);
  f("dimension", row.dimension)("asks_for_categories", row.asks_for_categories);
  f("memoised", defence.per == ProtectPer::kSpeaker)("only_curve", defence.only_curve)(
      "fit_seconds", defence.fit_seconds);
  f("parts",
    JsonList(row.parts, [&](const HidingPart& part) { return PartJson(part, categories); }));
  return f.json();
}

// "forest", "forest turned".
std::string BestName(const BestAttacker& best) {
  return fmt::format("{}{}", Name(best.classifier), best.turned ? " turned" : "");
}

std::string BestText(const std::vector<AttackerAuc>& attackers) {
  const BestAttacker best = BestOf(attackers);
  if (std::isnan(best.auc)) return "not applicable";
  return fmt::format("{} {}", WithInterval(best.auc, best.interval, 1.0, 2), BestName(best));
}

std::string RateText(const Resampled& rate, double factor, int digits) {
  return WithInterval(rate.value, rate.interval, factor, digits);
}

}  // namespace

std::string WithInterval(double value, const std::optional<Interval>& interval, double factor,
                         int digits) {
  std::string text = Decimal(factor * value, digits);
  if (interval && std::isfinite(value)) {
    text += fmt::format(" [{:.{}f}, {:.{}f}]", factor * interval->low, digits,
                        factor * interval->high, digits);
  }
  return text;
}

std::string DefenceName(const StudiedDefence& defence) {
  return defence.name + (defence.eps ? fmt::format(" at eps {:g}", *defence.eps) : "");
}

std::string HidingJson(const HidingStudy& study) {
  JsonFields f;
  f("measured", kMeasured)("attribute", study.attribute)("categories", study.categories);
  f("eer_direction", "lower is better: the service still knows its users");
  f("auc_direction", "0.5 is chance; further away is less private");
  f("attack_speakers", study.attack_speakers)("attack_voiceprints", study.attack_voiceprints);
  const IntervalOptions& intervals = study.options.attack.intervals;
  f("intervals", fmt::format("{:g} % over speakers, {} resamples, seed {}", 100.0 * intervals.level,
                             intervals.resamples, intervals.seed));
  f("seconds", study.seconds)("cpu_seconds", study.cpu_seconds);
  f("rows",
    JsonList(study.rows, [&](const HidingRow& row) { return RowJson(row, study.categories); }));
  f("published_source", kPublishedGenderAae);
  f("published", JsonList(PublishedGenderAae(), [](const PublishedHiding& point) {
      return JsonFields()("what", point.what)("eps_train", point.eps_train)("eps", point.eps)(
          "eer", point.eer)("auc", point.auc)("said", point.said);
    }));
  return f.Text();
}

std::string HidingCsv(const HidingStudy& study) {
  CsvTable table;
  for (const HidingRow& row : study.rows) {
    for (const HidingPart& part : row.parts) {
      JsonFields f;
      f("defence", row.defence.name)("part", part.name)("eps_train", row.defence.eps_train);
      f("eps", row.defence.eps)("auc_ceiling", row.auc_ceiling);
      const auto rate = [&f](const std::string& name, const Resampled& figure) {
        f(name, figure.value);
        f(name + "_low", figure.interval ? figure.interval->low : std::nan(""));
        f(name + "_high", figure.interval ? figure.interval->high : std::nan(""));
      };
      rate("eer_pairs", part.utility.pairs);
      rate("eer_pairs_ratio", part.pairs_ratio);
      rate("eer_templates", part.utility.templates);
      rate("eer_templates_ratio", part.templates_ratio);
      rate("eer_same_category", part.utility.same_category);
      rate("eer_declared_other", part.utility.declared_other);
      const HidingPrivacy& privacy = part.privacy;
      for (const auto& [name, list] :
           {std::pair("uninformed", &privacy.uninformed), std::pair("informed", &privacy.informed),
            std::pair("in_domain", &privacy.in_domain)}) {
        const BestAttacker best = BestOf(*list);
        rate(fmt::format("auc_{}", name), {best.auc, best.interval, {}});
        f(fmt::format("best_{}", name), std::isnan(best.auc) ? "not applicable" : BestName(best));
      }
      rate("garbe", part.utility.garbe);
      f("fdr", part.utility.fdr)("au_fdr", part.utility.au_fdr)("measured", kMeasured);
      table.header.clear();
      table.rows.emplace_back();
      for (const auto& [name, value] : f.json().items()) {
        table.header.push_back(name);
        table.rows.back().push_back(value.is_string() ? value.get<std::string>()
                                    : value.is_null() ? ""
                                                      : DumpJson(value));
      }
    }
  }
  return FormatCsv(table);
}

PageTable HidingTable(const HidingStudy& study, std::size_t part) {
  const HidingPart& clean = study.rows[0].parts[part];
  PageTable table{fmt::format("{}: {} speakers, {} utterances, {} voiceprints (EER: low is good; "
                              "AUC: 0.5 is chance, high is a leak)",
                              clean.name, clean.speakers, clean.utterances, clean.voiceprints),
                  {"defence", "EER of pairs, %", "times unprotected", "EER of templates, %",
                   "AUC uninformed", "AUC informed", "AUC in-domain"}};
  for (const HidingRow& row : study.rows) {
    if (row.defence.only_curve) continue;
    const HidingPart& own = row.parts[part];
    table.rows.push_back({DefenceName(row.defence), RateText(own.utility.pairs, 100.0, 1),
                          row.defence.hider ? RateText(own.pairs_ratio, 1.0, 2) : "1",
                          RateText(own.utility.templates, 100.0, 1),
                          BestText(own.privacy.uninformed), BestText(own.privacy.informed),
                          BestText(own.privacy.in_domain)});
  }
  return table;
}

PageTable HidingDetails(const HidingStudy& study, std::size_t part) {
  const HidingPart& clean = study.rows[0].parts[part];
  PageTable table{
      fmt::format("{}: what is guaranteed, and for whom it works (GARBE: 0 is fair)", clean.name),
      {"defence", "eps", "AUC that eps allows", "GARBE before → after",
       "EER of templates, times unprotected",
       "EER of pairs, impostors declare another category, %"}};
  for (const HidingRow& row : study.rows) {
    if (row.defence.only_curve) continue;
    const HidingPart& own = row.parts[part];
    std::string ceiling = "1: nothing is guaranteed";
    if (row.defence.eps) {
      // A ceiling of 1 − 1e-7 must not read as 1.
      ceiling = row.auc_ceiling > 0.999 ? fmt::format("1 − {:.1g}", 1.0 - row.auc_ceiling)
                                        : Decimal(row.auc_ceiling, 3);
      if (!row.all_noised) ceiling += ", of what is noised";
    }
    table.rows.push_back({DefenceName(row.defence),
                          row.defence.eps ? fmt::format("{:g}", *row.defence.eps) : "none", ceiling,
                          fmt::format("{} → {}", Decimal(clean.utility.garbe.value, 2),
                                      RateText(own.utility.garbe, 1.0, 2)),
                          row.defence.hider ? RateText(own.templates_ratio, 1.0, 2) : "1",
                          row.asks_for_categories ? RateText(own.utility.declared_other, 100.0, 1)
                                                  : "none is asked for"});
  }
  return table;
}

std::vector<std::string> HidingNotes(const HidingStudy& study) {
  const IntervalOptions& intervals = study.options.attack.intervals;
  std::vector<std::string> notes;
  notes.push_back(
      fmt::format("Attribute {} ({}); attackers have {} speakers of their own with {} voiceprints",
                  study.attribute, fmt::join(study.categories, ", "), study.attack_speakers,
                  study.attack_voiceprints));
  notes.emplace_back(
      "Uninformed: trained on clean voiceprints of other speakers. Informed: on protected ones of "
      "other speakers. In-domain: on protected ones of other speakers of the same folder "
      "(cross-validated), as the operator of a service has them. Of each kind the best of knn3, "
      "mlp, logistic, forest and quadratic is shown; an AUC below 0.5 counts as 1 − AUC "
      "(\"turned\"), so that the best of five lies above 0.5 even where nothing can be read");
  notes.emplace_back(
      "Error rates are of the service that recognises its users, so here low is good. Both sides "
      "of each trial are protected, with draws of their own");
  notes.emplace_back(
      "eps is that of one voiceprint: k of a speaker cost k·eps; memoised, one draw serves all of "
      "a speaker's voiceprints and eps is that of all of them. Without it nothing is guaranteed, "
      "whatever noise there was in training");
  notes.push_back(
      fmt::format("Intervals: {:g} % over speakers, {} resamples, seed {}; of ratios on the same "
                  "draws",
                  100.0 * intervals.level, intervals.resamples, intervals.seed));
  return notes;
}

std::string HidingText(const HidingStudy& study, const std::string& page) {
  std::string text;
  for (std::size_t p = 0; p < study.rows[0].parts.size(); ++p) {
    text += TableText(HidingTable(study, p)) + TableText(HidingDetails(study, p));
  }
  return text + Lines(HidingNotes(study)) +
         fmt::format("{}\nmeasured in {:.0f} s, page: {}\n", kMeasured, study.seconds, page);
}

}  // namespace sotto

#include "report/replacement_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::string RowName(const ReplacementRow& row) {
  return row.p ? fmt::format("p = {:g}", row.p->Value()) : "placeholders";
}

std::string EpsText(double eps) {
  return std::isinf(eps) ? "∞" : eps == 0.0 ? "0" : fmt::format("{:.2f}", eps);
}

std::string WithInterval(double value, const std::optional<Interval>& interval) {
  std::string text = Decimal(100.0 * value, 1);
  if (interval)
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * interval->low, 100.0 * interval->high);
  return text;
}

std::string Missed(const std::optional<double>& missed) {
  return missed ? fmt::format("{:.1f} %", 100.0 * *missed) : "not known";
}

double Change(const ReplacementStudy& study, const ReplacementRow& row, std::size_t tagger) {
  return row.taggers[tagger].all.F1() - study.rows[0].taggers[tagger].all.F1();
}

// Table 4, the honest reading first.
PageTable MainTable(const ReplacementStudy& study) {
  PageTable table{fmt::format("Table 4: what replaced entities still teach a tagger (F1 in %, high "
                              "is useful; {} sentences as they were said)",
                              study.test),
                  {"replaced with", "missed: eps ∞", "eps of the found", "eps, source's reading"}};
  for (const std::string& tagger : study.taggers) table.header.push_back("F1 " + tagger);
  table.header.insert(table.header.end(), {"published eps", "published F1"});
  for (const ReplacementRow& row : study.rows) {
    std::vector<std::string> cells = {
        RowName(row), Missed(study.missed), EpsText(row.epsilon.eps),
        row.epsilon.source_eps ? EpsText(*row.epsilon.source_eps) : "not known"};
    for (const TaggingFigures& figures : row.taggers) {
      cells.push_back(WithInterval(figures.all.F1(), figures.f1));
    }
    const PublishedReplacement* published = PublishedFor(row);
    cells.push_back(published != nullptr ? EpsText(published->eps) : "–");
    cells.push_back(published != nullptr ? Decimal(published->f1, 1) : "–");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

PageTable ClassTable(const ReplacementStudy& study) {
  PageTable table{
      "Classes: pi is the relative frequency in the training part; an entity that the "
      "finder misses stays as it is, eps ∞",
      {"class", "entities", "different", "least pi", "missed"}};
  for (const ReplacementRow& row : study.rows) {
    if (row.p) table.header.push_back("eps " + RowName(row));
  }
  for (std::size_t c = 0; c < study.classes.size(); ++c) {
    const ReplacementStudy::Class& own = study.classes[c];
    table.rows.push_back(
        {std::string(EntityName(own.type)), std::to_string(own.entities), std::to_string(own.words),
         fmt::format("{:.4g}", std::exp(own.log_least_share)), Missed(own.missed)});
    for (const ReplacementRow& row : study.rows) {
      if (row.p) table.rows.back().push_back(EpsText(row.epsilon.classes[c].eps));
    }
  }
  return table;
}

PageTable DetailTable(const ReplacementStudy& study) {
  PageTable table{
      "F1 in %, by tagger: change against the first row on the same sentences; each "
      "training; corpora; and tested on sentences replaced likewise",
      {"tagger", "replaced with", "F1", "change", "precision", "recall", "trainings"}};
  for (const std::string& corpus : study.corpora) table.header.push_back(corpus);
  table.header.emplace_back("tested on replaced");
  for (std::size_t k = 0; k < study.taggers.size(); ++k) {
    for (const ReplacementRow& row : study.rows) {
      const TaggingFigures& f = row.taggers[k];
      std::vector<std::string> seeds;
      for (const double f1 : f.f1_of_seeds) seeds.push_back(Decimal(100.0 * f1, 1));
      table.rows.push_back({study.taggers[k], RowName(row), Decimal(100.0 * f.all.F1(), 1),
                            f.change ? WithInterval(Change(study, row, k), f.change) : "–",
                            Decimal(100.0 * f.all.Precision(), 1),
                            Decimal(100.0 * f.all.Recall(), 1),
                            fmt::format("{}", fmt::join(seeds, " "))});
      for (const EntityCounts& corpus : f.corpora) {
        table.rows.back().push_back(Decimal(100.0 * corpus.F1(), 1));
      }
      table.rows.back().push_back(Decimal(100.0 * f.replaced.F1(), 1));
    }
  }
  return table;
}

std::vector<std::string> Notes(const ReplacementStudy& study) {
  std::vector<std::string> notes;
  notes.push_back(fmt::format(
      "First of all: {} of the held-out entities are missed by the finder ({}, trained on the "
      "first "
      "row's text), at least in part. They stay as they are, eps ∞ for them; eps holds for those "
      "that are found. The source's reading folds the missed share into p",
      Missed(study.missed), study.taggers[0]));
  notes.push_back(
      fmt::format("Published: {}. Its eps of 8.95 and 6.754 are those of a least pi of {:g}; "
                  "the least pi here is {:.4g}",
                  kPublishedReplacement, kPublishedLeastShare, std::exp(study.LogLeastShare())));
  notes.push_back(fmt::format(
      "Other data and taggers than the source's: Verbmobil cannot be had, these are {} as "
      "transcripts (lower case, no punctuation), {} sentences to train on, {} to stop by, {} held "
      "out, without a sentence or template in common; the taggers ({}) learn from the training "
      "part "
      "alone, without BERT. What p does is to be compared, not the height of F1",
      fmt::join(study.corpora, ", "), study.training, study.development, study.test,
      fmt::join(study.taggers, ", ")));
  if (study.taggers.size() == 1) {
    notes.emplace_back(
        "The BiLSTM-CRF was not trained: without the training program (built where libtorch is), "
        "or "
        "not asked for");
  }
  notes.emplace_back(
      "Entities are replaced whole, where the corpora mark them, in the training and development "
      "part; an entity that is no surrogate is always replaced but for p = 0. eps bounds what "
      "stands for one found entity: k of a person cost k·eps; type and place of an entity, and the "
      "words around it, are told in any case");
  notes.push_back(fmt::format(
      "Intervals: {:g} % over sentences, {} resamples, seed {}; F1 by whole entities of all {} "
      "trainings together. Draws are an experiment's: who knows the seed knows them",
      100.0 * study.options.intervals.level, study.options.intervals.resamples,
      study.options.intervals.seed, study.options.seeds));
  return notes;
}

Json CountsJson(const EntityCounts& counts) {
  JsonFields f;
  f("f1", counts.F1())("precision", counts.Precision())("recall", counts.Recall());
  f("marked", counts.marked)("found", counts.found)("right", counts.right);
  return f.json();
}

Json TaggerJson(const ReplacementStudy& study, const ReplacementRow& row, std::size_t k) {
  const TaggingFigures& figures = row.taggers[k];
  JsonFields f;
  f("tagger", study.taggers[k])("f1", figures.all.F1());
  if (figures.f1) f("f1_low", figures.f1->low)("f1_high", figures.f1->high);
  if (figures.change) {
    f("f1_change", Change(study, row, k));
    f("f1_change_low", figures.change->low)("f1_change_high", figures.change->high);
  }
  f("precision", figures.all.Precision())("recall", figures.all.Recall());
  f("f1_of_trainings", JsonNumbers(figures.f1_of_seeds));
  f("types", Json::object());
  for (const ReplacementStudy::Class& c : study.classes) {
    f("types")(std::string(EntityName(c.type)),
               CountsJson(figures.types[static_cast<std::size_t>(c.type)]));
  }
  f("corpora", Json::object());
  for (std::size_t i = 0; i < study.corpora.size(); ++i) {
    f("corpora")(study.corpora[i], CountsJson(figures.corpora[i]));
  }
  f("tested_on_replaced", CountsJson(figures.replaced))("seconds", figures.seconds);
  return f.json();
}

Json RowJson(const ReplacementStudy& study, const ReplacementRow& row) {
  JsonFields f;
  f("replaced_with", row.p ? "surrogates" : "placeholders");
  f("p", row.p ? row.p->Value() : 1.0)("missed", study.missed)("eps", row.epsilon.eps);
  f("eps_source_reading", row.epsilon.source_eps)("eps_classes", Json::object());
  for (const ClassEpsilon& c : row.epsilon.classes) {
    f("eps_classes")(std::string(EntityName(c.type)), c.eps);
  }
  f("entities_changed", row.changed)("taggers", Json::array());
  Json json = f.json();
  for (std::size_t k = 0; k < study.taggers.size(); ++k) {
    json["taggers"].push_back(TaggerJson(study, row, k));
  }
  const PublishedReplacement* published = PublishedFor(row);
  json["published"] = nullptr;
  if (published != nullptr) {
    json["published"] = JsonFields()("eps", published->eps)("f1", published->f1 / 100.0).json();
  }
  return json;
}

Plot Curve(const ReplacementStudy& study) {
  Plot plot{"f1",
            "F1 against p",
            "To the right more entities are replaced; at the top a tagger still learns from them. "
            "Bars: 95 % over sentences. Squares: published, on Verbmobil with BERT.",
            {.label = "p"},
            {.label = "F1", .percent = true}};
  for (std::size_t k = 0; k < study.taggers.size(); ++k) {
    PlotSeries series{.name = study.taggers[k], .mark = Mark::kMarked};
    for (const ReplacementRow& row : study.rows) {
      if (!row.p) continue;
      const TaggingFigures& f = row.taggers[k];
      series.Add(row.p->Value(), f.all.F1());
      series.y_low.push_back(f.f1 ? f.f1->low : f.all.F1());
      series.y_high.push_back(f.f1 ? f.f1->high : f.all.F1());
      series.hints.push_back(fmt::format("eps {}", EpsText(row.epsilon.eps)));
    }
    plot.series.push_back(std::move(series));
  }
  PlotSeries published{.name = "published", .mark = Mark::kPoints};
  for (const PublishedReplacement& point : PublishedReplacements()) {
    published.Add(point.p, point.f1 / 100.0);
    published.hints.push_back(fmt::format("eps {}", EpsText(point.eps)));
  }
  plot.series.push_back(std::move(published));
  return plot;
}

}  // namespace

std::string ReplacementText(const ReplacementStudy& study, const std::string& page) {
  return TableText(MainTable(study)) + TableText(ClassTable(study)) +
         TableText(DetailTable(study)) + Lines(Notes(study)) +
         fmt::format("{}\nmeasured in {:.0f} s, page: {}\n", kMeasured, study.seconds, page);
}

std::string ReplacementJson(const ReplacementStudy& study) {
  JsonFields f;
  f("measured", kMeasured)("source", kPublishedReplacement);
  f("f1_direction", "higher is better: what is left to learn from");
  f("eps_direction", "lower is more private, of an entity that is found");
  f("missed", study.missed)("missed_by", study.taggers[0]);
  f("corpora", study.corpora)("training_sentences", study.training);
  f("development_sentences", study.development)("test_sentences", study.test);
  f("trainings", study.options.seeds)("seed", study.options.seed);
  f("least_share", std::exp(study.LogLeastShare()))("least_share_published", kPublishedLeastShare);
  f("classes", JsonList(study.classes, [](const ReplacementStudy::Class& c) {
      return JsonFields()("type", std::string(EntityName(c.type)))("entities", c.entities)(
          "different", c.words)("least_share", std::exp(c.log_least_share))(
          "test_entities", c.test_entities)("missed", c.missed);
    }));
  f("rows", JsonList(study.rows, [&](const ReplacementRow& row) { return RowJson(study, row); }));
  f("published", JsonList(PublishedReplacements(), [](const PublishedReplacement& point) {
      return JsonFields()("p", point.p)("eps", point.eps)("f1", point.f1 / 100.0);
    }));
  f("notes", Notes(study))("seconds", study.seconds);
  return f.Text();
}

std::string ReplacementCsv(const ReplacementStudy& study) {
  CsvTable table;
  table.header = {"replaced_with",
                  "p",
                  "missed",
                  "eps",
                  "eps_source_reading",
                  "tagger",
                  "f1",
                  "f1_low",
                  "f1_high",
                  "f1_tested_on_replaced",
                  "published_eps",
                  "published_f1",
                  "measured"};
  const auto number = [](const std::optional<double>& value) {
    return !value || std::isnan(*value) ? ""
           : std::isinf(*value)         ? "inf"
                                        : fmt::format("{:.6g}", *value);
  };
  for (const ReplacementRow& row : study.rows) {
    const PublishedReplacement* published = PublishedFor(row);
    for (std::size_t k = 0; k < study.taggers.size(); ++k) {
      const TaggingFigures& f = row.taggers[k];
      table.rows.push_back({row.p ? "surrogates" : "placeholders",
                            number(row.p ? row.p->Value() : 1.0), number(study.missed),
                            number(row.epsilon.eps), number(row.epsilon.source_eps),
                            study.taggers[k], number(f.all.F1()), f.f1 ? number(f.f1->low) : "",
                            f.f1 ? number(f.f1->high) : "", number(f.replaced.F1()),
                            published != nullptr ? number(published->eps) : "",
                            published != nullptr ? number(published->f1 / 100.0) : "", kMeasured});
    }
  }
  return FormatCsv(table);
}

AssessPage ReplacementPage(const ReplacementStudy& study) {
  AssessPage page;
  page.title = "Entities in text, replaced with an epsilon";
  page.subtitle = fmt::format("{}", fmt::join(study.corpora, ", "));
  page.notes = Notes(study);
  page.notes.emplace_back(kMeasuredOnPage);
  page.lead = {MainTable(study), ClassTable(study)};
  page.plots = {Curve(study)};
  page.tables = {DetailTable(study)};
  return page;
}

}  // namespace sotto

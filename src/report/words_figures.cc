#include "report/words_figures.h"

#include <fmt/format.h>

#include <cmath>

#include "attack/word_published.h"
#include "base/csv.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

constexpr std::array kMeasures = {"accuracy", "f1_macro", "f1_positive", "balanced_accuracy"};

std::string PublishedText(const WordRow& row, const std::string& attribute) {
  const PublishedRates* published =
      FindPublished(row.classifier, row.protocol.upsampling, attribute);
  if (published == nullptr) return "–";
  return fmt::format("{} / {}", Percent(published->accuracy), Percent(published->f1));
}

const WordAttribute& AttributeOf(const WordStudy& study, const WordRow& row) {
  return study.corpora[row.corpus].attributes[row.attribute];
}

// One PageTable for each corpus and attribute.
std::vector<PageTable> WordsTables(const WordStudy& study) {
  std::vector<PageTable> tables = {WordsSizeTable(study)};
  for (std::size_t c = 0; c < study.corpora.size(); ++c) {
    for (std::size_t a = 0; a < study.corpora[c].attributes.size(); ++a) {
      tables.push_back(WordsTable(study, c, a));
    }
  }
  return tables;
}

nlohmann::ordered_json RowJson(const WordStudy& study, const WordRow& row) {
  const WordAttribute& attribute = AttributeOf(study, row);
  JsonFields f;
  f("corpus", study.corpora[row.corpus].name)("attribute", attribute.name);
  f("positive", attribute.classes[1])("classifier", Name(row.classifier));
  f("classified", Name(row.protocol.unit))("split_by", Name(row.protocol.split));
  f("upsampled", Name(row.protocol.upsampling));
  f("status", row.reason.empty() ? "run" : "not run")("reason", row.reason);
  f("figures", nlohmann::ordered_json::object());
  for (const Figure& figure : row.figures) f("figures")(figure.name, figure);
  f("larger_class", row.reason.empty() ? row.larger : std::nan(""));
  f("best_balanced_accuracy", row.best)("above_chance", row.AboveChance());
  const PublishedRates* published =
      FindPublished(row.classifier, row.protocol.upsampling, attribute.name);
  f("published", nullptr);
  if (published != nullptr) {
    JsonFields beside;
    beside("accuracy", published->accuracy)("f1", published->f1);
    f("published", beside.json());
  }
  return f.json();
}

nlohmann::ordered_json CorpusJson(const WordStudy& study, std::size_t c) {
  const WordCorpus& corpus = study.corpora[c];
  const WordStudy::Size& size = study.sizes[c];
  JsonFields f;
  f("name", corpus.name)("planted", corpus.planted)("expected", corpus.expected);
  f("notes", corpus.notes)("speakers", size.speakers)("sentences", size.sentences);
  f("words", size.words)("vocabulary", size.vocabulary);
  f("classes", nlohmann::ordered_json::object());
  for (std::size_t a = 0; a < corpus.attributes.size(); ++a) {
    JsonFields classes;
    for (std::size_t k = 0; k < 2; ++k) {
      classes(corpus.attributes[a].classes[k], size.classes[a][k]);
    }
    f("classes")(corpus.attributes[a].name, classes.json());
  }
  return f.json();
}

}  // namespace

PageTable WordsSizeTable(const WordStudy& study) {
  PageTable table{
      "Speakers per gender and age group (table 13)",
      {"corpus", "sentences", "words", "female", "male", "teenager (< 20)", "adult (20 or above)"}};
  const auto text = [](std::size_t n) { return fmt::to_string(n); };
  table.rows.push_back({"published: Verbmobil", "–", "–", text(kPublishedGenders[1]),
                        text(kPublishedGenders[0]), text(kPublishedAges[1]),
                        text(kPublishedAges[0])});
  for (std::size_t c = 0; c < study.corpora.size(); ++c) {
    const WordCorpus& corpus = study.corpora[c];
    const WordStudy::Size& size = study.sizes[c];
    std::vector<std::string> row = {corpus.name, text(size.sentences), text(size.words)};
    for (const char* name : {"gender", "age"}) {
      std::string positive = "–", negative = "–";
      for (std::size_t a = 0; a < corpus.attributes.size(); ++a) {
        if (corpus.attributes[a].name != name) continue;
        positive = text(size.classes[a][1]);
        negative = text(size.classes[a][0]);
      }
      row.push_back(positive);
      row.push_back(negative);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable WordsTable(const WordStudy& study, std::size_t corpus, std::size_t attribute) {
  const WordCorpus& words = study.corpora[corpus];
  const WordAttribute& of = words.attributes[attribute];
  PageTable table{fmt::format("{}: {} (table 14)", words.name, of.name),
                  {"classifier", "classified", "split by", "upsampled", "accuracy %", "F1 macro %",
                   fmt::format("F1 {} %", of.classes[1]), "balanced accuracy %", "best possible %",
                   "larger class %", "published accuracy / F1 %"}};
  for (const WordRow& row : study.rows) {
    if (row.corpus != corpus || row.attribute != attribute) continue;
    std::vector<std::string> cells = {Name(row.classifier), Name(row.protocol.unit),
                                      Name(row.protocol.split), Name(row.protocol.upsampling)};
    if (!row.reason.empty()) {
      cells.insert(cells.end(), {"not run", "–", "–", "–", "–", "–"});
    } else {
      for (const char* measure : kMeasures) {
        cells.push_back(Percent(FindFigure(row.figures, measure)));
      }
      cells.push_back(Percent(row.best));
      cells.push_back(Percent(row.larger));
    }
    cells.push_back(PublishedText(row, of.name));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> WordsNotes(const WordStudy& study) {
  std::vector<std::string> notes;
  for (const WordCorpus& corpus : study.corpora) {
    notes.push_back(fmt::format("{}: expected: {}", corpus.name, corpus.expected));
    for (const std::string& note : corpus.notes) {
      notes.push_back(fmt::format("{}: {}", corpus.name, note));
    }
  }
  for (const WordRow& row : study.rows) {
    if (row.reason.empty()) continue;
    notes.push_back(fmt::format("not run: {}", row.reason));
    break;
  }
  notes.push_back(fmt::format(
      "intervals: {:g} %, {} resamples of the speakers tested in {} random splits together; "
      "which splits and which training they do not cover",
      100.0 * study.options.intervals.level, study.options.intervals.resamples,
      study.options.repeats));
  notes.emplace_back(
      "upsampled before: the smaller class was drawn until both were as many, and then all was "
      "split: copies of what was learnt are tested, and these figures say how much a classifier "
      "remembers. upsampled after: training alone, which is what the source's text says; accuracy "
      "and F1 that are one number, as in its last two rows, belong to a balanced test, as before "
      "makes it");
  notes.emplace_back(
      "split by sentence: other sentences of who is tested were learnt from: the speaker may be "
      "recognised rather than gender or age");
  notes.emplace_back(
      "published: not told whether whole speakers or sentences were classified, how they were "
      "split and which F1 it is: the same figures stand beside all rows of a classifier");
  notes.emplace_back(
      "chance: 50 % balanced accuracy; who always names the larger class has its share as "
      "accuracy. Of many rows at chance one in forty lies above it by its interval");
  notes.emplace_back(
      "word vectors: skip-gram, trained on all sentences of the corpus without labels. cnn: "
      "widths 3, 4 and 5 side by side; the maximum over a text forgets how often something was "
      "said, so that it stays below the best possible where counts tell");
  notes.push_back(fmt::format("an experiment: all draws follow from seed {}", study.options.seed));
  return notes;
}

std::string WordsText(const WordStudy& study) {
  std::string text;
  for (const PageTable& table : WordsTables(study)) text += TableText(table);
  return text + Lines(WordsNotes(study)) +
         fmt::format("published: {}\n{}\n", kPublishedWordsSource, kMeasured);
}

std::string WordsJson(const WordStudy& study) {
  JsonFields f;
  f("measured", kMeasured)("experiment", true)("seed", study.options.seed);
  f("repeats", study.options.repeats)("published_source", kPublishedWordsSource);
  f("published", JsonList(kPublishedWords, [](const PublishedWords& row) {
      JsonFields one;
      one("model", std::string(row.model))("upsampled", row.upsampled);
      one("gender_accuracy", row.gender.accuracy)("gender_f1", row.gender.f1);
      return one("age_accuracy", row.age.accuracy)("age_f1", row.age.f1);
    }));
  auto corpora = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < study.corpora.size(); ++c) corpora.push_back(CorpusJson(study, c));
  f("corpora", corpora);
  f("rows", JsonList(study.rows, [&study](const WordRow& row) { return RowJson(study, row); }));
  f("notes", WordsNotes(study));
  return f.Text();
}

std::string WordsCsv(const WordStudy& study) {
  CsvTable table;
  table.header = {"corpus",   "attribute", "classifier", "classified",
                  "split_by", "upsampled", "status",     "speakers"};
  for (const std::string measure : kMeasures) {
    for (const char* part : {"", "_low", "_high"}) table.header.push_back(measure + part);
  }
  for (const char* name :
       {"best_balanced_accuracy", "larger_class", "published_accuracy", "published_f1"}) {
    table.header.emplace_back(name);
  }
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string();
  };
  for (const WordRow& row : study.rows) {
    const WordAttribute& attribute = AttributeOf(study, row);
    const bool ran = row.reason.empty();
    std::vector<std::string> cells = {
        study.corpora[row.corpus].name, attribute.name,
        Name(row.classifier),           Name(row.protocol.unit),
        Name(row.protocol.split),       Name(row.protocol.upsampling),
        ran ? "run" : "not run",        ran ? fmt::to_string(row.figures[0].counts[0].second) : ""};
    for (const char* measure : kMeasures) {
      const Figure* figure = FindFigure(row.figures, measure);
      const bool has = figure != nullptr && figure->interval;
      cells.push_back(number(row.Value(measure)));
      cells.push_back(has ? number(figure->interval->low) : "");
      cells.push_back(has ? number(figure->interval->high) : "");
    }
    cells.push_back(number(row.best));
    cells.push_back(ran ? number(row.larger) : "");
    const PublishedRates* published =
        FindPublished(row.classifier, row.protocol.upsampling, attribute.name);
    cells.push_back(published != nullptr ? number(published->accuracy) : "");
    cells.push_back(published != nullptr ? number(published->f1) : "");
    table.rows.push_back(std::move(cells));
  }
  return FormatCsv(table);
}

AssessPage WordsPage(const WordStudy& study) {
  AssessPage page{"What words tell of gender and age",
                  fmt::format("beside {}", kPublishedWordsSource)};
  page.tables = WordsTables(study);
  page.notes = WordsNotes(study);
  page.notes.emplace_back(kMeasuredOnPage);
  return page;
}

}  // namespace sotto

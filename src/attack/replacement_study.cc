#include "attack/replacement_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "assess/bootstrap.h"
#include "base/error.h"
#include "base/parallel.h"
#include "text/surrogate_counts.h"
#include "text/tagger_training.h"

namespace sotto {
namespace {

using Sentences = std::vector<LabelledSentence>;

constexpr std::array<EntityType, kTaggedTypes> kTypes = {EntityType::kPerson, EntityType::kLocation,
                                                         EntityType::kOrganisation,
                                                         EntityType::kDate, EntityType::kTime};

std::size_t Number(EntityType type) { return static_cast<std::size_t>(type); }

std::string_view TextOf(const LabelledSentence& sentence, const Entity& entity) {
  return std::string_view(sentence.text).substr(entity.begin, entity.end - entity.begin);
}

std::vector<TaggedSentence> AsRows(const Sentences& sentences) {
  std::vector<TaggedSentence> rows;
  for (const LabelledSentence& sentence : sentences) {
    TaggedSentence row;
    for (const Token& token : sentence.tokens) {
      row.words.push_back(sentence.text.substr(token.begin, token.end - token.begin));
    }
    row.labels = sentence.labels;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Words with blanks between them; without labels.
LabelledSentence FromRow(const TaggedSentence& row) {
  LabelledSentence sentence;
  for (const std::string& word : row.words) {
    if (!sentence.text.empty()) sentence.text += ' ';
    const std::size_t begin = sentence.text.size();
    sentence.text += word;
    sentence.tokens.push_back({begin, sentence.text.size()});
  }
  sentence.labels.assign(row.words.size(), kOutside);
  return sentence;
}

// A part with its entities replaced.
Sentences Replaced(const Sentences& sentences, const Replacer& replacer, std::string_view part) {
  Sentences replaced;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const ReplacedText text =
        replacer.Replace(sentences[i].text, EntitiesOf(sentences[i]), {part, i});
    replaced.push_back(MakeSentence(text.text, text.entities));
  }
  return replaced;
}

struct Parts {
  Sentences training, development, test;
};

Parts ReplacedParts(const ReplacementData& data, const Replacer& replacer) {
  // With p = 0 even what π does not hold stays: this is the text as it was.
  if (replacer.Options().p.numerator == 0) return {data.training, data.development, data.test};
  return {Replaced(data.training, replacer, "training"),
          Replaced(data.development, replacer, "development"),
          Replaced(data.test, replacer, "test")};
}

double ShareChanged(const Sentences& before, const Sentences& after) {
  std::size_t all = 0, changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto a = EntitiesOf(before[i]), b = EntitiesOf(after[i]);
    for (std::size_t k = 0; k < a.size(); ++k, ++all) {
      changed += k >= b.size() || TextOf(before[i], a[k]) != TextOf(after[i], b[k]) ? 1 : 0;
    }
  }
  return all == 0 ? 0.0 : static_cast<double>(changed) / static_cast<double>(all);
}

// What one training comes to, by sentences of the test part.
struct Tagged {
  std::vector<EntityScores> sentences;
  EntityCounts replaced;
  std::array<std::size_t, kTaggedTypes> missed{};
  double seconds = 0.0;
};

std::vector<Entity> Found(const LabelledSentence& sentence, const std::vector<BioLabel>& labels) {
  if (labels.size() != sentence.tokens.size()) {
    throw Error(fmt::format("a tagger gave {} labels for a sentence of {} words", labels.size(),
                            sentence.tokens.size()));
  }
  return EntitiesOf(sentence.tokens, labels);
}

// Whether every token of the entity is labelled, as whatever.
bool IsCovered(const LabelledSentence& sentence, const Entity& entity,
               const std::vector<BioLabel>& labels) {
  for (std::size_t t = 0; t < sentence.tokens.size(); ++t) {
    const Token& token = sentence.tokens[t];
    if (token.begin < entity.end && entity.begin < token.end && labels[t] == kOutside) return false;
  }
  return true;
}

Tagged Score(const ReplacementData& data, const Sentences& replaced_test,
             const std::vector<TaggedRows>& tags) {
  if (tags.size() != 2 || tags[0].size() != data.test.size() ||
      tags[1].size() != replaced_test.size()) {
    throw Error("a tagger gave labels for other sentences than it was asked for");
  }
  Tagged tagged;
  for (std::size_t i = 0; i < data.test.size(); ++i) {
    const LabelledSentence& sentence = data.test[i];
    const auto marked = EntitiesOf(sentence);
    tagged.sentences.push_back(
        ScoreEntities(marked, Found(sentence, tags[0][i]), sentence.tokens, kTypes));
    for (const Entity& entity : marked) {
      tagged.missed[Number(entity.type)] += IsCovered(sentence, entity, tags[0][i]) ? 0 : 1;
    }
    const LabelledSentence& other = replaced_test[i];
    tagged.replaced +=
        ScoreEntities(EntitiesOf(other), Found(other, tags[1][i]), other.tokens, kTypes)
            .Total(kTypes);
  }
  return tagged;
}

// The same figures on sentences that were drawn again.
std::vector<double> F1OnResample(const std::vector<const std::vector<EntityCounts>*>& cells,
                                 const std::vector<double>& weights) {
  std::vector<double> f1;
  for (const auto* cell : cells) {
    double right = 0.0, both = 0.0;
    for (std::size_t i = 0; i < cell->size(); ++i) {
      const EntityCounts& c = (*cell)[i];
      right += weights[i] * static_cast<double>(c.right);
      both += weights[i] * static_cast<double>(c.marked + c.found);
    }
    f1.push_back(both == 0.0 ? std::nan("") : 2.0 * right / both);
  }
  return f1;
}

// Intervals of F1 and of its change. `by_sentence`: of each row and tagger.
void AddF1Intervals(const std::vector<std::vector<std::vector<EntityCounts>>>& by_sentence,
                    const IntervalOptions& o, std::vector<ReplacementRow>& rows) {
  if (o.resamples == 0) return;
  std::vector<const std::vector<EntityCounts>*> cells;
  for (const auto& row : by_sentence) {
    for (const auto& cell : row) cells.push_back(&cell);
  }
  const std::size_t taggers = by_sentence[0].size(), n = cells.at(0)->size();
  std::vector<std::vector<double>> drawn(static_cast<std::size_t>(o.resamples));
  ParallelFor(drawn.size(), o.jobs, [&](std::size_t r) {
    SeededRng rng = ResampleRng(o.seed, r);
    drawn[r] = F1OnResample(cells, DrawUnits(rng, n));
  });
  const auto column = [&](std::size_t cell) {
    std::vector<double> values(drawn.size());
    for (std::size_t r = 0; r < drawn.size(); ++r) values[r] = drawn[r][cell];
    return values;
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t k = 0; k < taggers; ++k) {
      TaggingFigures& figures = rows[row].taggers[k];
      figures.f1 = PercentileInterval(column(row * taggers + k), o.level);
      if (row == 0) continue;
      figures.change =
          PairedInterval(PairedAs::kDifference, column(k), column(row * taggers + k), o.level);
    }
  }
}

Surrogates CountSurrogates(const ReplacementData& data, std::uint64_t min_people) {
  SurrogateCounts counts;
  for (std::size_t i = 0; i < data.training.size(); ++i) {
    for (const Entity& entity : EntitiesOf(data.training[i])) {
      counts.Add(entity.type, TextOf(data.training[i], entity), std::to_string(i));
    }
  }
  return counts.Build(min_people, fmt::format("{}", fmt::join(data.corpora, ", ")));
}

std::vector<ReplacementStudy::Class> Classes(const ReplacementData& data,
                                             const Surrogates& surrogates) {
  std::vector<ReplacementStudy::Class> classes;
  for (const EntityType type : kTypes) {
    if (!surrogates.Has(type)) continue;
    ReplacementStudy::Class c;
    c.type = type;
    c.log_least_share = surrogates.LogLeastShare(type, {});
    std::set<std::string> words;
    for (const LabelledSentence& sentence : data.training) {
      for (const Entity& entity : EntitiesOf(sentence)) {
        if (entity.type != type) continue;
        ++c.entities;
        words.insert(NormalisedEntity(TextOf(sentence, entity)));
      }
    }
    c.words = words.size();
    for (const LabelledSentence& sentence : data.test) {
      const auto entities = EntitiesOf(sentence);
      c.test_entities += static_cast<std::size_t>(std::count_if(
          entities.begin(), entities.end(), [type](const Entity& e) { return e.type == type; }));
    }
    classes.push_back(c);
  }
  return classes;
}

}  // namespace

ReplacementData ReadReplacementData(const std::filesystem::path& folder, std::size_t most,
                                    std::uint64_t seed) {
  ReplacementData data;
  for (const LabelledCorpus& corpus : ReadLabelledCorpora(folder)) {
    if (std::find(std::begin(kReplacementCorpora), std::end(kReplacementCorpora), corpus.name) ==
        std::end(kReplacementCorpora)) {
      continue;
    }
    for (const LabelledSentence& original : corpus.sentences) {
      LabelledSentence sentence = AsTranscript(original);
      if (sentence.tokens.empty()) continue;
      if (sentence.part == CorpusPart::kReport) data.test_corpus.push_back(data.corpora.size());
      (sentence.part == CorpusPart::kTrain  ? data.training
       : sentence.part == CorpusPart::kTune ? data.development
                                            : data.test)
          .push_back(std::move(sentence));
    }
    data.corpora.push_back(corpus.name);
  }
  if (data.training.empty() || data.development.empty() || data.test.empty()) {
    throw Error(fmt::format("'{}': none of the corpora {} lies there", folder.string(),
                            fmt::join(kReplacementCorpora, ", ")));
  }
  if (most > 0 && most < data.training.size()) {
    const double share = static_cast<double>(most) / static_cast<double>(data.training.size());
    for (Sentences* part : {&data.training, &data.development}) {
      SeededRng rng(seed);
      for (std::size_t i = part->size(); i > 1; --i) {
        std::swap((*part)[i - 1], (*part)[rng.Below(i)]);
      }
      const auto size = static_cast<double>(part->size());
      part->resize(static_cast<std::size_t>(std::max(1.0, std::round(share * size))));
    }
  }
  return data;
}

StudiedTagger StudiedCrf() {
  return {"CRF", [](const std::vector<TaggedSentence>& training,
                    const std::vector<TaggedSentence>& /*development*/,
                    const std::vector<std::vector<TaggedSentence>>& to_tag, std::uint64_t seed) {
            std::vector<LabelledCorpus> corpora(1);
            corpora[0].name = "training";
            for (const TaggedSentence& row : training) {
              corpora[0].sentences.push_back(FromRow(row));
              corpora[0].sentences.back().labels = row.labels;
            }
            TaggerTrainingOptions options;
            options.seed = seed;
            options.augmentation = {0.0, 0.0, 0.0, 0.0, options.augmentation.unknown};
            const Tagger tagger(TrainTagger(corpora, {}, options));
            std::vector<TaggedRows> tags;
            for (const auto& rows : to_tag) {
              tags.emplace_back();
              for (const TaggedSentence& row : rows) {
                LabelledSentence sentence = FromRow(row);
                tags.back().push_back(tagger.Tag(sentence.text, sentence.tokens).labels);
              }
            }
            return tags;
          }};
}

std::vector<Chance> ReplacementStudyOptions::PublishedP() {
  std::vector<Chance> p;
  for (const char* text : {"0", "0.5", "0.9", "1"}) p.push_back(Chance::Parse(text, "p"));
  return p;
}

void ReplacementStudyOptions::Validate() const {
  if (p.empty()) throw Error("p: at least one value");
  for (std::size_t i = 1; i < p.size(); ++i) {
    if (p[i].Value() <= p[i - 1].Value())
      throw Error("p: each value has to be above the one before");
  }
  if (seeds < 1 || seeds > 100) throw Error(fmt::format("seeds is {}: allowed is 1 to 100", seeds));
  if (min_people < 1) throw Error("min_people is 0: allowed is 1 or more");
  intervals.Validate();
}

const std::vector<PublishedReplacement>& PublishedReplacements() {
  static const std::vector<PublishedReplacement> table = {
      {0.0, INFINITY, 89.1}, {0.5, 8.95, 86.4}, {0.9, 6.75, 81.7}, {1.0, 0.0, 79.8}};
  return table;
}

const PublishedReplacement* PublishedFor(const ReplacementRow& row) {
  if (!row.p) return nullptr;
  for (const PublishedReplacement& published : PublishedReplacements()) {
    if (published.p == row.p->Value()) return &published;
  }
  return nullptr;
}

double ReplacementStudy::LogLeastShare() const {
  double least = 0.0;
  for (const Class& c : classes) least = std::min(least, c.log_least_share);
  return least;
}

ReplacementStudy StudyReplacement(const ReplacementData& data,
                                  const std::vector<StudiedTagger>& taggers,
                                  const ReplacementStudyOptions& options) {
  using Clock = std::chrono::steady_clock;
  options.Validate();
  if (taggers.empty()) throw Error("no tagger to train");
  const auto start = Clock::now();
  const Surrogates surrogates = CountSurrogates(data, options.min_people);
  ReplacementStudy study;
  study.options = options;
  study.corpora = data.corpora;
  study.training = data.training.size();
  study.development = data.development.size();
  study.test = data.test.size();
  study.test_of_corpora.resize(data.corpora.size());
  for (const std::size_t corpus : data.test_corpus) ++study.test_of_corpora[corpus];
  study.classes = Classes(data, surrogates);
  for (const StudiedTagger& tagger : taggers) study.taggers.push_back(tagger.name);

  std::vector<ReplacementOptions> replacements;
  for (const Chance& p : options.p) {
    study.rows.push_back({p, {}, 0.0, {}});
    replacements.emplace_back().p = p;
  }
  if (options.placeholder) {
    study.rows.emplace_back();
    replacements.emplace_back().with = ReplaceWith::kPlaceholder;
  }
  for (ReplacementOptions& o : replacements) {
    o.consistent = false;  // as in the source: every mention has its draw
    o.types.fill(false);
    for (const auto& c : study.classes) o.types[Number(c.type)] = true;
  }

  // Each training is a task of its own.
  const std::size_t rows = study.rows.size(), columns = taggers.size();
  std::vector<Tagged> tagged(rows * options.seeds * columns);
  ParallelFor(tagged.size(), options.jobs, [&](std::size_t task) {
    const std::size_t row = task / (options.seeds * columns);
    const std::uint64_t seed = options.seed + task / columns % options.seeds;
    const Replacer replacer(surrogates, replacements[row], Key::ForExperiment(ExperimentKey(seed)));
    const Parts parts = ReplacedParts(data, replacer);
    const auto begin = Clock::now();
    const auto tags =
        taggers[task % columns].train(AsRows(parts.training), AsRows(parts.development),
                                      {AsRows(data.test), AsRows(parts.test)}, seed);
    tagged[task] = Score(data, parts.test, tags);
    tagged[task].seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  });

  std::vector<std::vector<std::vector<EntityCounts>>> by_sentence(
      rows, std::vector(columns, std::vector<EntityCounts>(data.test.size())));
  for (std::size_t row = 0; row < rows; ++row) {
    study.rows[row].taggers.resize(columns);
    for (std::size_t task = row * options.seeds * columns;
         task < (row + 1) * options.seeds * columns; ++task) {
      TaggingFigures& figures = study.rows[row].taggers[task % columns];
      figures.corpora.resize(data.corpora.size());
      EntityCounts of_seed;
      for (std::size_t i = 0; i < data.test.size(); ++i) {
        const EntityScores& scores = tagged[task].sentences[i];
        const EntityCounts total = scores.Total(kTypes);
        of_seed += total;
        by_sentence[row][task % columns][i] += total;
        figures.corpora[data.test_corpus[i]] += total;
        for (const EntityType type : kTypes) {
          figures.types[Number(type)] += scores.types[Number(type)];
        }
      }
      figures.all += of_seed;
      figures.f1_of_seeds.push_back(of_seed.F1());
      figures.replaced += tagged[task].replaced;
      figures.seconds += tagged[task].seconds;
    }
  }
  AddF1Intervals(by_sentence, options.intervals, study.rows);

  // What the finder misses: the first tagger, trained on the first row's text.
  MissedShares missed;
  std::array<std::size_t, kTaggedTypes> counts{};
  for (std::size_t s = 0; s < options.seeds; ++s) {
    for (std::size_t k = 0; k < kTaggedTypes; ++k) counts[k] += tagged[s * columns].missed[k];
  }
  std::size_t all_missed = 0, all = 0;
  for (ReplacementStudy::Class& c : study.classes) {
    const std::size_t n = options.seeds * c.test_entities;
    if (n == 0) continue;
    c.missed = static_cast<double>(counts[Number(c.type)]) / static_cast<double>(n);
    missed[Number(c.type)] = c.missed;
    all_missed += counts[Number(c.type)];
    all += n;
  }
  if (all > 0) study.missed = static_cast<double>(all_missed) / static_cast<double>(all);
  for (std::size_t row = 0; row < rows; ++row) {
    const Replacer replacer(surrogates, replacements[row],
                            Key::ForExperiment(ExperimentKey(options.seed)));
    study.rows[row].epsilon = StateEpsilon(replacer, missed);
    study.rows[row].changed = ShareChanged(data.training, ReplacedParts(data, replacer).training);
  }
  study.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return study;
}

}  // namespace sotto

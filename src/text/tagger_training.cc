#include "text/tagger_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "text/tagger_features.h"

namespace sotto {
namespace {

struct Example {
  const LabelledSentence* sentence = nullptr;
  std::size_t corpus = 0;
};

std::vector<Example> ExamplesOf(std::span<const LabelledCorpus> corpora, CorpusPart part) {
  std::vector<Example> examples;
  for (std::size_t i = 0; i < corpora.size(); ++i) {
    for (const auto& sentence : corpora[i].sentences) {
      if (sentence.part == part && !sentence.tokens.empty()) examples.push_back({&sentence, i});
    }
  }
  return examples;
}

// What each token may be labelled: as marked, and where a corpus leaves types unmarked, any of
// them.
std::vector<LabelSet> AllowedLabels(const LabelledSentence& sentence) {
  LabelSet outside = Only(kOutside);
  for (std::size_t type = 0; type < kTaggedTypes; ++type) {
    if (sentence.annotated[type]) continue;
    const auto begin = BeginOf(static_cast<EntityType>(type));
    outside = static_cast<LabelSet>(outside | Only(begin) | Only(begin + 1));
  }
  std::vector<LabelSet> allowed;
  allowed.reserve(sentence.labels.size());
  for (const auto label : sentence.labels) {
    allowed.push_back(label == kOutside ? outside : Only(label));
  }
  return allowed;
}

using Weights = std::array<float, kBioLabels>;

class Fit {
 public:
  Fit(const Gazetteers& gazetteers, const TaggerTrainingOptions& options,
      std::vector<std::uint32_t> features)
      : gazetteers_(gazetteers),
        options_(options),
        features_(std::move(features)),
        index_(features_),
        weights_(features_.size()),
        squares_(features_.size()) {}

  // Starts with the weights of another fit.
  void Take(const Fit& other) {
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const auto row = other.index_.Find(features_[i]);
      weights_[i] = other.weights_[row];
      squares_[i] = other.squares_[row];
    }
    transitions_ = other.transitions_;
    transition_squares_ = other.transition_squares_;
  }

  // A step; returns the loss before it.
  double Learn(const LabelledSentence& sentence, const std::vector<bool>& unknown) {
    ExtractFeatures(sentence.text, sentence.tokens, gazetteers_, row_, unknown);
    const std::size_t n = sentence.tokens.size();
    std::vector<LabelScores> scores(n);
    rows_.clear();
    ends_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto feature : row_[i]) {
        const auto at = index_.Find(feature);
        if (at == FeatureIndex::kNone) continue;
        rows_.push_back(at);
        for (std::size_t b = 0; b < kBioLabels; ++b) scores[i][b] += weights_[at][b];
      }
      ends_.push_back(rows_.size());
    }
    const CrfLoss loss = LossOf(scores, transitions_, AllowedLabels(sentence));
    std::size_t at = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // Most tokens of most sentences are sure already.
      double largest = 0.0;
      for (const double g : loss.by_scores[i]) largest = std::max(largest, std::abs(g));
      if (largest < 1e-4) {
        at = ends_[i];
        continue;
      }
      for (; at < ends_[i]; ++at) {
        for (std::size_t b = 0; b < kBioLabels; ++b) {
          Step(loss.by_scores[i][b], weights_[rows_[at]][b], squares_[rows_[at]][b]);
        }
      }
    }
    for (std::size_t a = 0; a < kBioLabels; ++a) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        if (!MayFollow(static_cast<BioLabel>(a), static_cast<BioLabel>(b))) continue;
        Step(loss.by_transitions[a][b], transitions_[a][b], transition_squares_[a][b]);
      }
    }
    return loss.loss;
  }

  // The mean of the weights at the calls so far is what Model() has: it varies less from one order
  // of the sentences to another than the last weights do (Polyak and Juditsky 1992).
  void Remember() {
    if (sums_.empty()) sums_.resize(weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      for (std::size_t b = 0; b < kBioLabels; ++b) sums_[i][b] += weights_[i][b];
    }
    for (std::size_t a = 0; a < kBioLabels; ++a) {
      for (std::size_t b = 0; b < kBioLabels; ++b) transition_sums_[a][b] += transitions_[a][b];
    }
    ++remembered_;
  }

  // Those with the largest weights, ascending by hash.
  std::vector<std::uint32_t> Largest(std::size_t count) const {
    std::vector<std::pair<float, std::uint32_t>> sizes;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      float size = 0.0F;
      // What all labels share says nothing.
      float mean = 0.0F;
      for (const float w : weights_[i]) mean += w / static_cast<float>(kBioLabels);
      for (const float w : weights_[i]) size += (w - mean) * (w - mean);
      if (size > 0.0F) sizes.emplace_back(-size, features_[i]);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.resize(std::min(count, sizes.size()));
    std::vector<std::uint32_t> kept;
    kept.reserve(sizes.size());
    for (const auto& [size, feature] : sizes) kept.push_back(feature);
    std::sort(kept.begin(), kept.end());
    return kept;
  }

  TaggerModel Model() const {
    TaggerModel model;
    model.features = features_;
    model.weights = weights_;
    model.transitions = transitions_;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        model.weights[i][b] = sums_[i][b] / static_cast<float>(remembered_);
      }
    }
    for (std::size_t a = 0; a < kBioLabels && remembered_ > 0; ++a) {
      for (std::size_t b = 0; b < kBioLabels; ++b) {
        model.transitions[a][b] = transition_sums_[a][b] / remembered_;
      }
    }
    model.gazetteers = gazetteers_;
    return model;
  }

 private:
  template <typename Weight>
  void Step(double gradient, Weight& weight, Weight& square) const {
    if (std::abs(gradient) < 1e-7) return;
    const double sum = static_cast<double>(square) + gradient * gradient;
    const double step = options_.rate / std::sqrt(1e-3 + sum);
    double next = (static_cast<double>(weight) - step * gradient) / (1.0 + step * options_.l2);
    const double shrink = step * options_.l1;
    next = std::abs(next) <= shrink ? 0.0 : next - std::copysign(shrink, next);
    square = static_cast<Weight>(sum);
    weight = static_cast<Weight>(next);
  }

  const Gazetteers& gazetteers_;
  const TaggerTrainingOptions& options_;
  std::vector<std::uint32_t> features_;  // ascending
  FeatureIndex index_;
  std::vector<Weights> weights_, squares_;
  TransitionScores transitions_{}, transition_squares_{};
  std::vector<Weights> sums_;
  TransitionScores transition_sums_{};
  int remembered_ = 0;
  FeatureRow row_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> ends_;
};

// Features that enough of the training sentences and their transcripts have.
std::vector<std::uint32_t> Frequent(std::span<const Example> examples, const Gazetteers& gazetteers,
                                    int least) {
  std::unordered_map<std::uint32_t, int> counts;
  FeatureRow row;
  const auto count = [&](const LabelledSentence& sentence) {
    ExtractFeatures(sentence.text, sentence.tokens, gazetteers, row);
    for (std::size_t i = 0; i < row.Tokens(); ++i) {
      for (const auto feature : row[i]) ++counts[feature];
    }
  };
  for (const auto& example : examples) {
    count(*example.sentence);
    count(AsTranscript(*example.sentence));
  }
  std::vector<std::uint32_t> frequent;
  for (const auto& [feature, times] : counts) {
    if (times >= least) frequent.push_back(feature);
  }
  std::sort(frequent.begin(), frequent.end());
  return frequent;
}

// Into the card: of each type the share of its tokens that are not covered in sentences for
// reports, by the most probable labels ("missed PER") and at each recall of the table ("missed PER
// at 0.99"). Corpora have the same weight, and both forms of a sentence.
void NoteMisses(std::span<const LabelledCorpus> corpora, TaggerModel& model) {
  const Tagger tagger(model);
  std::vector<double> thresholds = {2.0};
  std::vector<std::string> names = {""};
  thresholds.reserve(model.recalls.size() + 1);
  names.reserve(model.recalls.size() + 1);
  for (const auto& point : model.recalls) {
    thresholds.push_back(point.threshold);
    names.push_back(fmt::format(" at {}", point.recall));
  }
  struct Shares {
    double missed = 0.0;
    int corpora = 0;
  };
  std::vector<std::array<Shares, kTaggedTypes>> shares(thresholds.size());
  for (const auto& corpus : corpora) {
    std::array<std::size_t, kTaggedTypes> all{};
    std::vector<std::array<std::size_t, kTaggedTypes>> missed(thresholds.size());
    for (const auto& sentence : corpus.sentences) {
      if (sentence.part != CorpusPart::kReport) continue;
      for (const auto& form : {sentence, AsTranscript(sentence)}) {
        const auto tagged = tagger.Tag(form.text, form.tokens);
        for (std::size_t i = 0; i < form.tokens.size(); ++i) {
          if (form.labels[i] == kOutside) continue;
          const auto type = static_cast<std::size_t>(TypeOf(form.labels[i]));
          ++all[type];
          if (tagged.labels[i] != kOutside) continue;
          for (std::size_t t = 0; t < thresholds.size(); ++t) {
            if (EntityProbability(tagged.marginals[i]) < thresholds[t]) ++missed[t][type];
          }
        }
      }
    }
    // Shares of a handful of tokens say nothing.
    constexpr std::size_t kLeastTokens = 20;
    for (std::size_t t = 0; t < thresholds.size(); ++t) {
      for (std::size_t type = 0; type < kTaggedTypes; ++type) {
        if (all[type] < kLeastTokens) continue;
        shares[t][type].missed +=
            static_cast<double>(missed[t][type]) / static_cast<double>(all[type]);
        ++shares[t][type].corpora;
      }
    }
  }
  for (std::size_t t = 0; t < thresholds.size(); ++t) {
    for (std::size_t type = 0; type < kTaggedTypes; ++type) {
      const Shares& share = shares[t][type];
      if (share.corpora == 0) continue;
      model.card[fmt::format("missed {}{}", kEntityNames[type], names[t])] =
          fmt::format("{:.4f}", share.missed / share.corpora);
    }
  }
}

}  // namespace

void TaggerTrainingOptions::Validate() const {
  augmentation.Validate();
  const auto require = [](bool allowed, const char* name, double value, const char* what) {
    if (!allowed) throw Error(fmt::format("{} {}: {} is allowed", name, value, what));
  };
  require(epochs >= 1 && epochs <= 1000, "epochs", epochs, "1 to 1000");
  require(final_epochs >= 0 && final_epochs <= 1000, "final epochs", final_epochs, "0 to 1000");
  require(rate > 0.0 && rate <= 10.0, "rate", rate, "above 0 and up to 10");
  require(l1 >= 0.0 && l1 <= 1.0, "l1", l1, "0 to 1");
  require(l2 >= 0.0 && l2 <= 1.0, "l2", l2, "0 to 1");
  require(least_count >= 1, "least count", least_count, "1 or more");
  require(features >= 1 && features <= 400000, "features", static_cast<double>(features),
          "1 to 400000");
}

TaggerModel TrainTagger(std::span<const LabelledCorpus> corpora, const NameLists& names,
                        const TaggerTrainingOptions& options,
                        const std::function<void(const std::string&)>& said) {
  options.Validate();
  const Augmentation augmentation(corpora, names, options.augmentation);
  const Gazetteers gazetteers(names);
  auto examples = ExamplesOf(corpora, CorpusPart::kTrain);
  if (examples.empty()) throw Error("no sentences to train on");
  SeededRng rng(options.seed);
  Fit wide(gazetteers, options, Frequent(examples, gazetteers, options.least_count));
  const auto run = [&](Fit& fit, int epochs, const char* what) {
    for (int epoch = 0; epoch < epochs; ++epoch) {
      for (std::size_t i = examples.size(); i > 1; --i) {
        std::swap(examples[i - 1], examples[rng.Below(i)]);
      }
      double loss = 0.0;
      std::size_t tokens = 0;
      for (const auto& example : examples) {
        ThrowIfCancelled();
        const auto varied = augmentation.Vary(*example.sentence, example.corpus, rng);
        if (varied.tokens.empty()) continue;
        loss += fit.Learn(varied, augmentation.Unknown(varied.tokens.size(), rng));
        tokens += varied.tokens.size();
      }
      if (&fit != &wide) fit.Remember();
      if (said) {
        said(fmt::format("{} {} of {}: loss {:.4f} per token", what, epoch + 1, epochs,
                         loss / static_cast<double>(tokens)));
      }
    }
  };
  run(wide, options.epochs, "epoch");
  Fit kept(gazetteers, options, wide.Largest(options.features));
  kept.Take(wide);
  run(kept, options.final_epochs, "final epoch");
  // Thresholds are those of the weights as the file holds them.
  TaggerModel model = ParseTaggerModel(kept.Model().Serialise(), "the model");
  model.recalls = RecallTable(Tagger(model), corpora);
  NoteMisses(corpora, model);
  std::string trained_on;
  for (const auto& corpus : corpora) trained_on += (trained_on.empty() ? "" : ", ") + corpus.name;
  model.card["trained on"] = trained_on;
  model.card["seed"] = fmt::format("{}", options.seed);
  return model;
}

std::vector<RecallPoint> RecallTable(const Tagger& tagger,
                                     std::span<const LabelledCorpus> corpora) {
  struct Scored {
    double probability, weight;
  };
  std::vector<Scored> entities, others;
  for (const auto& corpus : corpora) {
    std::vector<Scored> own_entities, own_others;
    for (const auto& sentence : corpus.sentences) {
      if (sentence.part != CorpusPart::kTune) continue;
      for (const auto& form : {sentence, AsTranscript(sentence)}) {
        const auto tagged = tagger.Tag(form.text, form.tokens);
        for (std::size_t i = 0; i < form.tokens.size(); ++i) {
          const double probability = EntityProbability(tagged.marginals[i]);
          if (form.labels[i] != kOutside) {
            own_entities.push_back({probability, 1.0});
            continue;
          }
          // What may be of a type that the corpus does not mark is no other token.
          double unmarked = 0.0;
          for (std::size_t type = 0; type < kTaggedTypes; ++type) {
            const auto begin = BeginOf(static_cast<EntityType>(type));
            if (form.annotated[type]) continue;
            unmarked += tagged.marginals[i][begin] + tagged.marginals[i][begin + 1];
          }
          if (unmarked < 0.5 * probability) own_others.push_back({probability, 1.0});
        }
      }
    }
    for (auto* list : {&own_entities, &own_others}) {
      for (auto& scored : *list) scored.weight = 1.0 / static_cast<double>(list->size());
      auto& all = list == &own_entities ? entities : others;
      all.insert(all.end(), list->begin(), list->end());
    }
  }
  const auto above = [](const Scored& a, const Scored& b) { return a.probability > b.probability; };
  std::sort(entities.begin(), entities.end(), above);
  std::sort(others.begin(), others.end(), above);
  const auto total = [](const std::vector<Scored>& list) {
    return std::accumulate(list.begin(), list.end(), 0.0,
                           [](double sum, const Scored& scored) { return sum + scored.weight; });
  };
  const double all_entities = total(entities), all_others = total(others);
  std::vector<RecallPoint> table;
  if (entities.empty() || others.empty()) return table;
  for (const double recall : {0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.975,
                              0.98, 0.985, 0.99, 0.992, 0.995, 0.997, 0.999}) {
    double sum = 0.0;
    std::size_t at = 0;
    while (at < entities.size() && sum < recall * all_entities) sum += entities[at++].weight;
    RecallPoint point{recall, at == 0 ? 1.0 : entities[at - 1].probability, 0.0};
    for (const auto& other : others) {
      if (other.probability < point.threshold) break;
      point.masked += other.weight / all_others;
    }
    table.push_back(point);
  }
  return table;
}

std::vector<EntityType> AnnotatedTypes(const LabelledCorpus& corpus) {
  std::array<bool, kTaggedTypes> marked{};
  for (const auto& sentence : corpus.sentences) {
    for (std::size_t type = 0; type < kTaggedTypes; ++type) {
      marked[type] = marked[type] || sentence.annotated[type];
    }
  }
  std::vector<EntityType> types;
  for (std::size_t type = 0; type < kTaggedTypes; ++type) {
    if (marked[type]) types.push_back(static_cast<EntityType>(type));
  }
  return types;
}

EntityScores ScoreTagger(const Tagger& tagger, const LabelledCorpus& corpus, CorpusPart part,
                         bool transcripts, double threshold) {
  const auto types = AnnotatedTypes(corpus);
  EntityScores scores;
  for (const auto& sentence : corpus.sentences) {
    if (sentence.part != part) continue;
    const auto form = transcripts ? AsTranscript(sentence) : sentence;
    const auto tagged = tagger.Tag(form.text);
    const auto labels = threshold <= 1.0 ? LabelsAbove(tagged, threshold) : tagged.labels;
    scores +=
        ScoreEntities(EntitiesOf(form), EntitiesOf(tagged.tokens, labels), form.tokens, types);
  }
  return scores;
}

}  // namespace sotto

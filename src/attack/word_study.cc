#include "attack/word_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// The words of examples, as the classifiers take them.
class WordFeatures {
 public:
  WordFeatures(const WordCorpus& corpus, const WordVectorOptions& options)
      : vectors_(WordVectors::Train(Sentences(corpus), options)) {
    for (const WordSpeaker& speaker : corpus.speakers) {
      std::vector<TextRow>& sentences = places_.emplace_back();
      for (const auto& sentence : speaker.sentences) sentences.push_back(vectors_.Places(sentence));
    }
  }

  std::size_t Vocabulary() const { return vectors_.Words().size(); }
  const MatrixXf& Embedding() const { return vectors_.Vectors(); }

  TextRow Row(const WordExample& example) const {
    const std::vector<TextRow>& sentences = places_[example.speaker];
    if (example.sentence != WordExample::kAll) return sentences[example.sentence];
    TextRow all;
    for (const TextRow& sentence : sentences) {
      all.insert(all.end(), sentence.begin(), sentence.end());
    }
    return all;
  }

  // Mean vectors as columns.
  MatrixXf Means(const std::vector<WordExample>& examples) const {
    MatrixXf means = MatrixXf::Zero(Embedding().rows(), static_cast<Index>(examples.size()));
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const TextRow row = Row(examples[i]);
      auto mean = means.col(static_cast<Index>(i));
      for (const std::int32_t word : row) mean += Embedding().col(word);
      if (!row.empty()) mean /= static_cast<float>(row.size());
    }
    return means;
  }

  LabelledTexts Texts(const std::vector<WordExample>& examples) const {
    LabelledTexts texts;
    for (const WordExample& example : examples) {
      texts.texts.push_back(Row(example));
      texts.labels.push_back(example.label);
    }
    return texts;
  }

 private:
  static std::vector<std::vector<std::string>> Sentences(const WordCorpus& corpus) {
    std::vector<std::vector<std::string>> sentences;
    for (const WordSpeaker& speaker : corpus.speakers) {
      sentences.insert(sentences.end(), speaker.sentences.begin(), speaker.sentences.end());
    }
    return sentences;
  }

  WordVectors vectors_;
  std::vector<std::vector<TextRow>> places_;  // of speakers' sentences
};

std::vector<double> ScoreBySvm(const WordFeatures& features, const WordSplit& split,
                               const SvmOptions& options) {
  MatrixXf train = features.Means(split.train), test = features.Means(split.test);
  const Eigen::VectorXf mean = train.rowwise().mean();
  const Eigen::VectorXf scale =
      ((train.colwise() - mean).cwiseAbs2().rowwise().mean().array() + 1e-12F).rsqrt();
  train = (scale.asDiagonal() * (train.colwise() - mean)).eval();
  test = (scale.asDiagonal() * (test.colwise() - mean)).eval();
  std::vector<std::uint8_t> labels;
  for (const WordExample& example : split.train) labels.push_back(example.label);
  const Eigen::VectorXd scores = Svm::Train(train, labels, options).Scores(test);
  return {scores.begin(), scores.end()};
}

std::vector<double> ScoreByCnn(const WordFeatures& features, const WordSplit& split,
                               const WordCnnOptions& options) {
  // Vectors as long as one another on average have values near 1, which the net is made for.
  const MatrixXf& vectors = features.Embedding();
  const float size = std::sqrt(vectors.cwiseAbs2().mean());
  const WordCnn net = WordCnn::Train(vectors / std::max(size, 1e-6F), features.Texts(split.train),
                                     features.Texts(split.held_out), options);
  std::vector<double> scores;
  for (const WordExample& example : split.test) scores.push_back(net.Logit(features.Row(example)));
  return scores;
}

// One random split, learnt and tested.
struct Task {
  std::size_t row = 0;
  int repeat = 0;
  std::vector<WordAnswers> answers;  // of each speaker of the corpus
  std::string reason;
};

void RunTask(const WordStudyOptions& options, const std::vector<WordCorpus>& corpora,
             const std::vector<WordFeatures>& features, const WordRow& row, Task& task) {
  const WordCorpus& corpus = corpora[row.corpus];
  const bool cnn = row.classifier == WordClassifier::kCnn;
  // The same split for all classifiers that share its sizes.
  const auto repeat = static_cast<std::uint64_t>(task.repeat);
  SeededRng seeds = ResampleRng(options.seed, repeat);
  try {
    const WordSplit split = SplitWords(corpus, corpus.attributes[row.attribute], row.protocol,
                                       cnn ? kCnnShares : kSvmShares, seeds());
    WordCnnOptions net = options.cnn;
    net.seed = seeds();
    const auto batches = 1 + static_cast<int>(split.train.size()) / net.batch;
    net.epochs = std::max(net.epochs, options.cnn_steps / batches);
    SvmOptions svm;
    svm.c = options.svm_c;
    svm.kernel =
        row.classifier == WordClassifier::kSvmLinear ? SvmKernel::kLinear : SvmKernel::kGaussian;
    const WordFeatures& words = features[row.corpus];
    const std::vector<double> scores =
        cnn ? ScoreByCnn(words, split, net) : ScoreBySvm(words, split, svm);
    task.answers.resize(corpus.speakers.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const WordExample& example = split.test[i];
      task.answers[example.speaker].counts[example.label][scores[i] > 0.0 ? 1 : 0] += 1.0;
    }
  } catch (const Error& error) {
    task.reason = error.what();
  }
}

void Add(const WordAnswers& from, double weight, WordAnswers& to) {
  for (std::size_t truth = 0; truth < 2; ++truth) {
    for (std::size_t answer = 0; answer < 2; ++answer) {
      to.counts[truth][answer] += weight * from.counts[truth][answer];
    }
  }
}

std::vector<double> Values(const WordRates& rates) {
  return {rates.accuracy, rates.balanced, rates.f1_macro, rates.f1_positive};
}

void Measure(const std::vector<WordAnswers>& answers, const IntervalOptions& intervals,
             WordRow& row) {
  std::vector<WordAnswers> tested;
  WordAnswers sum;
  for (const WordAnswers& one : answers) {
    double n = 0.0;
    for (const auto& of_truth : one.counts) n += of_truth[0] + of_truth[1];
    if (n == 0.0) continue;
    tested.push_back(one);
    Add(one, 1.0, sum);
  }
  const WordRates rates = RatesOf(sum);
  row.larger = rates.larger;
  const std::vector<double> values = Values(rates);
  constexpr std::array kNames = {"accuracy", "balanced_accuracy", "f1_macro", "f1_positive"};
  for (std::size_t k = 0; k < kNames.size(); ++k) {
    Figure& figure = row.figures.emplace_back();
    figure.name = kNames[k];
    figure.value = values[k];
    figure.unit = "probability";
    figure.direction = Direction::kLowerIsMorePrivate;
    figure.attacker = Name(row.classifier);
    const auto count = [&sum](std::size_t truth) {
      return static_cast<std::size_t>(sum.counts[truth][0] + sum.counts[truth][1]);
    };
    figure.counts = {{"speakers", tested.size()}, {"n_0", count(0)}, {"n_1", count(1)}};
  }
  AddIntervals(row.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    const std::vector<double> weights = DrawUnits(rng, tested.size());
    WordAnswers drawn;
    for (std::size_t s = 0; s < tested.size(); ++s) Add(tested[s], weights[s], drawn);
    return Values(RatesOf(drawn));
  });
}

std::vector<WordRow> PlanRows(const std::vector<WordCorpus>& corpora) {
  std::vector<WordRow> rows;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    for (std::size_t a = 0; a < corpora[c].attributes.size(); ++a) {
      for (const WordProtocol& protocol : AllWordProtocols()) {
        const bool whole = protocol.unit == WordUnit::kSpeaker;
        if (corpora[c].whole_speakers && !whole) continue;
        for (const WordClassifier classifier : kWordClassifiers) {
          const WordAttribute& attribute = corpora[c].attributes[a];
          WordRow& row = rows.emplace_back();
          row.corpus = c;
          row.attribute = a;
          row.classifier = classifier;
          row.protocol = protocol;
          row.best = whole ? attribute.best_speaker : attribute.best_sentence;
        }
      }
    }
  }
  return rows;
}

}  // namespace

const char* Name(WordClassifier classifier) {
  return classifier == WordClassifier::kSvmLinear     ? "svm-linear"
         : classifier == WordClassifier::kSvmGaussian ? "svm-gaussian"
                                                      : "cnn";
}

void WordStudyOptions::Validate() const {
  if (repeats < 1 || repeats > 1000) {
    throw Error(fmt::format("{} repeats: 1 to 1000 are allowed", repeats));
  }
  if (cnn_steps < 0 || cnn_steps > 1000000) {
    throw Error(fmt::format("{} steps of the net: 0 to 1000000 are allowed", cnn_steps));
  }
  vectors.Validate();
  cnn.Validate();
  intervals.Validate();
}

WordRates RatesOf(const WordAnswers& sum) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto& n = sum.counts;
  const double zeros = n[0][0] + n[0][1], ones = n[1][0] + n[1][1];
  if (zeros == 0.0 || ones == 0.0) return {kNaN, kNaN, kNaN, kNaN, kNaN};
  WordRates rates;
  rates.accuracy = (n[0][0] + n[1][1]) / (zeros + ones);
  rates.balanced = 0.5 * (n[0][0] / zeros + n[1][1] / ones);
  // 2·hits/(2·hits + errors of both kinds).
  const double errors = n[0][1] + n[1][0];
  const auto f1 = [errors](double hits) {
    return hits + errors == 0.0 ? 0.0 : 2.0 * hits / (2.0 * hits + errors);
  };
  rates.f1_positive = f1(n[1][1]);
  rates.f1_macro = 0.5 * (f1(n[0][0]) + f1(n[1][1]));
  rates.larger = std::max(zeros, ones) / (zeros + ones);
  return rates;
}

double WordRow::Value(std::string_view name) const {
  const Figure* figure = FindFigure(figures, name);
  return figure != nullptr ? figure->value : std::numeric_limits<double>::quiet_NaN();
}

bool WordRow::AboveChance() const {
  const Figure* figure = FindFigure(figures, "balanced_accuracy");
  return figure != nullptr && figure->interval && figure->interval->low > 0.5;
}

WordStudy StudyWords(std::vector<WordCorpus> corpora, const WordStudyOptions& options) {
  options.Validate();
  WordStudy study;
  study.options = options;
  std::vector<std::optional<WordFeatures>> trained(corpora.size());
  ParallelFor(corpora.size(), options.jobs, [&](std::size_t c) {
    WordVectorOptions vectors = options.vectors;
    vectors.seed = options.seed;
    trained[c].emplace(corpora[c], vectors);
  });
  std::vector<WordFeatures> features;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    features.push_back(std::move(*trained[c]));
    WordStudy::Size& size = study.sizes.emplace_back();
    size.speakers = corpora[c].speakers.size();
    size.vocabulary = features[c].Vocabulary();
    for (const WordSpeaker& speaker : corpora[c].speakers) {
      size.sentences += speaker.sentences.size();
      for (const auto& sentence : speaker.sentences) size.words += sentence.size();
    }
    for (const WordAttribute& attribute : corpora[c].attributes) {
      size.classes.push_back(CountLabelled(corpora[c], attribute));
    }
  }
  study.rows = PlanRows(corpora);
  std::vector<Task> tasks;
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    for (int repeat = 0; repeat < options.repeats; ++repeat) tasks.push_back({r, repeat, {}, {}});
  }
  ParallelFor(tasks.size(), options.jobs, [&](std::size_t t) {
    RunTask(options, corpora, features, study.rows[tasks[t].row], tasks[t]);
  });
  const auto repeats = static_cast<std::size_t>(options.repeats);
  ParallelFor(study.rows.size(), options.jobs, [&](std::size_t r) {
    WordRow& row = study.rows[r];
    std::vector<WordAnswers> answers(corpora[row.corpus].speakers.size());
    for (std::size_t k = 0; k < repeats; ++k) {
      const Task& task = tasks[r * repeats + k];
      if (!task.reason.empty()) row.reason = task.reason;
      for (std::size_t s = 0; s < task.answers.size(); ++s) Add(task.answers[s], 1.0, answers[s]);
    }
    if (!row.reason.empty()) return;
    IntervalOptions intervals = options.intervals;
    intervals.jobs = 1;
    Measure(answers, intervals, row);
  });
  for (WordCorpus& corpus : corpora) corpus.speakers.clear();
  study.corpora = std::move(corpora);
  return study;
}

std::vector<WordCorpus> PlantedCorpora(const PlantedWords& options) {
  std::vector<WordCorpus> corpora = {PlantWords(options)};
  PlantedWords other = options;
  for (const double replaced : {0.5, 0.9, 1.0}) {
    other.replaced = replaced;
    corpora.push_back(PlantWords(other));
    corpora.back().whole_speakers = true;
  }
  other.replaced = 0.0;
  other.strength = 0.0;
  corpora.push_back(PlantWords(other));
  return corpora;
}

}  // namespace sotto

#include "text/tagger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"
#include "text/tagger_features.h"

namespace sotto {
namespace {

constexpr const char* kFormat = "sotto-entities-1";

// No sum of weights of a token leaves what doubles hold as an exponential.
constexpr double kMostScore = 1e4;

}  // namespace

TensorFile TaggerModel::ToFile() const {
  TensorFile file;
  file.metadata = card;
  file.metadata["format"] = kFormat;
  const auto rows = static_cast<std::int64_t>(features.size());
  auto& hashes = file.integers["features"];
  hashes.shape = {rows};
  for (const auto feature : features) hashes.values.push_back(static_cast<std::int32_t>(feature));
  // A row for each label, so that each label has a scale of its own.
  auto& matrix = file.tensors["weights"];
  matrix.shape = {static_cast<std::int64_t>(kBioLabels), rows};
  for (std::size_t label = 0; label < kBioLabels; ++label) {
    for (const auto& weight : weights) matrix.values.push_back(weight[label]);
  }
  // One row for all labels but one each: rows of a matrix would be rounded to 8 bits.
  auto& between = file.tensors["transitions"];
  between.shape = {static_cast<std::int64_t>(kBioLabels * kBioLabels)};
  for (const auto& row : transitions) {
    for (const double score : row) between.values.push_back(static_cast<float>(score));
  }
  auto& names = file.integers["names"];
  auto& kinds = file.integers["names.kinds"];
  names.shape = kinds.shape = {static_cast<std::int64_t>(gazetteers.Hashes().size())};
  for (const auto hash : gazetteers.Hashes()) {
    names.values.push_back(static_cast<std::int32_t>(hash));
  }
  for (const auto kind : gazetteers.Kinds()) kinds.values.push_back(kind);
  std::string table;
  for (const auto& point : recalls) {
    table += fmt::format("{}{} {} {}", table.empty() ? "" : ", ", point.recall, point.threshold,
                         point.masked);
  }
  file.metadata["recalls"] = table;
  return file;
}

std::string TaggerModel::Serialise() const {
  return SerialiseTensorFile(ToFile(), StoredAs::kInt8);
}

namespace {

std::vector<RecallPoint> ParseRecalls(std::string_view table, const std::string& where) {
  std::vector<RecallPoint> points;
  while (!table.empty()) {
    const auto comma = table.find(", ");
    const std::string line(table.substr(0, comma));
    table = comma == std::string_view::npos ? std::string_view() : table.substr(comma + 2);
    const auto fields = SplitBlanks(line);
    if (fields.size() != 3) throw Error(where + ": 'recalls' has no three numbers in a point");
    RecallPoint point{ParseNumber(fields[0], where), ParseNumber(fields[1], where),
                      ParseNumber(fields[2], where)};
    const bool ordered = points.empty() || (point.recall > points.back().recall &&
                                            point.threshold <= points.back().threshold);
    if (!ordered || point.recall <= 0.0 || point.recall > 1.0 || point.threshold < 0.0 ||
        point.threshold > 1.0) {
      throw Error(where + ": 'recalls' must ascend in recall and not in threshold, within 0 … 1");
    }
    points.push_back(point);
  }
  return points;
}

}  // namespace

TaggerModel ParseTaggerModel(std::string_view bytes, const std::string& where) {
  TensorFile file = ParseTensorFile(bytes, where);
  if (file.Meta("format") != kFormat) {
    throw Error(fmt::format("{}: format '{}'; '{}' is read", where, file.Meta("format"), kFormat));
  }
  TaggerModel model;
  for (const auto value : file.GetIntegers("features", {-1}).values) {
    model.features.push_back(static_cast<std::uint32_t>(value));
  }
  const std::size_t rows = model.features.size();
  if (std::adjacent_find(model.features.begin(), model.features.end(), std::greater_equal<>()) !=
      model.features.end()) {
    throw Error(where + ": the hashes of features must ascend");
  }
  const auto labels = static_cast<std::int64_t>(kBioLabels);
  const auto& matrix = file.Get("weights", {labels, static_cast<std::int64_t>(rows)});
  model.weights.resize(rows);
  for (std::size_t label = 0; label < kBioLabels; ++label) {
    for (std::size_t row = 0; row < rows; ++row) {
      model.weights[row][label] = matrix.values[label * rows + row];
    }
  }
  const auto& between = file.Get("transitions", {labels * labels});
  for (std::size_t i = 0; i < kBioLabels * kBioLabels; ++i) {
    // exp of it is taken as it is.
    model.transitions[i / kBioLabels][i % kBioLabels] =
        std::clamp(static_cast<double>(between.values[i]), -100.0, 100.0);
  }
  std::vector<std::uint32_t> names;
  for (const auto value : file.GetIntegers("names", {-1}).values) {
    names.push_back(static_cast<std::uint32_t>(value));
  }
  std::vector<NameKinds> kinds;
  for (const auto value :
       file.GetIntegers("names.kinds", {static_cast<std::int64_t>(names.size())}).values) {
    kinds.push_back(static_cast<NameKinds>(value));
  }
  model.gazetteers = Gazetteers(std::move(names), std::move(kinds), where);
  model.recalls = ParseRecalls(file.Meta("recalls"), where);
  file.metadata.erase("format");
  file.metadata.erase("recalls");
  model.card = std::move(file.metadata);
  return model;
}

TaggerModel ReadTaggerModel(const std::filesystem::path& path) {
  return ParseTaggerModel(ReadTextFile(path), path.string());
}

Tagger::Tagger(TaggerModel model) : model_(std::move(model)), index_(model_.features) {}

TaggedText Tagger::Tag(std::string_view text) const { return Tag(text, Tokenise(text)); }

std::vector<std::pair<std::size_t, std::size_t>> Tagger::Windows(std::size_t tokens) {
  // A little more than a window is one, too.
  const std::size_t count = std::max<std::size_t>(1, (tokens + kWindow / 2) / kWindow);
  std::vector<std::pair<std::size_t, std::size_t>> windows;
  for (std::size_t i = 0; i < count; ++i) {
    windows.emplace_back(i * kWindow, i + 1 == count ? tokens : (i + 1) * kWindow);
  }
  return windows;
}

TaggedText Tagger::Tag(std::string_view text, std::vector<Token> tokens) const {
  TaggedText tagged;
  for (const auto& window : Windows(tokens.size())) {
    auto part = TagWindow(text, tokens, window.first, window.second);
    // A window may begin within an entity that the one before it did not see.
    const BioLabel before = tagged.labels.empty() ? kOutside : tagged.labels.back();
    if (!part.labels.empty() && !MayFollow(before, part.labels[0])) {
      part.labels[0] = BeginOf(TypeOf(part.labels[0]));
    }
    tagged.labels.insert(tagged.labels.end(), part.labels.begin(), part.labels.end());
    tagged.marginals.insert(tagged.marginals.end(), part.marginals.begin(), part.marginals.end());
  }
  tagged.tokens = std::move(tokens);
  return tagged;
}

TaggedText Tagger::TagWindow(std::string_view text, std::span<const Token> tokens,
                             std::size_t begin, std::size_t end) const {
  TaggedText tagged;
  if (begin >= end) return tagged;
  const std::size_t from = begin < kContext ? 0 : begin - kContext;
  const std::size_t to = std::min(tokens.size(), end + kContext);
  std::vector<Token> inner(tokens.begin() + static_cast<std::ptrdiff_t>(from),
                           tokens.begin() + static_cast<std::ptrdiff_t>(to));
  const std::size_t origin = inner.front().begin;
  const auto passage = text.substr(origin, inner.back().end - origin);
  for (auto& token : inner) {
    token.begin -= origin;
    token.end -= origin;
  }
  FeatureRow row;
  ExtractFeatures(passage, inner, model_.gazetteers, row);
  std::vector<LabelScores> scores(inner.size());
  for (std::size_t i = 0; i < inner.size(); ++i) {
    std::array<float, kBioLabels> sum{};
    for (const auto feature : row[i]) {
      const auto at = index_.Find(feature);
      if (at == FeatureIndex::kNone) continue;
      const auto& weights = model_.weights[at];
      for (std::size_t label = 0; label < kBioLabels; ++label) sum[label] += weights[label];
    }
    for (std::size_t label = 0; label < kBioLabels; ++label) {
      scores[i][label] = std::clamp(static_cast<double>(sum[label]), -kMostScore, kMostScore);
    }
  }
  const auto labels = BestLabels(scores, model_.transitions);
  const auto sums = SumLabellings(scores, model_.transitions);
  const auto part = [&](const auto& all) {
    return std::pair(all.begin() + static_cast<std::ptrdiff_t>(begin - from),
                     all.begin() + static_cast<std::ptrdiff_t>(end - from));
  };
  tagged.labels.assign(part(labels).first, part(labels).second);
  tagged.marginals.assign(part(sums.marginals).first, part(sums.marginals).second);
  tagged.tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                       tokens.begin() + static_cast<std::ptrdiff_t>(end));
  return tagged;
}

double Tagger::ThresholdOf(double recall) const {
  if (!(recall > 0.0 && recall < 1.0)) {
    throw Error(fmt::format("recall {}: a share above 0 and below 1 is allowed", recall));
  }
  for (const auto& point : model_.recalls) {
    if (point.recall >= recall - 1e-9) return point.threshold;
  }
  if (model_.recalls.empty()) throw Error("the model has no table of recalls");
  throw Error(
      fmt::format("recall {}: the model's table ends at {}", recall, model_.recalls.back().recall));
}

std::vector<BioLabel> LabelsAbove(const TaggedText& tagged, double threshold) {
  std::vector<BioLabel> labels = tagged.labels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kOutside && EntityProbability(tagged.marginals[i]) >= threshold) {
      std::size_t best = 0;
      double most = -1.0;
      for (std::size_t type = 0; type < kTaggedTypes; ++type) {
        const auto label = BeginOf(static_cast<EntityType>(type));
        const double probability = tagged.marginals[i][label] + tagged.marginals[i][label + 1];
        if (probability > most) {
          most = probability;
          best = type;
        }
      }
      const auto type = static_cast<EntityType>(best);
      const bool goes_on = i > 0 && labels[i - 1] != kOutside && TypeOf(labels[i - 1]) == type;
      labels[i] = goes_on ? InsideOf(type) : BeginOf(type);
    }
  }
  return labels;
}

}  // namespace sotto

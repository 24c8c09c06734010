#include "attack/text_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::size_t kRun = 4;

bool OfCharacters(TextScore score) {
  return score == TextScore::kCharacters || score == TextScore::kCharactersCosine;
}

// Words, or runs of characters of the words with single spaces around them.
std::vector<std::string> TermsOf(TextScore score, const TextWords& text) {
  if (!OfCharacters(score)) return text;
  std::string joined = "  ";  // two, so that a text of one letter has a run
  for (const std::string& word : text) joined += word + " ";
  std::vector<std::string> terms;
  for (std::size_t at = 0; at + kRun <= joined.size(); ++at)
    terms.push_back(joined.substr(at, kRun));
  return terms;
}

// Standardised by what is a number; zero where all are equal.
Eigen::VectorXf Standardised(const Eigen::VectorXf& scores) {
  double n = 0.0, sum = 0.0, squares = 0.0;
  for (const float score : scores) {
    if (std::isnan(score)) continue;
    n += 1.0;
    sum += score;
  }
  const double mean = n > 0.0 ? sum / n : 0.0;
  for (const float score : scores) {
    if (!std::isnan(score)) squares += (score - mean) * (score - mean);
  }
  const double scale = squares > 0.0 ? std::sqrt(n / squares) : 0.0;
  return ((scores.array().cast<double>() - mean) * scale).cast<float>();
}

}  // namespace

void NormaliseScores(Eigen::MatrixXf& scores) {
  Eigen::MatrixXf by_row = scores, by_column = scores;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    by_row.row(i) = Standardised(scores.row(i).transpose()).transpose();
  }
  for (Eigen::Index i = 0; i < scores.cols(); ++i) by_column.col(i) = Standardised(scores.col(i));
  scores = 0.5F * (by_row + by_column);
}

const char* Name(TextScore score) {
  constexpr std::array kNames = {"words", "characters", "words_cosine", "characters_cosine"};
  return kNames[static_cast<std::size_t>(score)];
}

TextScorer::TextScorer(TextScore score, const std::vector<TextWords>& background, double prior_mass)
    : score_(score), prior_mass_(prior_mass) {
  for (const TextWords& text : background) {
    if (text.empty()) continue;
    const Counts counts = Count(text, number_);
    total_.resize(number_.size());
    documents_.resize(number_.size());
    for (const auto& [term, count] : counts) {
      total_[term] += count;
      documents_[term] += 1.0;
      sum_ += count;
    }
    texts_ += 1.0;
  }
  if (texts_ == 0.0) throw Error("words: there is no text to know the language by");
}

TextScorer::Counts TextScorer::Count(const TextWords& text,
                                     std::unordered_map<std::string, std::uint32_t>& fresh) const {
  std::map<std::uint32_t, double> counts;
  for (const std::string& term : TermsOf(score_, text)) {
    const auto known = number_.find(term);
    if (known != number_.end()) {
      counts[known->second] += 1.0;
      continue;
    }
    // Beside the background's, numbers go on.
    const std::size_t next = &fresh == &number_ ? fresh.size() : number_.size() + fresh.size();
    counts[fresh.emplace(term, static_cast<std::uint32_t>(next)).first->second] += 1.0;
  }
  return {counts.begin(), counts.end()};
}

// With one more text that says each term once, and one new term.
double TextScorer::Background(std::uint32_t term) const {
  const double count = term < total_.size() ? total_[term] : 0.0;
  return (count + 1.0) / (sum_ + static_cast<double>(total_.size()) + 1.0);
}

double TextScorer::LogRatio(const Counts& enrolment, const Counts& trial) const {
  double size = 0.0, said = 0.0, sum = 0.0;
  for (const auto& [term, count] : enrolment) size += count;
  auto at = enrolment.begin();
  for (const auto& [term, count] : trial) {
    while (at != enrolment.end() && at->first < term) ++at;
    const double heard = at != enrolment.end() && at->first == term ? at->second : 0.0;
    const double background = Background(term);
    sum +=
        count * std::log((heard + prior_mass_ * background) / ((size + prior_mass_) * background));
    said += count;
  }
  return sum / said;
}

double TextScorer::Cosine(const Counts& enrolment, const Counts& trial) const {
  const auto weight = [this](std::uint32_t term, double count) {
    const double documents = term < documents_.size() ? documents_[term] : 0.0;
    return (1.0 + std::log(count)) * std::log((texts_ + 1.0) / (documents + 1.0));
  };
  const auto norm = [&weight](const Counts& counts) {
    double sum = 0.0;
    for (const auto& [term, count] : counts) sum += weight(term, count) * weight(term, count);
    return std::sqrt(sum);
  };
  double dot = 0.0;
  auto at = enrolment.begin();
  for (const auto& [term, count] : trial) {
    while (at != enrolment.end() && at->first < term) ++at;
    if (at == enrolment.end() || at->first != term) continue;
    dot += weight(term, count) * weight(term, at->second);
  }
  const double norms = norm(enrolment) * norm(trial);
  return norms > 0.0 ? dot / norms : 0.0;
}

Eigen::MatrixXf TextScorer::Score(const std::vector<TextWords>& enrolment,
                                  const std::vector<TextWords>& trials) const {
  std::unordered_map<std::string, std::uint32_t> fresh;
  const auto count = [&](const std::vector<TextWords>& texts) {
    std::vector<Counts> counts;
    counts.reserve(texts.size());
    for (const TextWords& text : texts) counts.push_back(Count(text, fresh));
    return counts;
  };
  const std::vector<Counts> models = count(enrolment), tested = count(trials);
  const bool cosine = score_ == TextScore::kWordsCosine || score_ == TextScore::kCharactersCosine;
  Eigen::MatrixXf scores = Eigen::MatrixXf::Constant(static_cast<Eigen::Index>(models.size()),
                                                     static_cast<Eigen::Index>(tested.size()),
                                                     std::numeric_limits<float>::quiet_NaN());
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (std::size_t t = 0; t < tested.size(); ++t) {
      if (models[m].empty() || tested[t].empty()) continue;
      scores(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(t)) = static_cast<float>(
          cosine ? Cosine(models[m], tested[t]) : LogRatio(models[m], tested[t]));
    }
  }
  return scores;
}

}  // namespace sotto

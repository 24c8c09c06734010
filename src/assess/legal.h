// The regulator's view (Vauquier et al. 2025, after the Article 29 Working Party's opinion
// 05/2014): can protected recordings be linked to a person, or single one out?
//
// Linkability at N: the probability that the true enrolment outscores N−1 others drawn from the n−1
// there are. With m of them scoring above, it is C(n−1−m, N−1)/C(n−1, N−1), computed exactly; a tie
// is broken by a fair coin, so a constant score gives chance, 1/N.
//
// Singling out at N: an attacker with one enrolment and a threshold τ has a predicate 1{s > τ};
// success means that it fires on exactly one of N speakers (the enrolled one and N−1 others drawn
// without replacement; whichever it is). τ is the point where the predicate fires on 1/N of
// held-out conversations of such a set. The expectation over draws is computed exactly;
// conversations are split in two halves by turns, each tested with the threshold of the other.
// Chance is (1 − 1/N)^(N−1).
//
// A conversation is L utterances of one speaker, consecutive in the file and not overlapping; its
// score with an enrolment is the mean of theirs. Rows of several enrolment recordings of one
// speaker are averaged first.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assess/trials.h"

namespace sotto {

// Probability that the true enrolment wins against `drawn` of `others` rivals, `above` of whom
// score higher and `tied` equally.
double LinkProbability(std::size_t others, std::size_t above, std::size_t tied, std::size_t drawn);

// Probability that the predicate fires exactly once on the own speaker and `drawn` speakers drawn
// without replacement, when it fires with these probabilities.
double SingleOutProbability(double own, std::span<const double> others, std::size_t drawn);

// (1 − 1/N)^(N−1)
double SinglingOutChance(std::size_t n);

struct LegalOptions {
  std::vector<std::size_t> population = {2, 5, 10, 20, 50, 100, 200, 500, 1000};  // N
  std::vector<std::size_t> utterances = {1, 3, 10, 30};                           // L
  void Validate() const;  // N at least 2, L at least 1
};

struct LegalPoint {
  std::size_t n = 0;  // N
  std::size_t l = 0;  // L
  double value = 0.0;
  double chance = 0.0;
  std::size_t n_tried =
      0;  // linkability: conversations; singling out: predicates (two halves each)
  // By test speaker: sum of the probabilities and how many there are. A bootstrap over speakers
  // weighs these.
  std::vector<double> speaker_sum, speaker_n;
  double Weighted(std::span<const double> weights) const;  // NaN when nothing is left
};

struct LegalResult {
  std::vector<LegalPoint> linkability;  // only (N, L) the data can answer
  std::vector<LegalPoint> singling_out;
  std::size_t n_enrol_speakers = 0;
  std::size_t n_test_speakers = 0;
  std::size_t n_utterances = 0;
};

// Scores of test utterances against enrolled speakers.
class LegalMeter {
 public:
  // Enrolment speakers are enrol_spk or, without that column, enrol; test speakers are test_spk or,
  // without it, the enrolment of the utterance's target trial. Throws Error without ids.
  explicit LegalMeter(const Trials& trials);
  LegalResult Measure(const LegalOptions& options) const;

 private:
  struct Speaker {
    std::string name;
    std::size_t enrolment = 0;            // kNone when not enrolled
    std::vector<std::size_t> utterances;  // columns, in file order
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  using Conversation = std::vector<double>;  // scores by enrolment, NaN where a trial is missing
  std::vector<std::vector<Conversation>> Conversations(std::size_t l) const;  // by test speaker
  // Nothing when the data has too few speakers for N.
  static std::optional<double> Link(const Conversation& conversation, std::size_t own,
                                    std::size_t n);
  std::optional<double> SingleOut(const std::vector<std::vector<Conversation>>& conversations,
                                  std::size_t s, std::size_t n, std::size_t tested) const;

  std::vector<std::string> enrolments_;
  std::vector<Speaker> speakers_;
  std::vector<std::vector<double>> scores_;  // by utterance, then enrolment; NaN when missing
};

}  // namespace sotto

// Figures per recording and per speaker: who is found, and who is most exposed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assess/pav.h"
#include "assess/trials.h"

namespace sotto {

// One test recording compared with several enrolments (or other recordings).
struct Query {
  std::uint32_t test = 0;        // number of the test id
  std::uint32_t some_trial = 0;  // one of its trials
  // Rank of the best-scoring target among all its trials: 1 + non-targets above it + half of those
  // tied with it (the mean over random tie-breaking). Also the size of its anonymity set.
  double rank = 0.0;
  // Share of targets among the k highest scores, one per k asked for; targets tied at the border
  // count by their expected share. NaN where the recording has fewer than k trials.
  std::vector<double> precision;
};

struct Identification {
  std::vector<std::size_t> k;
  std::vector<Query> queries;        // recordings with at least one target trial
  std::vector<double> top_k;         // mean precision, over the recordings with at least k trials
  std::vector<std::size_t> top_k_n;  // how many those are
  double mean_rank = 0.0;
  double median_rank = 0.0;
};

// Groups the trials by test id; throws Error when the trials have none.
Identification MeasureIdentification(const Trials& trials, std::span<const std::size_t> k);

// A speaker's place in the zoo plot (Dunstone & Yager 2009): mean score of the trials that claim
// the speaker. The animals are corners of both quartiles: dove (high target, low non-target),
// chameleon (both high), phantom (both low), worm (low target, high non-target), else empty.
struct ZooSpeaker {
  std::string name;
  std::size_t n_tar = 0;
  std::size_t n_non = 0;
  double mean_tar = 0.0;      // of raw scores; NaN without such trials
  double mean_non = 0.0;      //
  double mean_tar_llr = 0.0;  // of PAV LLRs with Laplace's rule, natural log
  double mean_non_llr = 0.0;  //
  std::string animal;
};

// By the enrolment's speaker, most exposed first (largest mean target LLR); needs speakers.
// `laplace` is the trials' PAV with Laplace's rule.
std::vector<ZooSpeaker> MeasureZoo(const Trials& trials, const Pav& laplace);

}  // namespace sotto

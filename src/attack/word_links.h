// Linking the utterances of a speaker by their words: which of the planned comparisons count, and
// what they score.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "attack/text_scores.h"
#include "attack/trial_plan.h"

namespace sotto {

// What is known of words. Utterances without a transcript are absent.
struct WordMaterial {
  std::map<std::string, TextWords> original, released;  // by utterance
  std::vector<TextWords> background;  // of other speakers; empty: the enrolment is all there is
};

// The choice of libri_dev.
inline constexpr TextScore kBestTextScore = TextScore::kCharacters;

struct WordLinks {
  std::vector<PlannedModel> models;
  std::vector<bool> used;  // of the plan's trials
  Eigen::MatrixXf scores;  // normalised; NaN: not compared
  std::string remark;      // what was left out
};

// Models of `l` enrolment utterances (0: all) against the plan's trials. Where ids say what was
// read (attack/reading_sessions.h) nothing is compared within a book: the books of a speaker are
// divided into enrolment and trials, and a speaker of one book is a non-target alone; given lists
// keep their enrolment, and lose the comparisons. Throws Error when too little is left.
WordLinks LinkByWords(const TrialPlan& plan, const WordMaterial& material, int l,
                      TextScore score = kBestTextScore);

}  // namespace sotto

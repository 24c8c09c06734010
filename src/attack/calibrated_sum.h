// Two attackers' scores of the same trials as one: a calibrated sum.
#pragma once

#include <vector>

#include "assess/trials.h"

namespace sotto {

// a·score + b·other + c for each trial, a natural-log likelihood ratio: logistic regression
// (nn/logistic.h) where both classes weigh the same (Brümmer & de Villiers 2011), fitted on trials
// whose two speakers are both others: speakers are divided into `folds`, and a comparison of two
// folds is scored by what was fitted on the rest. `other`: one for each trial. Throws Error when
// the trials name no speakers, or a rest lacks one of the classes.
std::vector<double> CalibratedSum(const Trials& trials, const std::vector<double>& other,
                                  int folds = 5);

}  // namespace sotto

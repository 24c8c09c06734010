// How the results of `sotto evaluate` lie in its working folder between runs, as JSON, and the
// pages beside them. The one place that reads figures back.
#pragma once

#include "evaluate/evaluate.h"

namespace sotto {

// What is read back is what the page, the JSON and the evidence of an evaluation need: no scores of
// trials, no training curve and no map; no transcripts and files of utterances; figures without
// unit and direction.
StepForms EvaluationSteps();

}  // namespace sotto

// What `sotto spoof` has to say of scores and of a trained countermeasure, as JSON, text and pages.
#pragma once

#include <optional>
#include <string>

#include "report/assess_page.h"
#include "spoof/spoof_scores.h"
#include "spoof/spoof_training.h"

namespace sotto {

// model, features, policy, threshold, scored, refused[], figures (where there are any), bootstrap,
// and either `file`, where the scores were written, or scores[].
std::string SpoofScoresJson(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                            const std::string& file);
std::string SpoofScoresText(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                            const std::string& file);
AssessPage SpoofScoresPage(const SpoofScores& scores, const std::optional<SpoofFigures>& figures,
                           const std::string& source);

// `figures` are of what was held out.
std::string TrainedSpoofJson(const TrainedSpoof& trained, const SpoofFigures& figures,
                             const std::string& file);
std::string TrainedSpoofText(const TrainedSpoof& trained, const SpoofFigures& figures,
                             const std::string& file);
AssessPage TrainedSpoofPage(const TrainedSpoof& trained, const SpoofFigures& figures,
                            const std::string& file);

}  // namespace sotto

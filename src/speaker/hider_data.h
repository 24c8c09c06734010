// What defences do with the voiceprints they are fitted on (HiderData).
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "speaker/hider.h"

namespace sotto {

// Throws Error where sizes differ, there are no attributes, a category has nobody or an index is
// none of its attribute's.
void CheckHiderData(const HiderData& data);

// A distribution over the voiceprints, adding up to 1: an attribute, one of its categories, a
// speaker of it, one of their voiceprints, each drawn with equal chances. Throws Error as
// CheckHiderData.
Eigen::VectorXd HiderWeights(const HiderData& data);

// One row for each category of each attribute: 1 for those of it.
Eigen::MatrixXd OneHot(const Categories& categories,
                       const std::vector<HiddenAttribute>& attributes);

// The data's header for a model: "120 voiceprints of 40 speakers, SETTINGS" is its training.
HiderHeader HeaderOf(const HiderData& data, const std::string& method, const std::string& settings);

}  // namespace sotto

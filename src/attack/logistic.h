// The attacker that is a logistic regression (nn/logistic.h).
#pragma once

#include <Eigen/Core>

#include "attack/attribute_examples.h"

namespace sotto {

// Direction and length (attribute_examples.h), standardised, balanced; the penalty of those below
// with the lowest log loss for speakers held out. One row of logits for two categories (the first
// against the second), else one for each category against the rest.
inline constexpr double kLogisticPenalties[] = {10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4};
Eigen::MatrixXf ClassifyLogistic(const AttributeExamples& train,
                                 const Eigen::Ref<const Eigen::MatrixXf>& test);

}  // namespace sotto

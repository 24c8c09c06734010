// What `sotto train hide` says of a defence that it has fitted.
#pragma once

#include <string>

#include "speaker/hider.h"
#include "speaker/hider_sources.h"

namespace sotto {

// Text, or `json`: file, method, dimension, encoder, voiceprints, speakers of each category,
// left_out (speakers), training, asks_for_categories, noisy_coordinates and l1_bound (where noise
// can be put on), seconds.
std::string PrintedHider(const Hider& hider, const HiderInput& input, double seconds,
                         const std::string& file, bool json);

}  // namespace sotto

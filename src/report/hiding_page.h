// The page of `sotto study hiding`.
#pragma once

#include <string>

#include "attack/hiding_study.h"
#include "report/assess_page.h"

namespace sotto {

// `subtitle`: what was tested.
AssessPage HidingPage(const HidingStudy& study, const std::string& subtitle);

}  // namespace sotto

// A method with its parameters as one word: "mcadams", "mcadams:alpha=0.5:0.9",
// "vtln:target-gender=other,f0=robust", "neural:streaming". For verbs that take several methods at
// once.
#pragma once

#include <string>

#include "voice/method.h"

namespace sotto {

// NAME or NAME:OPTION=VALUE[,OPTION=VALUE…]; the options are those of `sotto anonymise` (alpha,
// pitch, target-gender, pool, f0; for neural target, eps, max-draws and others), with the same
// values and defaults. A profile describes one speaker and is not taken. Throws Error that names
// the text, the option and what is allowed.
VoiceOptions ParseMethodText(const std::string& text);

}  // namespace sotto

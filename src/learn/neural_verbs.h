// sotto-train content and synth: the flags of the trainers of the neural anonymiser.
#pragma once

#include <CLI/CLI.hpp>

namespace sotto {

void AddContentVerb(CLI::App& app);
void AddSynthVerb(CLI::App& app);

}  // namespace sotto

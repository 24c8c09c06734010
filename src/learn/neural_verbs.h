// sotto-train content, synth and adain: the flags of the trainers of the neural anonymiser.
#pragma once

#include <CLI/CLI.hpp>

namespace sotto {

void AddContentVerb(CLI::App& app);
void AddSynthVerb(CLI::App& app);
void AddAdainVerb(CLI::App& app);

}  // namespace sotto

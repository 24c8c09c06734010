// The verbs of sotto-train: the flags of each net's training.
#pragma once

#include <CLI/CLI.hpp>

namespace sotto {

void AddEncoderVerb(CLI::App& app);
void AddContentVerb(CLI::App& app);
void AddSynthVerb(CLI::App& app);
void AddAdainVerb(CLI::App& app);

}  // namespace sotto

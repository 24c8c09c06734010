// The curves of `sotto protect-embedding --curve`, in a file of their own: of voice-ind, and of a
// defence with noise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/verbs.h"
#include "speaker/protect_embeddings.h"

namespace sotto::cli {

struct ProtectCurveFlags {
  std::string out;
  std::vector<double> eps{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
  std::vector<std::size_t> n;  // empty: a sixteenth, a quarter and all of the pool
  std::size_t repeats = 10;
  std::string attack;  // of a defence: what its attackers train on

  // Each flag with whether it is of voice-ind, of a defence, or of both.
  struct Flag {
    const CLI::Option* option;
    bool voice_ind, defence;
  };
  std::vector<Flag> Add(CLI::App& verb);  // --curve first
};

// Writes curve.json, curve.csv and curve.html into flags.out. `plda`: scores by it; empty: cosine.
void RunProtectCurve(const ProtectCurveFlags& flags, const std::filesystem::path& in,
                     const VoiceIndProtection& by, const std::filesystem::path& plda,
                     const TargetFlags& target, bool json);
// The same of the model of a defence: error rates of `in` and what attackers read off it.
void RunHidingCurve(const ProtectCurveFlags& flags, const std::filesystem::path& in,
                    const HiderProtection& by, const TargetFlags& target, int jobs, bool json);

}  // namespace sotto::cli

// Warps of the frequency axis undone, as an attacker tries it.
#pragma once

#include <functional>
#include <string>

#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

// The inverse of a monotone warp of [0, π] by bisection, to 1e-12.
double InverseWarp(const std::function<double(double)>& warp, double omega);

// Every envelope by one warp; the pitch stays.
Inverse WarpBack(std::string name, std::function<double(double)> warp,
                 const VocoderTransformOptions& vocoder);

}  // namespace sotto

// What VoiceMask and VTLN do to the frames of a recording, and how an attacker tries to undo it.
#pragma once

#include <functional>
#include <string>

#include "targets/pitch.h"
#include "targets/pool.h"
#include "voice/method_table.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

// Every envelope by one warp (dsp/warp.h); the pitch is mapped. The aperiodicity stays.
MakeFrameEditor WarpEditor(std::function<double(double)> warp, PitchMap pitch);

// Every envelope is warped by the factor of its class in `source`; factors are averaged over 11
// frames (55 ms), so that no formant jumps where the class changes.
MakeFrameEditor VtlnEditor(const VoiceModel& source, const ClassTargets& targets, PitchMap pitch);

// The inverse of a monotone warp of [0, π] by bisection, to 1e-12.
double InverseWarp(const std::function<double(double)>& warp, double omega);

// Every envelope by one warp; the pitch stays.
Inverse WarpBack(std::string name, std::function<double(double)> warp,
                 const VocoderTransformOptions& vocoder);

}  // namespace sotto

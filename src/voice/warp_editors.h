// What VoiceMask and VTLN do to the frames of a recording, and attackers to undo it.
#pragma once

#include <functional>

#include "targets/pitch.h"
#include "targets/pool.h"
#include "voice/vocoder_transformer.h"

namespace sotto {

// Every envelope by one warp (dsp/warp.h); the pitch is mapped. The aperiodicity stays.
MakeFrameEditor WarpEditor(std::function<double(double)> warp, PitchMap pitch);

// Every envelope is warped by the factor of its class in `source`; factors are averaged over 11
// frames (55 ms), so that no formant jumps where the class changes.
MakeFrameEditor VtlnEditor(const VoiceModel& source, const ClassTargets& targets, PitchMap pitch);

}  // namespace sotto

// One recording, from file to file, in bounded memory.
#pragma once

#include <cstdint>
#include <span>

#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "voice/method.h"

namespace sotto {

// Reads all of `reader` and writes as many samples to `writer`, which must have the same rate and
// number of channels. Each span is transformed with its own target; what lies outside the spans
// becomes silence. Spans that overlap are transformed as one where they share a speaker and the
// target is per speaker (`merge_overlaps`); otherwise an overlap is an Error. Where a span lies is
// the cutter's rule (audio/cutter.h). Returns the frames written; `writer` is left for the caller
// to close.
std::int64_t ProtectRecording(SoundReader& reader, SoundWriter& writer, double peak_limit,
                              std::span<const Span> spans, const VoiceMethod& method,
                              bool merge_overlaps);

}  // namespace sotto

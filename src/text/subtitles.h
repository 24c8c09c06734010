// Subtitles: SubRip (SRT) and WebVTT (W3C 2019). Text is searched across the lines of a cue and,
// where a sentence runs on, across cues.
#pragma once

#include <memory>

#include "text/passage.h"
#include "text/text_stream.h"

namespace sotto {

enum class SubtitleKind { kSrt, kWebVtt };

// Cues of one sentence that nobody ends are parted at the longest pause between them.
inline constexpr std::size_t kMostCuesAtOnce = 32;

// Passages are cues up to the end of a sentence, a speaker's change or kMostCuesAtOnce. Timing
// lines, settings, the cues' ids (the line before a timing line) and styling tags (<i>, <c.loud>,
// {\an8}) stay. Searched like any text: what a cue says, remarks (NOTE), the header of WebVTT, text
// that belongs to no cue, and tags that the formats do not have. The speaker of <v Name>, and of a
// style for one, is an entity.
//
// A line that is left without text goes, and where it was the cue's only one it becomes "…": a
// blank line would end the cue.
//
// Throws Error for what has no timing lines, for a timing line that is damaged, and for WebVTT
// without its first line. `lines` must outlive it.
std::unique_ptr<PassageReader> ReadSubtitles(LineReader& lines, SubtitleKind kind);

}  // namespace sotto

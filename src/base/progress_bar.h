// What a program shows of a run: a bar on stderr, and only when that is a terminal.
#pragma once

#include <string>

#include "base/run_watch.h"

namespace sotto {

// Its `progress` draws the bar and takes it away as a task ends; empty where nobody would see it.
RunWatch ProgressBar();

// The line as it is shown after `elapsed_seconds`: bar, counts, time left and real-time factor.
std::string ProgressLine(const RunProgress& now, double elapsed_seconds);

// "1:02:03" or "2:03".
std::string FormatDuration(double seconds);

}  // namespace sotto

// Checks of privacy parameters. No epsilon has a default anywhere: whoever calls must have chosen.
#pragma once

#include <cstdint>
#include <string>

namespace sotto {

// Above this an epsilon no longer limits an attacker noticeably (e^20 = 485 million to one).
inline constexpr double kWeakEpsilon = 20.0;

// Throw Error unless 0 < eps < infinity, 0 < delta < 1, sensitivity > 0.
void CheckEpsilon(double eps);
void CheckDelta(double delta);
void CheckSensitivity(double sensitivity);

// In plain words, what an epsilon above kWeakEpsilon means; empty for others.
std::string EpsilonWarning(double eps);

// Which pairs of data sets the guarantee cannot tell apart: one person's record added or removed,
// or exchanged for any other.
enum class Neighbours { kAddRemove, kReplaceOne };
const char* NeighboursText(Neighbours neighbours);

// The sensitivity of a sum (or of one released vector) whose contributions are clipped to norm
// `clip`: `clip` when one may be added or removed, 2·clip when one may be exchanged for its
// opposite.
double ClippedSensitivity(double clip, Neighbours neighbours);

}  // namespace sotto

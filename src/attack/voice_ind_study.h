// What n and epsilon of voice-indistinguishability do to distance and to an attacker's figures (the
// curves of Han et al. 2020). A study of the voiceprints it is given: no epsilon covers what it
// finds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assess/verify.h"
#include "speaker/protect_embeddings.h"

namespace sotto {

struct StudiedPoint {
  CurvePoint point;
  ScoreFigures figures;
};

struct VoiceIndStudy {
  std::string attacker;  // who made the scores
  std::size_t speakers = 0;
  std::size_t repeats = 0;
  std::vector<StudiedPoint> points;  // rising n or as asked for, epsilons rising within each
};

// Voiceprints `in` against public voices `pool`. No n given: a sixteenth, a quarter and all of the
// pool.
VoiceIndStudy StudyVoiceInd(const std::filesystem::path& in, const std::filesystem::path& pool,
                            CurveOptions options, const Key& key);

}  // namespace sotto

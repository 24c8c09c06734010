// What the trainers of the neural anonymiser know about the utterances of a speech pack beside
// their samples: states of the teacher, F0, a speaker embedding. Eight bytes "SOTTOFT1", a
// little-endian 64-bit length, a JSON header of that length, then for each utterance, one after the
// other: states (half precision, state_size values each), F0 (float, Hz, 0: unvoiced; one for every
// 160 samples begun), embedding (float). They tell who speaks: keep them like the recordings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "audio/speech_pack.h"
#include "base/files.h"

namespace sotto {

struct UtteranceFeatures {
  std::vector<std::uint16_t> states;  // IEEE binary16, state_size × number of states
  std::vector<float> f0_hz;           // at sample 160·t + 80
  std::vector<float> embedding;
};

struct FeaturePack {
  std::int64_t state_size = 288;
  std::int64_t embedding_size = 192;
  std::string teacher, encoder;  // what made the states and the embeddings
  std::vector<std::string> ids;  // as in the speech pack, in its order
  std::vector<UtteranceFeatures> utterances;
};

// Throws Error that names the file and what is wrong.
FeaturePack ReadFeaturePack(const std::filesystem::path& path);
void WriteFeaturePack(const std::filesystem::path& path, const FeaturePack& pack,
                      IfExists if_exists = IfExists::kReplace);

// Throws Error with counts unless `features` belongs to `pack`: the same ids in the same order, as
// many F0 frames as its samples ask for, states and an embedding for every utterance.
void RequireMatch(const SpeechPack& pack, const FeaturePack& features);

// Frames of 10 ms of so many samples: ⌈samples/160⌉.
std::int64_t PitchFrames(std::uint64_t samples);

}  // namespace sotto

// Decoded speech in one file, for training programs that have no audio libraries: mono 16-bit
// samples at one rate, cut into utterances with their speakers. Eight bytes "SOTTOPK1", a
// little-endian 64-bit length, a JSON header of that length, the samples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/gender.h"

namespace sotto {

struct PackedUtterance {
  std::string id, speaker;
  Gender gender = Gender::kUnknown;
  std::uint64_t begin = 0, count = 0;  // samples
};

struct SpeechPack {
  int rate_hz = 16000;
  std::vector<PackedUtterance> utterances;
  std::vector<std::int16_t> samples;
  std::string run;  // the run record (sotto-run.json) of a protected corpus, else empty
};

// Throws Error that names the file and what is wrong.
SpeechPack ReadSpeechPack(const std::filesystem::path& path);
void WriteSpeechPack(const std::filesystem::path& path, const SpeechPack& pack,
                     IfExists if_exists = IfExists::kReplace);
// For a program that is started with the file open.
void WriteSpeechPack(const UnnamedFile& file, const SpeechPack& pack);

}  // namespace sotto

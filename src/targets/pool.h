// What VTLN voice conversion keeps of a voice, and the two files made of it: the pool of target
// voices and the profile of a user. Neither holds sound or text.
//
// Both files are little endian: eight bytes of magic ("SOTTOVP1" for a pool, "SOTTOVU1" for a
// profile); u32 speakers, u32 classes (8), u32 points (257); then for each speaker
//     u8 length and the name (UTF-8, 1–255 bytes), u8 gender ('F', 'M' or '?'),
//     f32 mean and f32 deviation of ln(F0/Hz) over voiced frames,
//     f32 × classes × points: the centroids, nepers of power, 0 … 8 kHz, each with mean 0;
// a profile goes on with u32 checksum of the pool it was fitted to, u32 speakers of that pool, and
// for each speaker, pool speaker and class u8 target class, u8 step of the factor; and u32 CRC-32
// of all that came before ends the file. 28 speakers take 231 kB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/gender.h"

namespace sotto {

inline constexpr std::size_t kVoiceClasses = 8;
inline constexpr std::size_t kEnvelopePoints = 257;  // 0 … 8 kHz in steps of 31.25 Hz

// Of ln(F0/Hz) over voiced frames.
struct PitchLevel {
  double log_f0_mean = 0.0, log_f0_deviation = 0.0;
};

struct VoiceModel : PitchLevel {
  std::string name;
  Gender gender = Gender::kUnknown;
  std::vector<float> centroids;  // kVoiceClasses × kEnvelopePoints

  std::span<const float> Centroid(std::size_t k) const {
    return std::span(centroids).subspan(k * kEnvelopePoints, kEnvelopePoints);
  }
};

struct VoicePool {
  std::vector<VoiceModel> voices;
  std::uint32_t checksum = 0;  // of the file; set by ParsePool
};

// For one source class: where it goes, and the step of the warp factor (targets/vtln.h).
struct ClassTarget {
  std::uint8_t target_class = 0;
  std::uint8_t step = 0;
  bool operator==(const ClassTarget&) const = default;
};
using ClassTargets = std::array<ClassTarget, kVoiceClasses>;

struct VoiceProfile {
  std::vector<VoiceModel> voices;
  std::uint32_t pool_checksum = 0;
  std::size_t pool_size = 0;
  std::vector<ClassTargets> targets;  // of voice v to pool voice p: targets[v·pool_size + p]
};

std::string SerialisePool(const VoicePool& pool);
std::string SerialiseProfile(const VoiceProfile& profile);

// Throw Error, which names `where` and what is wrong, for anything but a whole, valid file.
VoicePool ParsePool(std::string_view bytes, const std::string& where);
VoiceProfile ParseProfile(std::string_view bytes, const std::string& where);

// The pool that ships with the program (docs/provenance.md says what it was made of).
const VoicePool& DefaultPool();
// A file, or the default pool when `path` is empty.
VoicePool ReadPool(const std::filesystem::path& path);

}  // namespace sotto

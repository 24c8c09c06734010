// A countermeasure as a file: the integer network itself, not a float net that is rounded when it
// is loaded, with all that one must know to use it. The front end (what is done to features before
// the net) is public, since clients compute it; the weights are the provider's.
//
// The file is safetensors (nn/safetensors.h): w1, w2 (13 fraction bits, I16) and b1 (13 fraction
// bits, I32) as integers, the statistics of the front end as F32, and as metadata: format, name,
// features (fingerprint), definition, x_max, b_out and threshold (whole numbers), policy
// (score|decision), training (how it was made, in words).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "mpc/integer_net.h"

namespace sotto {

// From features (spoof_features.h) to the integers that the net takes: each value less its mean,
// divided by its deviation over the training data, cut at ±x_max, rounded to 13 fraction bits.
struct SpoofFrontEnd {
  std::vector<float> mean, scale;  // scale: one over the deviation
  std::int32_t x_max = 0;          // 2^13

  // 16 hexadecimal digits that name the features: their definition, these statistics and x_max.
  // Features of another fingerprint mean nothing to the net.
  std::string Fingerprint() const;
  // Throws Error when the number of values is not that of the statistics.
  std::vector<std::int32_t> Quantise(std::span<const float> features) const;
};

struct SpoofModel {
  std::string name;      // "PRIVASP-1024"
  std::string training;  // data and settings, in words
  SpoofFrontEnd front_end;
  IntegerNet net;

  // Larger means more genuine; exactly what the integer network gives, in units of 1.
  double Score(std::span<const float> features) const;
  double Threshold() const;
};

// Names for OpenSpoofModel of the two nets in the program (docs/models.md).
inline constexpr const char* kPrivasp1024 = "privasp-1024";
inline constexpr const char* kPrivasp512 = "privasp-512";
inline constexpr std::uint64_t kLargestSpoofModel = std::uint64_t{8} << 20;  // bytes

// One of the two, or a file. Throws Error that names the file and what is wrong: no model of this
// kind, damaged, larger than 8 MiB, a net whose ranges do not fit (CheckRanges), features that are
// not those this program computes.
SpoofModel OpenSpoofModel(const std::string& name_or_file);
SpoofModel ParseSpoofModel(std::string_view bytes, const std::string& where);

// Throws Error for what ParseSpoofModel would not take back.
std::string SerialiseSpoofModel(const SpoofModel& model);
void WriteSpoofModel(const std::filesystem::path& path, const SpoofModel& model,
                     IfExists if_exists = IfExists::kRefuse);

}  // namespace sotto

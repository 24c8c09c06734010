// For tests only: a small countermeasure that was not trained, and voices of nobody.
#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "audio/testing.h"
#include "base/files.h"
#include "base/random.h"
#include "spoof/spoof_features.h"
#include "spoof/spoof_model.h"

namespace sotto::testing {

inline SpoofModel SmallSpoofModel(std::uint32_t units = 2) {
  SeededRng rng(7);
  SpoofModel model;
  model.name = "small";
  model.training = "not trained";
  model.front_end.mean.assign(kSpoofInputs, 0.5F);
  model.front_end.scale.assign(kSpoofInputs, 0.25F);
  model.front_end.x_max = 4 << 13;
  IntegerNet& net = model.net;
  net.inputs = kSpoofInputs;
  net.units = units;
  net.x_max = model.front_end.x_max;
  for (std::size_t i = 0; i < kSpoofInputs * units; ++i) {
    net.w1.push_back(static_cast<std::int32_t>(rng.Below(401)) - 200);
  }
  for (std::uint32_t i = 0; i < units; ++i) {
    net.b1.push_back((static_cast<std::int64_t>(rng.Below(2001)) - 1000) << 13);
    net.w2.push_back(static_cast<std::int32_t>(rng.Below(4001)) - 2000);
  }
  net.b_out = -123456789;
  net.threshold = 987654321;
  return model;
}

// Genuine: noisy vowels of six speakers. Spoofs: without noise and of other formants, by two
// engines with three voices each. Four recordings a voice; two folders that are manifests.
inline void MakeSpoofCorpora(const std::filesystem::path& genuine,
                             const std::filesystem::path& spoof) {
  SeededRng rng(3);
  const auto make = [&](const std::filesystem::path& folder, bool is_spoof) {
    std::string manifest = is_spoof ? "utt_id\tpath\tspeaker\tengine\n" : "utt_id\tpath\tspeaker\n";
    for (int s = 0; s < 6; ++s) {
      for (int i = 0; i < 4; ++i) {
        const std::string id = fmt::format("{}{}-{}", is_spoof ? "spoof" : "real", s, i);
        std::vector<float> x =
            SyntheticVowel(2.5, kSpoofRateHz, 90.0 + 12.0 * s + i,
                           is_spoof ? std::vector<double>{500.0 + 10.0 * s, 1700, 2900}
                                    : std::vector<double>{700.0 + 10.0 * s, 1220, 2600});
        for (float& v : x) v += static_cast<float>((is_spoof ? 0.0005 : 0.005) * rng.Gaussian());
        WriteWav(folder / (id + ".wav"), x);
        manifest += fmt::format("{}\t{}.wav\tvoice{}{}", id, id, is_spoof ? "s" : "r", s) +
                    (is_spoof ? fmt::format("\tengine{}\n", s % 2) : "\n");
      }
    }
    WriteFileAtomically(folder / "manifest.tsv", manifest);
  };
  make(genuine, false);
  make(spoof, true);
}

}  // namespace sotto::testing

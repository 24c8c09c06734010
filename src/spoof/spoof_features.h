// What a countermeasure hears of a recording: the LFCC of PRIVASP (Chouchane et al. 2021; Chouchane
// 2024, chapter 3). 30 ms windows every 15 ms, 30 coefficients, the first 1500 ms of the speech,
// shorter speech repeated: 99 × 30 = 2970 values. The source says no more; our choice: c0 among
// them, Hamming, FFT of 512 at 16 kHz, 70 triangles from 0 to 8 kHz on the Hz axis, natural
// logarithm, DCT-II.
//
// Before that every recording is treated alike, genuine or not, in training and in use, so that a
// net can decide neither by loudness nor by the silence before the first word. Speech begins at the
// first 10 ms frame from which three of five lie less than 20 dB below the active speech level
// (ITU-T P.56). What is cut out from there is brought to an active level of −26 dB. Energies more
// than some 60 dB below that count as that much, so that the digital silence of a synthesiser is
// like the silence of a room.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sotto {

inline constexpr int kSpoofRateHz = 16000;
inline constexpr std::size_t kSpoofSamples = 24000;     // 1500 ms
inline constexpr std::size_t kSpoofFrameSamples = 480;  // 30 ms
inline constexpr std::size_t kSpoofFrames = 99;
inline constexpr std::size_t kSpoofCoefficients = 30;
inline constexpr std::size_t kSpoofInputs = kSpoofFrames * kSpoofCoefficients;
// Of a longer recording, what begins later is not heard.
inline constexpr double kSpoofLongestS = 30.0;

// Samples [begin, end) from the first to the last speech of x at kSpoofRateHz.
struct SpeechStretch {
  std::size_t begin = 0, end = 0;
};
// Throws Error that says what is wrong where x is empty, not finite, silent, or has less speech
// than one frame.
SpeechStretch FindSpeech(std::span<const float> x);

// kSpoofSamples of speech at the common level: the first `most` samples from where speech begins,
// repeated where they are fewer. `most` is at least a frame. Throws Error as FindSpeech does.
std::vector<float> PrepareSpeech(std::span<const float> x, std::size_t most = kSpoofSamples);

// kSpoofInputs values, frame by frame, of what PrepareSpeech made.
std::vector<float> SpoofLfcc(std::span<const float> prepared);

// Both.
std::vector<float> SpoofFeatures(std::span<const float> x);

// All of the above in one line of text, of which models carry the digest: who computes features in
// another way is told so and gets no score.
const std::string& SpoofFeatureDefinition();

}  // namespace sotto

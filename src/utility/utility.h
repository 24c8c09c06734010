// What a protection leaves for listeners and machines: words, melody, voicing, loudness, tempo,
// quality; by speaker and by gender, since damage that falls on some is not fair.
//
// A figure that could not be measured has the value NaN and says why; none is left out.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assess/figure.h"
#include "assess/intervals.h"
#include "assess/wer.h"
#include "utility/paired_utterances.h"

namespace sotto {

struct RecogniserChoice {
  std::string name;
  std::size_t limit = 0;  // utterances it hears, spread over the speakers; 0: all

  // "moonshine" or "pocketsphinx:60"; Error for another name or number.
  static RecogniserChoice Parse(const std::string& text);
};

struct UtilityOptions {
  std::filesystem::path original, released;
  std::filesystem::path models;               // searched before the usual folders
  bool trust_models = false;                  // taken as they are (onnx/models.h)
  std::vector<RecogniserChoice> recognisers;  // empty: all there are
  std::optional<std::string> content;         // RecordedContent (release/release_record.h)
  std::string encoder = "default";            // speaker/encoder.h, for g_vd_db
  std::size_t limit = 0;                      // utterances, spread over the speakers; 0: all
  std::size_t rated = 0;                      // of them by DNSMOS, the dearest judge; 0: all
  // Keeps what was measured on the originals (one_side.h) for further copies; empty: nothing.
  std::filesystem::path cache;
  int jobs = 1;  // utterances at a time; no figure depends on it
  IntervalOptions intervals;
};

// One recogniser's word and character errors on both sides.
struct RecogniserJudgement {
  std::string name, model;
  std::string reason;  // why it did not judge; empty when it did
  // Does the protection use this recogniser's model itself, so that its judgement is too kind? By
  // the run record beside the protected corpus; none when there is no record.
  std::optional<bool> shares_model_with_method;
  std::vector<std::size_t> heard;  // utterances
  WerResult original, released;    // per_utterance in the order of `heard`
  std::optional<Interval> wer_original, wer_released, cer_original, cer_released;
  double audio_s = 0.0, cpu_s = 0.0;  // both sides together, on one core
};

// What is measured on every pair; the figures are means over utterances.
enum class Measure {
  kPitchCorrelation,
  kPitchCorrelationLagged,
  kVoicingAgreement,
  kEnergyCorrelation,
  kPauseRatio,
  kPauseRatioOriginal,
  kSpeakingRate,
  kSpeakingRateOriginal,
  kLevel,
  kDurationRatio,
  kSigOriginal,
  kSigReleased,
  kBakOriginal,
  kBakReleased,
  kOvrOriginal,
  kOvrReleased,
};
inline constexpr std::size_t kMeasures = 16;
std::string_view MeasureName(Measure measure);  // "pitch_correlation", "dnsmos.sig.original"

using MeasuredUtterance = std::array<double, kMeasures>;  // NaN: not measurable there

struct UtilityResult {
  std::vector<PairedUtterance> utterances;
  std::vector<RecogniserJudgement> recognisers;
  std::vector<MeasuredUtterance> measured;  // by utterance
  std::vector<Figure> figures;              // one for each Measure, then g_vd_db
  std::string bootstrap;                    // how the intervals were made
  double seconds = 0.0;                     // of original speech
};

UtilityResult MeasureUtility(const UtilityOptions& options);

// The same figures over some of the utterances (a speaker's, a gender's), without intervals.
struct UtilitySummary {
  struct Errors {
    EditCounts words_original, words_released, chars_original, chars_released;
  };
  std::size_t utterances = 0;
  double seconds = 0.0;
  std::vector<Errors> recognisers;  // as in UtilityResult
  MeasuredUtterance means;
};
UtilitySummary Summarise(const UtilityResult& result, const std::vector<std::size_t>& utterances);

// Utterances by speaker or by gender, in the order of their names.
std::map<std::string, std::vector<std::size_t>> BySpeaker(const UtilityResult& result);
std::map<std::string, std::vector<std::size_t>> ByGender(const UtilityResult& result);

}  // namespace sotto

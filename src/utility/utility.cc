#include "utility/utility.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "assess/panels.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "utility/one_side.h"
#include "utility/text.h"
#include "utility/voice_distinctiveness.h"

namespace sotto {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct MeasureInfo {
  std::string_view name, unit;
  Direction direction;
};
constexpr std::array<MeasureInfo, kMeasures> kInfo = {{
    {"pitch_correlation", "", Direction::kHigherIsBetter},
    {"pitch_correlation_lagged", "", Direction::kHigherIsBetter},
    {"voicing_agreement", "share of frames", Direction::kHigherIsBetter},
    {"energy_correlation", "", Direction::kHigherIsBetter},
    {"pause_ratio", "share of time", Direction::kNeither},
    {"pause_ratio_original", "share of time", Direction::kNeither},
    {"speaking_rate", "syllables/s", Direction::kNeither},
    {"speaking_rate_original", "syllables/s", Direction::kNeither},
    {"level_db", "dB", Direction::kNeither},
    {"duration_ratio", "", Direction::kNeither},
    {"dnsmos.sig.original", "MOS", Direction::kHigherIsBetter},
    {"dnsmos.sig.protected", "MOS", Direction::kHigherIsBetter},
    {"dnsmos.bak.original", "MOS", Direction::kHigherIsBetter},
    {"dnsmos.bak.protected", "MOS", Direction::kHigherIsBetter},
    {"dnsmos.ovr.original", "MOS", Direction::kHigherIsBetter},
    {"dnsmos.ovr.protected", "MOS", Direction::kHigherIsBetter},
}};

double& At(MeasuredUtterance& values, Measure measure) {
  return values[static_cast<std::size_t>(measure)];
}

bool IsDnsMos(std::size_t k) { return k >= static_cast<std::size_t>(Measure::kSigOriginal); }
bool IsPause(std::size_t k) {
  return k == static_cast<std::size_t>(Measure::kPauseRatio) ||
         k == static_cast<std::size_t>(Measure::kPauseRatioOriginal);
}

Judges OpenAll(const UtilityOptions& options, UtilityResult& result) {
  const ModelFolders models = ModelFolders::Default(options.models, options.trust_models);
  Judges judges = OpenJudges(models, options.encoder);
  if (options.rated != 0) {
    judges.rated.assign(result.utterances.size(), 0);
    for (const std::size_t i : SpreadOverSpeakers(result.utterances, options.rated)) {
      judges.rated[i] = 1;
    }
  }
  std::vector<RecogniserChoice> choices = options.recognisers;
  if (choices.empty()) {
    for (const std::string& name : RecogniserNames()) choices.push_back({name, 0});
  }
  for (const RecogniserChoice& choice : choices) {
    RecogniserJudgement judgement;
    judgement.name = choice.name;
    if (options.content) judgement.shares_model_with_method = *options.content == choice.name;
    Judges::Transcriber transcriber;
    transcriber.hears.assign(result.utterances.size(), 0);
    if (!result.utterances[0].text) {
      judgement.reason = "the originals have no transcripts";
    } else {
      try {
        transcriber.recogniser = OpenRecogniser(choice.name, models);
      } catch (const UntrustedModel&) {
        throw;
      } catch (const Error& error) {
        judgement.reason = error.what();
      }
    }
    if (transcriber.recogniser != nullptr) {
      judgement.model = transcriber.recogniser->Model();
      judgement.heard = SpreadOverSpeakers(result.utterances, choice.limit);
      for (const std::size_t i : judgement.heard) transcriber.hears[i] = 1;
    }
    judges.transcribers.push_back(std::move(transcriber));
    result.recognisers.push_back(std::move(judgement));
  }
  return judges;
}

// What recognisers made of one utterance.
struct Heard {
  std::string original, released;
  double audio_s = 0.0, cpu_s = 0.0;
};

MeasuredUtterance Compare(const SideMeasures& original, const SideMeasures& released) {
  MeasuredUtterance values;
  values.fill(kNaN);
  if (!original.prosody || !released.prosody) return values;
  const Prosody &before = *original.prosody, &after = *released.prosody;
  const ProsodyComparison change = CompareProsody(before, after);
  At(values, Measure::kPitchCorrelation) = change.pitch_correlation;
  At(values, Measure::kPitchCorrelationLagged) = change.pitch_correlation_lagged;
  At(values, Measure::kVoicingAgreement) = change.voicing_agreement;
  At(values, Measure::kEnergyCorrelation) = change.energy_correlation;
  At(values, Measure::kPauseRatio) = after.pause_ratio.value_or(kNaN);
  At(values, Measure::kPauseRatioOriginal) = before.pause_ratio.value_or(kNaN);
  At(values, Measure::kSpeakingRate) = after.speaking_rate;
  At(values, Measure::kSpeakingRateOriginal) = before.speaking_rate;
  At(values, Measure::kLevel) = change.level_change_db;
  At(values, Measure::kDurationRatio) = change.duration_ratio;
  if (original.dnsmos && released.dnsmos) {
    At(values, Measure::kSigOriginal) = original.dnsmos->sig;
    At(values, Measure::kSigReleased) = released.dnsmos->sig;
    At(values, Measure::kBakOriginal) = original.dnsmos->bak;
    At(values, Measure::kBakReleased) = released.dnsmos->bak;
    At(values, Measure::kOvrOriginal) = original.dnsmos->ovr;
    At(values, Measure::kOvrReleased) = released.dnsmos->ovr;
  }
  return values;
}

// Embeddings of all utterances on both sides.
struct Voices {
  std::vector<std::vector<float>> original, released;
};

void AddDistinctiveness(UtilityResult& result, const Judges& judges, const Voices& voices,
                        const IntervalOptions& intervals) {
  Figure figure;
  if (judges.encoder != nullptr) {
    std::vector<std::string> speakers;
    std::size_t mute = 0;
    for (std::size_t i = 0; i < result.utterances.size(); ++i) {
      speakers.push_back(result.utterances[i].speaker);
      mute += voices.original[i].empty() || voices.released[i].empty() ? 1 : 0;
    }
    if (mute == 0) {
      figure = MeasureVoiceDistinctiveness(voices.original, voices.released, speakers, intervals);
    } else {
      figure.remark = fmt::format("{} of {} utterances are too short or too silent for the encoder",
                                  mute, speakers.size());
    }
  } else {
    figure.remark = judges.no_encoder;
  }
  if (figure.name.empty()) {
    figure.name = "g_vd_db";
    figure.unit = "dB";
    figure.value = kNaN;
  }
  result.figures.push_back(std::move(figure));
}

// Speaker number of each utterance.
std::vector<std::size_t> SpeakerNumbers(const UtilityResult& result) {
  std::map<std::string, std::size_t> number;
  std::vector<std::size_t> speaker_of;
  for (const PairedUtterance& one : result.utterances) {
    speaker_of.push_back(number.emplace(one.speaker, number.size()).first->second);
  }
  return speaker_of;
}

void CountErrors(UtilityResult& result, std::size_t k, const std::vector<Heard>& heard,
                 const std::vector<std::size_t>& speaker_of, const IntervalOptions& intervals) {
  RecogniserJudgement& judgement = result.recognisers[k];
  Transcripts reference, original, released;
  // Numbered among the speakers this recogniser heard.
  std::map<std::size_t, std::size_t> number;
  std::vector<std::size_t> speakers;
  for (const std::size_t i : judgement.heard) {
    const PairedUtterance& one = result.utterances[i];
    const auto words = [&](const std::string& text, const char* what) {
      const std::string where = fmt::format("{} of '{}'", what, one.id);
      return std::pair(one.id, DecodeUtf8(NormaliseTranscript(text, where), where));
    };
    reference.push_back(words(*one.text, "transcript"));
    original.push_back(words(heard[i].original, "recognised text"));
    released.push_back(words(heard[i].released, "recognised text"));
    judgement.audio_s += heard[i].audio_s;
    judgement.cpu_s += heard[i].cpu_s;
    speakers.push_back(number.emplace(speaker_of[i], number.size()).first->second);
  }
  judgement.original = ComputeWer(reference, original, {});
  judgement.released = ComputeWer(reference, released, {});
  if (judgement.original.words.n == 0) {
    judgement.reason = "the transcripts hold no words";
    return;
  }
  const Panel before = WerPanel(judgement.original, speakers, intervals);
  const Panel after = WerPanel(judgement.released, speakers, intervals);
  judgement.wer_original = before.figures[0].interval;
  judgement.cer_original = before.figures[1].interval;
  judgement.wer_released = after.figures[0].interval;
  judgement.cer_released = after.figures[1].interval;
}

// Weighted mean of a measure over utterances that have it; NaN when none has.
double Mean(const std::vector<MeasuredUtterance>& measured, std::size_t k,
            const std::function<double(std::size_t)>& weight) {
  double sum = 0.0, total = 0.0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double w = weight(i);
    if (w == 0.0 || !std::isfinite(measured[i][k])) continue;
    sum += w * measured[i][k];
    total += w;
  }
  return total > 0.0 ? sum / total : kNaN;
}

void MakeFigures(UtilityResult& result, const Judges& judges,
                 const std::vector<std::size_t>& speaker_of, const IntervalOptions& intervals) {
  for (std::size_t k = 0; k < kMeasures; ++k) {
    Figure figure;
    figure.name = kInfo[k].name;
    figure.unit = kInfo[k].unit;
    figure.direction = kInfo[k].direction;
    figure.value = Mean(result.measured, k, [](std::size_t) { return 1.0; });
    std::size_t n = 0;
    for (const MeasuredUtterance& one : result.measured) n += std::isfinite(one[k]) ? 1 : 0;
    figure.counts = {{"n_utterances", n}};
    if (n == 0) {
      figure.remark = IsDnsMos(k) && !judges.no_dnsmos.empty()    ? judges.no_dnsmos
                      : IsPause(k) && !judges.no_detector.empty() ? judges.no_detector
                      : IsPause(k)                                ? "no speech was found"
                      : k <= static_cast<std::size_t>(Measure::kPitchCorrelationLagged)
                          ? "no utterance has 0.2 s of voice on both sides"
                          : "nothing to compare: the recordings are silent or empty";
    }
    result.figures.push_back(std::move(figure));
  }
  const std::size_t speakers = BySpeaker(result).size();
  AddIntervals(result.figures, intervals, [&](std::uint64_t r) {
    SeededRng rng = ResampleRng(intervals.seed, r);
    const std::vector<double> weights = DrawUnits(rng, speakers);
    std::vector<double> values;
    for (std::size_t k = 0; k < kMeasures; ++k) {
      values.push_back(
          Mean(result.measured, k, [&](std::size_t i) { return weights[speaker_of[i]]; }));
    }
    return values;
  });
}

}  // namespace

std::string_view MeasureName(Measure measure) {
  return kInfo[static_cast<std::size_t>(measure)].name;
}

RecogniserChoice RecogniserChoice::Parse(const std::string& text) {
  RecogniserChoice choice;
  const std::size_t colon = text.find(':');
  choice.name = text.substr(0, colon);
  bool known = false;
  for (const std::string& name : RecogniserNames()) known = known || name == choice.name;
  std::size_t used = 0;
  if (colon != std::string::npos) {
    const std::string number = text.substr(colon + 1);
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
        number.size() < 10) {
      choice.limit = std::stoul(number, &used);
    }
  }
  if (!known || (colon != std::string::npos && choice.limit == 0)) {
    throw Error(fmt::format(
        "recogniser '{}' is not moonshine or pocketsphinx, or one of them with a number of "
        "utterances (pocketsphinx:60)",
        text));
  }
  return choice;
}

UtilityResult MeasureUtility(const UtilityOptions& options) {
  UtilityResult result;
  result.utterances = PairUtterances(options.original, options.released, options.limit);
  const Judges judges = OpenAll(options, result);
  const std::size_t n = result.utterances.size();
  std::vector<SideMeasures> originals;
  if (!options.cache.empty()) {
    originals = MeasureOriginals(judges, result.utterances, options.cache, options.jobs);
  }
  result.measured.resize(n);
  std::vector<double> seconds(n, 0.0);
  Voices voices{std::vector<std::vector<float>>(n), std::vector<std::vector<float>>(n)};
  std::vector<std::vector<Heard>> heard(judges.transcribers.size(), std::vector<Heard>(n));
  const auto groups = GroupByRecording(result.utterances);
  Progress progress("measuring", groups.size(), static_cast<double>(n));
  ParallelFor(groups.size(), options.jobs, [&](std::size_t g) {
    std::vector<std::vector<float>> before;
    if (originals.empty()) {
      before = ReadUtterances(result.utterances, groups[g], &PairedUtterance::original);
    }
    const auto after = ReadUtterances(result.utterances, groups[g], &PairedUtterance::released);
    double audio_s = 0.0;
    for (std::size_t place = 0; place < groups[g].size(); ++place) {
      const std::size_t i = groups[g][place];
      SideMeasures original =
          originals.empty() ? MeasureSide(judges, i, before[place]) : std::move(originals[i]);
      SideMeasures released = MeasureSide(judges, i, after[place]);
      seconds[i] = original.seconds;
      result.measured[i] = Compare(original, released);
      for (std::size_t k = 0; k < heard.size(); ++k) {
        HeardText &first = original.heard[k], &second = released.heard[k];
        heard[k][i] = {std::move(first.text), std::move(second.text),
                       first.audio_s + second.audio_s, first.cpu_s + second.cpu_s};
      }
      voices.original[i] = std::move(original.voice);
      voices.released[i] = std::move(released.voice);
      audio_s += seconds[i];
    }
    progress.Done(static_cast<double>(groups[g].size()), audio_s);
  });
  for (const double s : seconds) result.seconds += s;
  const std::vector<std::size_t> speaker_of = SpeakerNumbers(result);
  const std::size_t speakers = BySpeaker(result).size();
  result.bootstrap = options.intervals.resamples == 0
                         ? "none"
                         : fmt::format(
                               "speaker-level ({} speakers; of those a recogniser heard where "
                               "they are fewer), {} resamples, seed {}",
                               speakers, options.intervals.resamples, options.intervals.seed);
  for (std::size_t k = 0; k < judges.transcribers.size(); ++k) {
    if (judges.transcribers[k].recogniser != nullptr) {
      CountErrors(result, k, heard[k], speaker_of, options.intervals);
    }
  }
  MakeFigures(result, judges, speaker_of, options.intervals);
  AddDistinctiveness(result, judges, voices, options.intervals);
  return result;
}

UtilitySummary Summarise(const UtilityResult& result, const std::vector<std::size_t>& utterances) {
  UtilitySummary summary;
  summary.utterances = utterances.size();
  std::vector<char> member(result.utterances.size(), 0);
  for (const std::size_t i : utterances) member[i] = 1;
  for (std::size_t k = 0; k < kMeasures; ++k) {
    summary.means[k] =
        Mean(result.measured, k, [&](std::size_t i) { return member[i] != 0 ? 1.0 : 0.0; });
  }
  for (const RecogniserJudgement& judgement : result.recognisers) {
    UtilitySummary::Errors errors;
    for (std::size_t j = 0; j < judgement.original.per_utterance.size(); ++j) {
      if (member[judgement.heard[j]] == 0) continue;
      errors.words_original += judgement.original.per_utterance[j].words;
      errors.words_released += judgement.released.per_utterance[j].words;
      errors.chars_original += judgement.original.per_utterance[j].chars;
      errors.chars_released += judgement.released.per_utterance[j].chars;
    }
    summary.recognisers.push_back(errors);
  }
  return summary;
}

std::map<std::string, std::vector<std::size_t>> BySpeaker(const UtilityResult& result) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < result.utterances.size(); ++i) {
    groups[result.utterances[i].speaker].push_back(i);
  }
  return groups;
}

std::map<std::string, std::vector<std::size_t>> ByGender(const UtilityResult& result) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < result.utterances.size(); ++i) {
    groups[Name(result.utterances[i].gender)].push_back(i);
  }
  return groups;
}

}  // namespace sotto

#include "report/utility_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

// Null where there is none, or none that is finite.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Ends(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

void PutAlignment(JsonFields f, const EditCounts& counts) {
  f("hits", counts.hits)("sub", counts.sub)("del", counts.del)("ins", counts.ins);
}

// What the entries of wer[] and cer[] begin with: the recogniser, then original, protected and n,
// or nulls with the reason.
JsonFields RateEntry(const RecogniserJudgement& judgement, const EditCounts& original,
                     const EditCounts& released, const char* count_name) {
  const std::string reason = WhyNoRate(judgement, original);
  const bool measured = reason.empty();
  JsonFields f;
  f("recogniser", judgement.name);
  f("shares_model_with_method", judgement.shares_model_with_method);
  f("original", measured ? Json(original.Rate()) : Json(nullptr));
  f("protected", measured ? Json(released.Rate()) : Json(nullptr));
  f(count_name, measured ? Json(original.n) : Json(nullptr));
  if (!measured) f("reason", reason);
  return f;
}

JsonFields WerEntry(const RecogniserJudgement& one) {
  JsonFields f = RateEntry(one, one.original.words, one.released.words, "n_words");
  f("ci", Ends(one.wer_released))("ci_original", Ends(one.wer_original));
  if (!one.reason.empty()) return f;
  f("model", one.model)("n_utterances", one.heard.size());
  PutAlignment(f("alignment")("original"), one.original.words);
  PutAlignment(f("alignment")("protected"), one.released.words);
  return f("times_real_time", Number(one.audio_s / one.cpu_s));
}

JsonFields CerEntry(const RecogniserJudgement& one) {
  JsonFields f = RateEntry(one, one.original.chars, one.released.chars, "n_chars");
  return f("ci", Ends(one.cer_released))("ci_original", Ends(one.cer_original));
}

// Puts a value at a name with dots ("dnsmos.sig.original").
void Put(JsonFields f, const std::string& name, double value) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) {
    f(name, Number(value));
  } else {
    Put(f(name.substr(0, dot)), name.substr(dot + 1), value);
  }
}

void PutGroup(JsonFields f, const UtilityResult& result,
              const std::vector<std::size_t>& utterances) {
  const UtilitySummary summary = Summarise(result, utterances);
  f("n_utterances", summary.utterances);
  Json wer = Json::array(), cer = Json::array();
  for (std::size_t k = 0; k < result.recognisers.size(); ++k) {
    const RecogniserJudgement& one = result.recognisers[k];
    const UtilitySummary::Errors& errors = summary.recognisers[k];
    wer.push_back(RateEntry(one, errors.words_original, errors.words_released, "n_words").json());
    cer.push_back(RateEntry(one, errors.chars_original, errors.chars_released, "n_chars").json());
  }
  f("wer", wer)("cer", cer);
  for (std::size_t m = 0; m < kMeasures; ++m) {
    const std::string name(MeasureName(static_cast<Measure>(m)));
    Put(f, name, summary.means[m]);
    if (!std::isfinite(summary.means[m])) {
      f("reason")(name, WhyNoMean(result, static_cast<Measure>(m)));
    }
  }
}

std::string Share(double rate) { return std::isfinite(rate) ? Percent(rate) + " %" : "–"; }

double Mean(const UtilitySummary& summary, Measure measure) {
  return summary.means[static_cast<std::size_t>(measure)];
}

// One row for each group: words, melody, loudness, quality.
PageTable GroupTable(const UtilityResult& result, const std::string& title, const std::string& unit,
                     const std::map<std::string, std::vector<std::size_t>>& groups) {
  PageTable table{title, {unit, "utterances"}};
  for (const RecogniserJudgement& judgement : result.recognisers) {
    if (judgement.reason.empty()) table.header.push_back("WER, " + judgement.name);
  }
  for (const char* name :
       {"pitch corr. (± 50 ms)", "voicing agr.", "energy corr.", "level", "DNSMOS OVR"}) {
    table.header.push_back(name);
  }
  for (const auto& [name, utterances] : groups) {
    const UtilitySummary summary = Summarise(result, utterances);
    std::vector<std::string> row = {name, fmt::to_string(summary.utterances)};
    for (std::size_t k = 0; k < result.recognisers.size(); ++k) {
      if (!result.recognisers[k].reason.empty()) continue;
      const UtilitySummary::Errors& errors = summary.recognisers[k];
      row.push_back(fmt::format("{} → {}", Share(errors.words_original.Rate()),
                                Share(errors.words_released.Rate())));
    }
    row.push_back(Decimal(Mean(summary, Measure::kPitchCorrelationLagged), 2));
    row.push_back(Share(Mean(summary, Measure::kVoicingAgreement)));
    row.push_back(Decimal(Mean(summary, Measure::kEnergyCorrelation), 2));
    const double level = Mean(summary, Measure::kLevel);
    row.push_back(std::isfinite(level) ? fmt::format("{:+.1f} dB", level) : "–");
    row.push_back(fmt::format("{} → {}", Decimal(Mean(summary, Measure::kOvrOriginal), 2),
                              Decimal(Mean(summary, Measure::kOvrReleased), 2)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Speakers as points, before against after: above the diagonal the protection cost words.
Plot SpeakerPlot(const UtilityResult& result) {
  Plot plot{"speakers",
            "Word errors of each speaker",
            "Each point is a speaker. On the dashed line the protection cost nothing; the higher "
            "above it, the more words were lost. Damage that falls on few is visible as points far "
            "from the others.",
            {.label = "WER, original", .low = 0.0, .percent = true},
            {.label = "WER, protected", .low = 0.0, .percent = true}};
  double top = 0.05;
  for (std::size_t k = 0; k < result.recognisers.size(); ++k) {
    if (!result.recognisers[k].reason.empty()) continue;
    PlotSeries series{result.recognisers[k].name, Mark::kPoints};
    for (const auto& [speaker, utterances] : BySpeaker(result)) {
      const UtilitySummary::Errors errors = Summarise(result, utterances).recognisers[k];
      if (errors.words_original.n == 0) continue;
      series.Add(errors.words_original.Rate(), errors.words_released.Rate());
      series.hints.push_back(speaker);
      top = std::max({top, series.x.back(), series.y.back()});
    }
    plot.series.push_back(std::move(series));
  }
  plot.series.push_back({"no change", Mark::kReference, {0.0, top}, {0.0, top}});
  return plot;
}

// A histogram of measures over utterances; `plot` has all but series.
Plot Histogram(const UtilityResult& result, Plot plot,
               const std::vector<std::pair<std::string, Measure>>& sides) {
  constexpr std::size_t kBins = 25;
  const double low = plot.x.low.value_or(0.0), high = plot.x.high.value_or(1.0);
  for (const auto& [name, measure] : sides) {
    PlotSeries series{name, Mark::kSteps, {}, std::vector<double>(kBins + 1)};
    for (std::size_t b = 0; b <= kBins; ++b) {
      series.x.push_back(low + (high - low) * static_cast<double>(b) / kBins);
    }
    for (const MeasuredUtterance& one : result.measured) {
      const double value = one[static_cast<std::size_t>(measure)];
      if (!std::isfinite(value)) continue;
      const double place = std::floor((value - low) / (high - low) * kBins);
      series.y[static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0))] += 1.0;
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

PageTable WorstTable(const UtilityResult& result) {
  constexpr std::size_t kListed = 15;
  PageTable table{"Utterances that lost most words",
                  {"utterance", "recogniser", "words", "errors, original", "errors, protected",
                   "sub", "del", "ins"}};
  for (const RecogniserJudgement& judgement : result.recognisers) {
    std::vector<std::pair<double, std::size_t>> lost;
    for (std::size_t j = 0; j < judgement.original.per_utterance.size(); ++j) {
      const EditCounts& before = judgement.original.per_utterance[j].words;
      const EditCounts& after = judgement.released.per_utterance[j].words;
      if (after.Errors() <= before.Errors()) continue;
      lost.emplace_back(static_cast<double>(before.Errors()) - static_cast<double>(after.Errors()),
                        j);
    }
    std::sort(lost.begin(), lost.end());
    for (std::size_t i = 0; i < std::min(lost.size(), kListed); ++i) {
      const UtteranceErrors& before = judgement.original.per_utterance[lost[i].second];
      const UtteranceErrors& after = judgement.released.per_utterance[lost[i].second];
      table.rows.push_back({after.id, judgement.name, fmt::to_string(after.words.n),
                            fmt::to_string(before.words.Errors()),
                            fmt::to_string(after.words.Errors()), fmt::to_string(after.words.sub),
                            fmt::to_string(after.words.del), fmt::to_string(after.words.ins)});
    }
  }
  return table;
}

Figure Rate(const std::string& name, const EditCounts& counts, const char* unit,
            const std::optional<Interval>& interval, const RecogniserJudgement& judgement) {
  Figure figure;
  figure.name = name;
  figure.unit = unit;
  figure.direction = Direction::kLowerIsBetter;
  figure.value = judgement.reason.empty() ? counts.Rate() : std::nan("");
  figure.interval = interval;
  figure.remark = judgement.reason;
  if (judgement.reason.empty()) {
    figure.counts = {
        {"sub", counts.sub}, {"del", counts.del}, {"ins", counts.ins}, {"n", counts.n}};
    if (judgement.shares_model_with_method.value_or(false)) {
      figure.remark =
          "the protection uses this recogniser's model, which makes it too kind a judge";
    }
  }
  return figure;
}

std::vector<Figure> UtilityFigures(const UtilityResult& result) {
  std::vector<Figure> figures;
  for (const RecogniserJudgement& one : result.recognisers) {
    const auto add = [&](const char* name, const EditCounts& counts, const char* unit,
                         const std::optional<Interval>& interval) {
      figures.push_back(Rate(fmt::format("{} {}", name, one.name), counts, unit, interval, one));
    };
    const char *words = "errors per word", *chars = "errors per character";
    add("wer original", one.original.words, words, one.wer_original);
    add("wer protected", one.released.words, words, one.wer_released);
    add("cer original", one.original.chars, chars, one.cer_original);
    add("cer protected", one.released.chars, chars, one.cer_released);
  }
  figures.insert(figures.end(), result.figures.begin(), result.figures.end());
  return figures;
}

std::vector<std::string> UtilityNotes(const UtilityResult& result) {
  std::vector<std::string> notes = {fmt::format("{} utterances of {} speakers, {:.1f} s",
                                                result.utterances.size(), BySpeaker(result).size(),
                                                result.seconds)};
  for (const RecogniserJudgement& one : result.recognisers) {
    if (!one.reason.empty()) continue;
    notes.push_back(fmt::format("{}: {}, {} utterances, {:.1f} times real time on one core{}",
                                one.name, one.model, one.heard.size(), one.audio_s / one.cpu_s,
                                one.shares_model_with_method
                                    ? ""
                                    : "; whether the protection uses its model is not known (no "
                                      "sotto-run.json)"));
  }
  notes.push_back(
      "level_db is the protected level minus the original's; ratios and rates without "
      "_original are the protected side's");
  notes.push_back("intervals: " + result.bootstrap);
  return notes;
}

}  // namespace

std::string WhyNoRate(const RecogniserJudgement& judgement, const EditCounts& original) {
  return !judgement.reason.empty() ? judgement.reason
         : original.n == 0         ? "it heard none of these utterances"
                                   : "";
}

std::string WhyNoMean(const UtilityResult& result, Measure measure) {
  const std::string& remark = result.figures[static_cast<std::size_t>(measure)].remark;
  return remark.empty() ? "not measurable in any of these utterances" : remark;
}

std::string UtilityJson(const UtilityResult& result) {
  JsonFields f;
  const auto speakers = BySpeaker(result), genders = ByGender(result);
  f("n_utterances", result.utterances.size())("n_speakers", speakers.size());
  f("seconds", result.seconds);
  f("wer", JsonList(result.recognisers, WerEntry))("cer", JsonList(result.recognisers, CerEntry));
  for (const Figure& figure : result.figures) Put(f, figure.name, figure.value);
  f("ci", Json::object())("reason", Json::object());
  for (const Figure& figure : result.figures) {
    f("ci")(figure.name, Ends(figure.interval));
    if (!std::isfinite(figure.value)) f("reason")(figure.name, figure.remark);
  }
  f("by_speaker", Json::object())("by_gender", Json::object());
  for (const auto& [speaker, utterances] : speakers) {
    PutGroup(f("by_speaker")(speaker), result, utterances);
  }
  if (genders.size() == 1 && genders.begin()->first == "unknown") {
    f("by_gender", nullptr);
    f("reason")("by_gender", "the originals do not say the speakers' gender");
  } else {
    for (const auto& [gender, utterances] : genders) {
      PutGroup(f("by_gender")(gender), result, utterances);
    }
  }
  return f("bootstrap", result.bootstrap).Text();
}

std::string UtilityText(const UtilityResult& result) {
  return FiguresText(UtilityFigures(result)) + Lines(UtilityNotes(result));
}

AssessPage UtilityPage(const UtilityResult& result, const std::string& source) {
  AssessPage page{"What is left for the listener and the recogniser", source,
                  UtilityFigures(result), UtilityNotes(result)};
  page.plots = {
      SpeakerPlot(result),
      Histogram(result,
                {"pitch",
                 "Melody kept",
                 "Correlation of the pitch before and after, by utterance. 1: the melody is that "
                 "of the original.",
                 {"pitch correlation", Scale::kLinear, -1.0, 1.0},
                 {"utterances", Scale::kLinear, 0.0}},
                {{"as it is", Measure::kPitchCorrelation},
                 {"best within ± 50 ms", Measure::kPitchCorrelationLagged}})};
  if (std::isfinite(result.figures[static_cast<std::size_t>(Measure::kOvrReleased)].value)) {
    page.plots.push_back(
        Histogram(result,
                  {"dnsmos",
                   "Quality (DNSMOS P.835, overall)",
                   "What listeners would say on a scale from 1 to 5, as a network estimates it.",
                   {"OVR", Scale::kLinear, 1.0, 5.0},
                   {"utterances", Scale::kLinear, 0.0}},
                  {{"original", Measure::kOvrOriginal}, {"protected", Measure::kOvrReleased}}));
  }
  page.tables = {GroupTable(result, "By gender", "gender", ByGender(result)),
                 GroupTable(result, "By speaker", "speaker", BySpeaker(result))};
  PageTable worst = WorstTable(result);
  if (!worst.rows.empty()) page.tables.push_back(std::move(worst));
  return page;
}

}  // namespace sotto

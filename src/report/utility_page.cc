#include <fmt/format.h>

#include <cmath>

#include "report/text_tables.h"
#include "report/utility_report.h"

namespace sotto {
namespace {

std::string Percent(double rate) {
  return std::isfinite(rate) ? fmt::format("{:.1f} %", 100.0 * rate) : "–";
}

std::string Plain(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

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
      row.push_back(fmt::format("{} → {}", Percent(errors.words_original.Rate()),
                                Percent(errors.words_released.Rate())));
    }
    row.push_back(Plain(Mean(summary, Measure::kPitchCorrelationLagged), 2));
    row.push_back(Percent(Mean(summary, Measure::kVoicingAgreement)));
    row.push_back(Plain(Mean(summary, Measure::kEnergyCorrelation), 2));
    const double level = Mean(summary, Measure::kLevel);
    row.push_back(std::isfinite(level) ? fmt::format("{:+.1f} dB", level) : "–");
    row.push_back(fmt::format("{} → {}", Plain(Mean(summary, Measure::kOvrOriginal), 2),
                              Plain(Mean(summary, Measure::kOvrReleased), 2)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Speakers as points, before against after: above the diagonal the protection cost words.
Plot SpeakerPlot(const UtilityResult& result) {
  Plot plot;
  plot.id = "speakers";
  plot.title = "Word errors of each speaker";
  plot.caption =
      "Each point is a speaker. On the dashed line the protection cost nothing; the higher above "
      "it, the more words were lost. Damage that falls on few is visible as points far from the "
      "others.";
  plot.x = {.label = "WER, original", .low = 0.0, .percent = true};
  plot.y = {.label = "WER, protected", .low = 0.0, .percent = true};
  double top = 0.05;
  for (std::size_t k = 0; k < result.recognisers.size(); ++k) {
    if (!result.recognisers[k].reason.empty()) continue;
    PlotSeries series;
    series.name = result.recognisers[k].name;
    series.mark = Mark::kPoints;
    for (const auto& [speaker, utterances] : BySpeaker(result)) {
      const UtilitySummary::Errors errors = Summarise(result, utterances).recognisers[k];
      if (errors.words_original.n == 0) continue;
      series.Add(errors.words_original.Rate(), errors.words_released.Rate());
      series.hints.push_back(speaker);
      top = std::max({top, series.x.back(), series.y.back()});
    }
    plot.series.push_back(std::move(series));
  }
  PlotSeries same;
  same.name = "no change";
  same.mark = Mark::kReference;
  same.x = same.y = {0.0, top};
  plot.series.push_back(std::move(same));
  return plot;
}

// A histogram of one measure over utterances.
Plot Histogram(const UtilityResult& result, const std::string& id, const std::string& title,
               const std::string& caption, const PlotAxis& axis,
               const std::vector<std::pair<std::string, Measure>>& sides) {
  constexpr std::size_t kBins = 25;
  Plot plot;
  plot.id = id;
  plot.title = title;
  plot.caption = caption;
  plot.x = axis;
  plot.y = {"utterances", Scale::kLinear, 0.0};
  const double low = axis.low.value_or(0.0), high = axis.high.value_or(1.0);
  for (const auto& [name, measure] : sides) {
    PlotSeries series;
    series.name = name;
    series.mark = Mark::kSteps;
    series.y.assign(kBins + 1, 0.0);
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
    const std::string of = fmt::format(" {}", one.name);
    figures.push_back(
        Rate("wer original" + of, one.original.words, "errors per word", one.wer_original, one));
    figures.push_back(
        Rate("wer protected" + of, one.released.words, "errors per word", one.wer_released, one));
    figures.push_back(Rate("cer original" + of, one.original.chars, "errors per character",
                           one.cer_original, one));
    figures.push_back(Rate("cer protected" + of, one.released.chars, "errors per character",
                           one.cer_released, one));
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

std::string UtilityText(const UtilityResult& result) {
  std::string text = FiguresText(UtilityFigures(result));
  for (const std::string& note : UtilityNotes(result)) text += note + "\n";
  return text;
}

AssessPage UtilityPage(const UtilityResult& result, const std::string& source) {
  AssessPage page;
  page.title = "What is left for the listener and the recogniser";
  page.subtitle = source;
  page.figures = UtilityFigures(result);
  page.notes = UtilityNotes(result);
  page.plots = {
      SpeakerPlot(result),
      Histogram(result, "pitch", "Melody kept",
                "Correlation of the pitch before and after, by utterance. 1: the melody is that of "
                "the original.",
                {"pitch correlation", Scale::kLinear, -1.0, 1.0},
                {{"as it is", Measure::kPitchCorrelation},
                 {"best within ± 50 ms", Measure::kPitchCorrelationLagged}})};
  if (std::isfinite(result.figures[static_cast<std::size_t>(Measure::kOvrReleased)].value)) {
    page.plots.push_back(
        Histogram(result, "dnsmos", "Quality (DNSMOS P.835, overall)",
                  "What listeners would say on a scale from 1 to 5, as a network estimates it.",
                  {"OVR", Scale::kLinear, 1.0, 5.0},
                  {{"original", Measure::kOvrOriginal}, {"protected", Measure::kOvrReleased}}));
  }
  page.tables = {GroupTable(result, "By gender", "gender", ByGender(result)),
                 GroupTable(result, "By speaker", "speaker", BySpeaker(result))};
  PageTable worst = WorstTable(result);
  if (!worst.rows.empty()) page.tables.push_back(std::move(worst));
  return page;
}

}  // namespace sotto

#include "report/verify_page.h"

#include <fmt/format.h>

#include "report/assess_plots.h"

namespace sotto {
namespace {

constexpr std::size_t kDetPoints = 600;
constexpr std::size_t kListedSpeakers = 20;

PageTable ExposedSpeakers(const std::vector<ZooSpeaker>& zoo) {
  PageTable table{
      "Most exposed speakers",
      {"speaker", "mean target LLR", "mean non-target LLR", "targets", "non-targets", "animal"},
      {}};
  for (std::size_t s = 0; s < std::min(zoo.size(), kListedSpeakers); ++s) {
    const ZooSpeaker& speaker = zoo[s];
    table.rows.push_back({speaker.name, fmt::format("{:.3f}", speaker.mean_tar_llr),
                          fmt::format("{:.3f}", speaker.mean_non_llr),
                          fmt::to_string(speaker.n_tar), fmt::to_string(speaker.n_non),
                          speaker.animal});
  }
  return table;
}

}  // namespace

AssessPage VerifyPage(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source) {
  AssessPage page;
  page.title = "Verification and disclosure";
  page.subtitle = source;
  page.figures = ShownFigures(result.figures);
  page.notes = {fmt::format("ZEBRA tag {}", result.scores.zebra.tag),
                "intervals: " + result.bootstrap};
  if (trials.n_without_score + trials.n_without_trial > 0) {
    page.notes.push_back(
        fmt::format("left out: {} trials without a score, {} scores without a trial",
                    trials.n_without_score, trials.n_without_trial));
  }
  const Pav pav = FitPav(data);
  page.plots = {
      EcePlot(MakeEceProfile(data, pav)),
      ScoreHistogram("scores", "Score histograms", "same speaker", "different speakers", data),
      DetPlot(RocPoints(data, kDetPoints)), CalibrationPlot(data)};
  const Linkability linkability = MeasureLinkability(data, options.linkability);
  if (linkability.d.empty()) {
    page.notes.emplace_back("linkability D(s): undefined, too few targets for the published bins");
  } else {
    page.plots.push_back(LinkabilityPlot(linkability));
  }
  if (trials.HasSpeakers()) {
    const std::vector<ZooSpeaker> zoo = MeasureZoo(trials, WithLaplace(pav));
    page.plots.push_back(ZooPlot(zoo));
    page.tables.push_back(ExposedSpeakers(zoo));
  }
  return page;
}

}  // namespace sotto

#include "report/assess_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/testing.h"
#include "report/assess_forms.h"
#include "report/assess_plots.h"

namespace sotto {
namespace {

// A speaker whose name tries to leave every context it is put into.
const std::string kHostile = "</script><img src=x onerror=alert(1)>\"'&";

AssessPage HostilePage() {
  AssessPage page;
  page.title = kHostile;
  page.subtitle = kHostile;
  page.figures = {{kHostile,
                   0.25,
                   kHostile,
                   Direction::kHigherIsMorePrivate,
                   "",
                   {{kHostile, 3}},
                   Interval{0.1, 0.4, 0.9},
                   kHostile}};
  page.notes = {kHostile};
  page.plots = {{"p1",
                 kHostile,
                 kHostile,
                 {kHostile, Scale::kLog, {}, {}, {}, false},
                 {kHostile, Scale::kLinear, 0.0, {}, {}, false},
                 {{kHostile,
                   Mark::kPoints,
                   {1, 2},
                   {0, std::numeric_limits<double>::infinity()},
                   {kHostile, ""},
                   {kHostile, kHostile}}},
                 {}}};
  page.tables = {{kHostile, {kHostile}, {{kHostile}}}};
  return page;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

nlohmann::json DataOf(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"sotto-data\">";
  const std::size_t begin = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(AssessPage, NamesFromFilesCannotBecomeMarkup) {
  const std::string html = RenderAssessPage(HostilePage());
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(Count(html, "</script>"), 3U);  // data, d3 and our script, no more
  EXPECT_EQ(DataOf(html)["plots"][0]["series"][0]["name"], kHostile);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"),
            std::string::npos);
}

TEST(AssessPage, AsksTheNetworkForNothing) {
  const std::string html = RenderAssessPage(HostilePage());
  EXPECT_NE(html.find("Content-Security-Policy\" content=\"default-src 'none'"), std::string::npos);
  for (const char* way : {"src=\"http", "href=\"http", "url(http", "@import", "<link", "<iframe"}) {
    EXPECT_EQ(html.find(way), std::string::npos) << way;
  }
  EXPECT_NE(html.find("d3js.org v5"), std::string::npos);  // d3 itself, with its copyright line
}

TEST(AssessPage, ShowsFiguresFirstWithIntervalAndDirection) {
  const std::string html = RenderAssessPage(HostilePage());
  EXPECT_LT(html.find("<h2>Figures</h2>"), html.find("<h2>Plots</h2>"));
  EXPECT_NE(html.find("0.1 – 0.4"), std::string::npos);
  EXPECT_NE(html.find("90 % interval"), std::string::npos);
  EXPECT_NE(html.find("higher is more private"), std::string::npos);
}

TEST(AssessPage, EveryPlotHasItsElementAndBothDownloads) {
  const std::string html = RenderAssessPage(HostilePage());
  EXPECT_EQ(Count(html, "<figure id=\"p1\""), 1U);
  EXPECT_EQ(Count(html, "class=\"save-svg\""), 1U);
  EXPECT_EQ(Count(html, "class=\"save-csv\""), 1U);
  const auto data = DataOf(html);
  EXPECT_TRUE(data["plots"][0]["series"][0]["y"][1].is_null());  // infinity is no JSON
  EXPECT_EQ(data["plots"][0]["x"]["scale"], "log");
}

// The page's own function, run by Node where that is installed.
TEST(AssessPage, DownloadedCellsAreNoFormulas) {
  if (std::system("node --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no node";
  const std::string script(kEmbeddedReportJs);
  const std::size_t begin = script.find("function csvField("), end = script.find("function toCsv(");
  ASSERT_LT(begin, end);
  const testing::TemporaryFolder folder;
  WriteFileAtomically(
      folder / "cells.js",
      script.substr(begin, end - begin) +
          R"(console.log([-1.5, -Infinity, 0, null, undefined, "a", "-1.5e-3", "+.5", "-",
                              "=1+1", "+44 20", "-2+3", "@x", "\t=1", '=A("b")', "a=b"]
                              .map(csvField).join("|"));)");
  std::string shown;
  std::FILE* pipe = ::popen(("node " + (folder / "cells.js").string()).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) shown += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_EQ(shown,
            "-1.5|-Infinity|0|||a|-1.5e-3|+.5|-|'=1+1|'+44 20|'-2+3|'@x|'\t=1|"
            "\"'=A(\"\"b\"\")\"|a=b\n");
}

TEST(AssessPage, BytesThatAreNoUtf8DoNotBreakTheData) {
  AssessPage page = HostilePage();
  page.plots[0].series[0].name = "\xFF\xFE";
  EXPECT_NO_THROW(DataOf(RenderAssessPage(page)));
}

std::vector<std::string> Ids(const std::vector<Plot>& plots) {
  std::vector<std::string> ids;
  ids.reserve(plots.size());
  for (const Plot& plot : plots) ids.push_back(plot.id);
  return ids;
}

// `copies` of two speakers' trials.
AssessPage SmallVerifyPage(int copies) {
  std::string table = "label\tscore\tenrol\ttest\tenrol_spk\ttest_spk\n";
  for (int i = 0; i < copies; ++i) {
    table += fmt::format(
        "target\t3\ta\ta{0}\ta\ta\nnontarget\t-1\ta\tb{0}\ta\tb\n"
        "target\t2\tb\tb{0}\tb\tb\nnontarget\t2.5\tb\ta{0}\tb\ta\n",
        i);
  }
  const Trials trials = ParseTrialTsv(table, "t");
  const ScoreLevels data = MakeLevels(trials);
  VerifyOptions options;
  options.resamples = 0;
  const VerifyResult result = Verify(trials, data, options);
  return VerifyForm(trials, data, result, options, "t").page();
}

TEST(VerifyPage, HasAllPicturesOfTheField) {
  const AssessPage page = SmallVerifyPage(10);
  EXPECT_EQ(Ids(page.plots), (std::vector<std::string>{"ece", "scores", "det", "calibration",
                                                       "linkability", "zoo"}));
  EXPECT_EQ(page.plots[0].series[0].name, "perfect privacy");
  EXPECT_EQ(page.tables[0].rows.size(), 2U);
}

// The published bins of D(s) do not exist there, and an empty picture would say "nothing".
TEST(VerifyPage, SaysThatLinkabilityIsUndefinedBelowTwentyTargets) {
  const AssessPage page = SmallVerifyPage(1);
  EXPECT_EQ(Ids(page.plots),
            (std::vector<std::string>{"ece", "scores", "det", "calibration", "zoo"}));
  EXPECT_NE(page.notes.back().find("undefined"), std::string::npos) << page.notes.back();
}

TEST(ScoreHistogram, DensitiesAddUpToOneForEachClass) {
  const double inf = std::numeric_limits<double>::infinity();
  const ScoreLevels data =
      MakeLevels(std::vector<double>{1, 2, 2, 5, inf}, std::vector<double>{-inf, -3, 0, 0.5});
  const Plot plot = ScoreHistogram("s", "s", "a", "b", data);
  for (const PlotSeries& series : plot.series) {
    double area = 0.0;
    for (std::size_t b = 0; b + 1 < series.x.size(); ++b) {
      area += series.y[b] * (series.x[b + 1] - series.x[b]);
    }
    EXPECT_NEAR(area, 1.0, 1e-12);
    EXPECT_EQ(series.y.back(), 0.0);
  }
}

TEST(CalibrationPlot, CalibratedScoresLieOnTheDiagonal) {
  // Posterior 3/4 at equal priors: LLR ln 3 for three targets in four, and the mirror image.
  const double llr = std::log(3.0);
  const ScoreLevels data = MakeLevels(std::vector<double>{llr, llr, llr, -llr},
                                      std::vector<double>{-llr, -llr, -llr, llr});
  const PlotSeries found = CalibrationPlot(data).series[1];
  ASSERT_EQ(found.x.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found.x[i], found.y[i], 1e-12);
}

TEST(LegalPlots, CarryTheChanceLine) {
  LegalResult result;
  for (const std::size_t l : {1U, 3U}) {
    for (const std::size_t n : {2U, 20U}) {
      LegalPoint point;
      point.n = n;
      point.l = l;
      point.value = 0.5;
      point.chance = SinglingOutChance(n);
      result.singling_out.push_back(point);
    }
  }
  const auto plots = LegalPlots(result);
  EXPECT_EQ(Ids(plots), (std::vector<std::string>{"single-n", "single-l"}));
  EXPECT_EQ(plots[0].series[0].name, "chance");
  EXPECT_NEAR(plots[0].series[0].y[1], 0.3774, 1e-4);
  EXPECT_EQ(plots[0].series.size(), 3U);  // chance and one line for each L
}

}  // namespace
}  // namespace sotto

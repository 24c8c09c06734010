// sotto assess similarity: voice similarity matrices of original and protected speech.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "assess/panels.h"
#include "assess/similarity.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_plots.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct SimilarityFlags {
  std::string oo, op, pp;
  OutputFlags output;
};

ordered_json JsonMatrix(const SimilarityMatrix& matrix) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < matrix.n; ++i) {
    ordered_json row = ordered_json::array();
    for (std::size_t j = 0; j < matrix.n; ++j) row.push_back(matrix.At(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json JsonView(const SimilarityView& view) {
  return {{"d_ece_bits", view.d_ece_bits},
          {"cllr_min", view.cllr_min},
          {"n_tar", view.n_tar},
          {"n_non", view.n_non},
          {"n_identical_removed", view.data.n_identical_removed},
          {"matrix", JsonMatrix(view.sigmoid_of_mean)},
          {"matrix_geo", JsonMatrix(view.geometric)}};
}

ordered_json JsonDominance(const SimilarityFigures& figures) {
  return {{"oo", JsonNumber(figures.d_diag_oo)},
          {"op", JsonNumber(figures.d_diag_op)},
          {"pp", JsonNumber(figures.d_diag_pp)}};
}

ordered_json ToJson(const SimilarityResult& result) {
  return {{"deid", JsonNumber(result.sigmoid_of_mean.deid)},
          {"g_vd_db", JsonNumber(result.sigmoid_of_mean.g_vd_db)},
          {"deid_geo", JsonNumber(result.geometric.deid)},
          {"g_vd_geo_db", JsonNumber(result.geometric.g_vd_db)},
          {"d_diag", JsonDominance(result.sigmoid_of_mean)},
          {"d_diag_geo", JsonDominance(result.geometric)},
          {"d_ece_op_oo", JsonNumber(result.d_ece_op_oo)},
          {"cllr_min_op_oo", JsonNumber(result.cllr_min_op_oo)},
          {"g_d_ece_db", JsonNumber(result.g_d_ece_db)},
          {"g_cllr_min_db", JsonNumber(result.g_cllr_min_db)},
          {"speakers", result.speakers},
          {"oo", JsonView(result.oo)},
          {"op", JsonView(result.op)},
          {"pp", JsonView(result.pp)}};
}

void Run(const SimilarityFlags& flags) {
  CheckFlags(flags.output, [] {});
  const auto read = [](const std::string& path) {
    return ParseSegmentComparisons(ReadTextFile(path), path);
  };
  const SimilarityResult result = MeasureSimilarity(read(flags.oo), read(flags.op), read(flags.pp));
  const Panel panel = SimilarityPanel(result, flags.output.intervals);
  std::vector<std::string> notes;
  for (const auto& [name, view] :
       {std::pair("OO", &result.oo), std::pair("OP", &result.op), std::pair("PP", &result.pp)}) {
    notes.push_back(
        fmt::format("{}: D_diag {:.4g}, D_ECE {:.4g} bit, Cllr_min {:.4g}, {} removed "
                    "as comparisons of a segment with itself",
                    name, view->sigmoid_of_mean.DiagonalDominance(), view->d_ece_bits,
                    view->cllr_min, view->data.n_identical_removed));
  }
  if (!flags.output.report.empty()) {
    AssessPage page{"Voice similarity of original and protected speech",
                    fmt::format("{}, {}, {}", flags.oo, flags.op, flags.pp),
                    panel.figures,
                    notes,
                    {SimilarityPlot(result), SimilarityZooPlot(result)},
                    {}};
    page.notes.push_back("intervals: " + panel.bootstrap);
    WriteReport(flags.output.report, page);
  }
  PrintPanel(flags.output, panel, ToJson(result), notes);
}

}  // namespace

void AddAssessSimilarity(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "similarity", "Similarity matrices: de-identification, voice distinctiveness",
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv\n"
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv --report page.html");
  auto flags = std::make_shared<SimilarityFlags>();
  const std::string columns = " (columns seg_a seg_b score spk_a spk_b)";
  verb->add_option("--oo", flags->oo, "original with original" + columns)->required();
  verb->add_option("--op", flags->op, "original with protected")->required();
  verb->add_option("--pp", flags->pp, "protected with protected")->required();
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

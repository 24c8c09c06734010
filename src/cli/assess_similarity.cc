// sotto assess similarity: voice similarity matrices of original and protected speech.
#include <fmt/format.h>

#include <memory>

#include "assess/panels.h"
#include "assess/similarity.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

struct SimilarityFlags {
  std::string oo, op, pp;
  OutputFlags output;
};

void Run(const SimilarityFlags& flags) {
  CheckFlags(flags.output, [] {});
  const auto read = [](const std::string& path) {
    return ParseSegmentComparisons(ReadTextFile(path), path);
  };
  const SimilarityResult result = MeasureSimilarity(read(flags.oo), read(flags.op), read(flags.pp));
  const Panel panel = SimilarityPanel(result, flags.output.intervals);
  if (!flags.output.report.empty()) {
    WriteReport(
        flags.output.report,
        SimilarityPage(result, panel, fmt::format("{}, {}, {}", flags.oo, flags.op, flags.pp)));
  }
  fmt::print("{}", PrintedSimilarity(result, panel, flags.output.json));
}

}  // namespace

void AddAssessSimilarity(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "similarity",
              "Measures de-identification and voice distinctiveness from similarity matrices.",
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv\n"
              "  sotto assess similarity --oo oo.tsv --op op.tsv --pp pp.tsv --report page.html");
  auto flags = std::make_shared<SimilarityFlags>();
  const std::string columns = ", a TSV with columns seg_a, seg_b, score, spk_a and spk_b";
  verb->heading("Trials");
  verb->add_option("--oo", flags->oo, "Originals with originals" + columns)->required();
  verb->add_option("--op", flags->op, "Originals with protected copies" + columns)->required();
  verb->add_option("--pp", flags->pp, "Protected copies with protected copies" + columns)
      ->required();
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

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

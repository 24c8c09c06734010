// sotto utility --original O --protected P
#include "utility/utility.h"

#include <fmt/format.h>

#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "release/release_record.h"
#include "report/utility_report.h"

namespace sotto::cli {
namespace {

struct Flags {
  UtilityOptions options;
  std::vector<std::string> recognisers;
  OutputFlags output;
};

void Run(Flags& flags) {
  UtilityOptions& options = flags.options;
  CheckFlags(flags.output, [&] {
    for (const std::string& text : flags.recognisers) {
      options.recognisers.push_back(RecogniserChoice::Parse(text));
    }
  });
  options.intervals = flags.output.intervals;
  options.jobs = flags.output.intervals.jobs;
  options.content = RecordedContent(options.released);
  const UtilityResult result = MeasureUtility(options);
  if (!flags.output.report.empty()) {
    WriteReport(flags.output.report,
                UtilityPage(result, fmt::format("{}, protected: {}", options.original.string(),
                                                options.released.string())));
  }
  fmt::print("{}", flags.output.json ? UtilityJson(result) : UtilityText(result));
}

}  // namespace

void AddUtility(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "utility",
      "Measures what a protection leaves: words (by recognisers), melody, voicing, loudness, tempo "
      "and quality, by speaker and by gender. It runs no attacker and says nothing about privacy. "
      "Recognisers and models come from ./do deps --onnx; what is not installed is not measured, "
      "and the figure says so.",
      "  sotto utility --original recordings/ --protected protected/\n"
      "  sotto utility --original recordings/ --protected protected/ --recogniser moonshine "
      "--recogniser pocketsphinx:60 --report utility.html --json");
  auto flags = verb->runs(Run);
  UtilityOptions& o = flags->options;
  verb->heading("Corpora");
  verb->add_option("--original", o.original, "Sound file or corpus, with transcripts for WER")
      ->required();
  verb->add_option("--protected", o.released, "Its protected copy, with the same ids")->required();
  verb->heading("Models");
  verb->add_option("--recogniser,--recognizer", flags->recognisers,
                   "Recogniser, moonshine or pocketsphinx, with :N to let it hear N utterances "
                   "only; may be repeated; default: both",
                   "NAME[:N]");
  verb->add_option("--encoder", o.encoder,
                   "Speaker encoder for g_vd_db: a file of sotto train, or *.onnx with its *.json",
                   "FILE")
      ->default_str("the program's own");
  verb->add_option("--models", o.models,
                   "Look for models here before $SOTTO_MODELS, ~/.local/share/sotto/models and "
                   "$SOTTO_SHARED/data/weights",
                   "DIR");
  AddTrustFlag(*verb, o.trust_models);
  verb->heading("Figures");
  verb->add_option("--limit", o.limit,
                   "Measure this many utterances, spread over the speakers; 0 means all");
  verb->add_option("--dnsmos", o.rated,
                   "Utterances that DNSMOS rates (about a second each), spread over the speakers; "
                   "0 means all",
                   "N");
  AddOutputFlags(*verb, flags->output);
  verb->add_option("--cache", o.cache,
                   "Keep what was measured on the originals in this folder for further copies, "
                   "mode 0700: it holds transcripts and voiceprints, delete it when done",
                   "DIR");
}

}  // namespace sotto::cli

// sotto assess wer: word and character error rates of a recogniser.
#include <fmt/format.h>

#include <memory>

#include "assess/panels.h"
#include "assess/wer.h"
#include "base/files.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_forms.h"

namespace sotto::cli {
namespace {

struct WerFlags {
  std::string ref, hyp, utt2spk;
  std::string normaliser = "none";
  bool allow_missing = false;
  OutputFlags output;
};

void Run(const WerFlags& flags) {
  TextNormaliser normaliser = TextNormaliser::kNone;
  CheckFlags(flags.output, [&] { normaliser = ParseTextNormaliser(flags.normaliser); });
  const WerResult result = ComputeWer(ParseTranscripts(ReadTextFile(flags.ref), flags.ref),
                                      ParseTranscripts(ReadTextFile(flags.hyp), flags.hyp),
                                      {normaliser, flags.allow_missing});
  std::vector<std::size_t> speakers;
  if (!flags.utt2spk.empty()) {
    speakers = UtteranceSpeakers(result, ReadTextFile(flags.utt2spk), flags.utt2spk);
  }
  const Panel panel = WerPanel(result, speakers, flags.output.intervals);
  if (!flags.output.report.empty()) {
    WriteReport(flags.output.report,
                WerPage(result, panel, normaliser, flags.ref + ", " + flags.hyp));
  }
  fmt::print("{}", PrintedWer(result, panel, normaliser, flags.output.json));
}

}  // namespace

void AddAssessWer(CLI::App& assess) {
  CLI::App* verb =
      AddVerb(assess, "wer", "Computes word and character error rates with alignment counts.",
              "  sotto assess wer ref.txt hyp.txt\n"
              "  sotto assess wer ref.txt hyp.txt --normalise lower-nopunct --json");
  auto flags = std::make_shared<WerFlags>();
  verb->add_option("REF", flags->ref, "The reference: one utterance per line, id and words")
      ->required();
  verb->add_option("HYP", flags->hyp, "What was recognised, in the same form")->required();
  verb->heading("Texts");
  verb->add_option("--normalise,--normalize", flags->normaliser,
                   "Compare texts as they are (none), in lower case (lower), or in lower case "
                   "without punctuation (lower-nopunct)");
  verb->add_option("--utt2spk", flags->utt2spk,
                   "Speakers of the utterances, so that the bootstrap draws speakers");
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "Count a missing hypothesis as empty and leave out one without a reference");
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

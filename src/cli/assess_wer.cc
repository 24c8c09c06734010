// sotto assess wer: word and character error rates of a recogniser.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "assess/panels.h"
#include "assess/wer.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"
#include "cli/assess.h"
#include "cli/assess_output.h"
#include "cli/verbs.h"
#include "report/assess_plots.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct WerFlags {
  std::string ref, hyp, utt2spk;
  std::string normaliser = "none";
  bool allow_missing = false;
  OutputFlags output;
};

// Speaker number of each utterance.
std::vector<std::size_t> ReadSpeakers(const std::string& path, const WerResult& result) {
  const std::string text = ReadTextFile(path);
  RequireClean(text, path);
  std::unordered_map<std::string_view, std::string_view> speaker_of;
  for (const std::string_view line : SplitLines(text)) {
    const auto fields = SplitBlanks(line);
    if (fields.size() == 2) speaker_of.emplace(fields[0], fields[1]);
  }
  std::unordered_map<std::string_view, std::size_t> number;
  std::vector<std::size_t> out;
  for (const UtteranceErrors& one : result.per_utterance) {
    const auto found = speaker_of.find(one.id);
    if (found == speaker_of.end()) {
      throw Error(fmt::format("{}: no speaker for utterance '{}'", path, one.id));
    }
    out.push_back(number.emplace(found->second, number.size()).first->second);
  }
  return out;
}

ordered_json ToJson(const WerResult& result, const WerFlags& flags) {
  ordered_json json = {{"wer", JsonNumber(result.words.Rate())},
                       {"cer", JsonNumber(result.chars.Rate())},
                       {"cer_no_spaces", JsonNumber(result.chars_no_spaces.Rate())},
                       {"sub", result.words.sub},
                       {"del", result.words.del},
                       {"ins", result.words.ins},
                       {"n", result.words.n},
                       {"errors", result.words.Errors()},
                       {"hits", result.words.hits},
                       {"chars",
                        {{"errors", result.chars.Errors()},
                         {"n", result.chars.n},
                         {"errors_no_spaces", result.chars_no_spaces.Errors()},
                         {"n_no_spaces", result.chars_no_spaces.n}}},
                       {"utterances", result.utterances},
                       {"utterances_with_errors", result.utterances_with_errors},
                       {"without_hypothesis", result.without_hypothesis},
                       {"without_reference", result.without_reference},
                       {"normaliser", flags.normaliser}};
  json["per_utterance"] = ordered_json::array();
  for (const UtteranceErrors& one : result.per_utterance) {
    json["per_utterance"].push_back({{"utt", one.id},
                                     {"n", one.words.n},
                                     {"sub", one.words.sub},
                                     {"del", one.words.del},
                                     {"ins", one.words.ins}});
  }
  return json;
}

void Run(const WerFlags& flags) {
  TextNormaliser normaliser = TextNormaliser::kNone;
  CheckFlags(flags.output, [&] { normaliser = ParseTextNormaliser(flags.normaliser); });
  const WerResult result = ComputeWer(ParseTranscripts(ReadTextFile(flags.ref), flags.ref),
                                      ParseTranscripts(ReadTextFile(flags.hyp), flags.hyp),
                                      {normaliser, flags.allow_missing});
  const std::vector<std::size_t> speakers =
      flags.utt2spk.empty() ? std::vector<std::size_t>() : ReadSpeakers(flags.utt2spk, result);
  const Panel panel = WerPanel(result, speakers, flags.output.intervals);
  std::vector<std::string> notes = {
      fmt::format("normaliser: {} (code points compared, no Unicode composition)",
                  flags.normaliser),
      fmt::format("{} of {} utterances have errors", result.utterances_with_errors,
                  result.utterances)};
  if (result.without_hypothesis + result.without_reference > 0) {
    notes.push_back(
        fmt::format("{} references without hypothesis count as empty, {} hypotheses "
                    "without reference are left out",
                    result.without_hypothesis, result.without_reference));
  }
  if (!flags.output.report.empty()) {
    AssessPage page{"Word error rate", flags.ref + ", " + flags.hyp, panel.figures, notes,
                    {WerPlot(result)}, {WorstUtterances(result)}};
    page.notes.push_back("intervals: " + panel.bootstrap);
    WriteReport(flags.output.report, page);
  }
  PrintPanel(flags.output, panel, ToJson(result, flags), notes);
}

}  // namespace

void AddAssessWer(CLI::App& assess) {
  CLI::App* verb = AddVerb(assess, "wer", "Word and character error rate with alignment counts",
                           "  sotto assess wer ref.txt hyp.txt\n"
                           "  sotto assess wer ref.txt hyp.txt --normalise lower-nopunct --json");
  auto flags = std::make_shared<WerFlags>();
  verb->add_option("REF", flags->ref, "reference: one utterance per line, id and words")
      ->required();
  verb->add_option("HYP", flags->hyp, "what was recognised, in the same form")->required();
  verb->add_option("--normalise,--normalize", flags->normaliser,
                   "none; lower: lower case; lower-nopunct: and no punctuation")
      ->capture_default_str();
  verb->add_option("--utt2spk", flags->utt2spk, "speakers of the utterances, to draw speakers");
  verb->add_flag("--allow-missing", flags->allow_missing,
                 "a missing hypothesis counts as empty, one without a reference is left out");
  AddOutputFlags(*verb, flags->output);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

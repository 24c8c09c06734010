// sotto build text CORPUS... -o PACK
#include "cli/build_text.h"

#include <fmt/format.h>

#include "base/files.h"
#include "cli/verbs.h"
#include "report/surrogate_figures.h"
#include "text/entity_finder.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::vector<std::string> corpora;
  std::string out, source;
  std::uint64_t min_count = kDefaultMinPeople;
  bool fill = false, json = false;
  FinderOptions finder;
  ForceFlag force;
};

void Build(Flags& flags) {
  flags.force.Check(flags.out);
  const auto finder = MakeEntityFinder(flags.finder);
  SurrogateCounts counts;
  BuiltSurrogates built;
  built.corpora = flags.corpora.size();
  built.size.labelled = built.size.speakers = true;
  for (const std::string& corpus : flags.corpora) {
    const SurrogateCorpusSize size = CountSurrogates(corpus, *finder, counts);
    built.size.texts += size.texts;
    built.size.labelled = built.size.labelled && size.labelled;
    built.size.speakers = built.size.speakers && size.speakers;
  }
  const Surrogates& program = ProgramSurrogates();
  const Surrogates surrogates =
      counts.Build(flags.min_count, flags.source, &program, flags.fill ? &program : nullptr);
  built.min_people = flags.min_count;
  built.types = counts.Summary(flags.min_count);
  const std::string bytes = SurrogatesText(surrogates);
  WriteFileAtomically(flags.out, bytes, {.if_exists = flags.force.OnExisting()});
  fmt::print("{}", PrintedSurrogates(built, surrogates, bytes.size(), flags.out, flags.json));
  if (flags.min_count < kDefaultMinPeople) {
    fmt::print(stderr,
               "note: below {} people a surrogate may be one person's name; keep the file with the "
               "corpus\n",
               kDefaultMinPeople);
  }
}

}  // namespace

void AddBuildText(CLI::App& build) {
  CLI::App* text = AddVerb(
      build, "text",
      "Builds surrogates for sotto redact: names, places, dates of a corpus with their counts, by "
      "which they are drawn. Only what several people said is kept, since a rare name is a "
      "person's; that is a threshold and no differential privacy. A folder holds marked corpora "
      "(NLU-eval, SLURP, SNIPS …); in a table with the columns text and speaker, and in plain "
      "text, entities are found.",
      "  sotto build text corpora/ -o surrogates.tsv\n"
      "  sotto build text transcripts.tsv more.txt -o surrogates.tsv --min-count 20 --fill");
  auto flags = text->runs(Build);
  flags->source = "a corpus";
  text->add_option("CORPUS", flags->corpora, "Folders of marked corpora, tables or plain text")
      ->required();
  text->add_option("-o,--out", flags->out, "The surrogates to write (TSV)", "FILE")->required();
  flags->force.Add(*text);
  text->add_option("--min-count", flags->min_count,
                   "People who said it, at least: speakers where the corpora name them, else texts "
                   "that differ",
                   "K")
      ->check(CLI::PositiveNumber);
  text->add_option("--source", flags->source, "What the file says of where it is from", "TEXT");
  text->add_option("--model", flags->finder.model,
                   "The tagger that finds entities where they are not marked (sotto train "
                   "entities); default: the program's own",
                   "FILE");
  AddTrustFlag(*text, flags->finder.trust_models);
  text->add_flag("--fill", flags->fill,
                 "Take the classes that the corpora leave empty from the program's own surrogates");
  text->add_flag("--json", flags->json, "Print the counts as JSON");
}

}  // namespace sotto::cli

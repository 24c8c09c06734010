// sotto train hide --method NAME, sotto train gender-aae: fits a defence that hides attributes in
// voiceprints. It runs here: no libtorch.
#include "cli/train_hide.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "base/entry_values.h"
#include "cli/verbs.h"
#include "report/hide_figures.h"
#include "speaker/hiders.h"

namespace sotto::cli {
namespace {

struct Flags {
  explicit Flags(const HiderMethods& methods) : own(methods) {}
  explicit Flags(const TableEntry& only) : method(only.Name()), own(only) {}

  HiderSources sources;
  std::string method, out;
  TableFlags own;
  ForceFlag force;
  bool json = false;
};

void Run(const Flags& flags) {
  const auto method = ProgramHiders().Find(flags.method);
  EntryValues values(*method);
  CheckUsage([&] {
    flags.own.Read(*method, "", [&values](const std::string& name, const std::string& value) {
      values.Set(name, value);
    });
    RequireDistinct({flags.out, values.File("checkpoint")});
  });
  flags.force.Check(flags.out);
  const auto start = std::chrono::steady_clock::now();
  const HiderInput input = ReadHiderInput(flags.sources);
  const auto hider = method->Fit(input.data, values);
  WriteHider(*hider, flags.out, flags.force.OnExisting());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{}", PrintedHider(*hider, input, elapsed.count(), flags.out, flags.json));
}

void AddSources(CLI::App& verb, HiderSources& sources) {
  verb.add_option("--embeddings", sources.embeddings,
                  "Voiceprints of other people than those to be protected (sotto embed); each "
                  "folder is a domain of its own",
                  "DIR")
      ->required();
  verb.add_option("--labels", sources.labels,
                  "A table with the columns speaker and those of --attribute, or one for each "
                  "folder; default: the genders of the embeddings",
                  "TSV");
  verb.add_option("--attribute", sources.attributes, "What to hide: one or several", "NAME");
  verb.add_option("--unknown", sources.unknown,
                  "Leave out speakers with these labels (U, O), and those without any", "LABEL");
  verb.add_flag("--merge-speakers", sources.merge_speakers,
                "Take speakers of the same name in several folders for one person");
}

void AddOutput(CLI::App& verb, Flags& flags) {
  verb.heading("Output");
  verb.add_option("-o,--out", flags.out, "The model to write (safetensors)", "FILE")->required();
  flags.force.Add(verb);
  verb.add_flag("--json", flags.json, "Print what was fitted as JSON");
}

std::string Ways(const HiderMethods& methods) {
  std::vector<std::string> ways;
  for (const auto& method : methods.All()) {
    ways.push_back(fmt::format("{} ({})", method->Help(), method->Name()));
  }
  return "How attributes are hidden: " + ListOf(ways);
}

}  // namespace

void AddTrainHide(CLI::App& train) {
  const HiderMethods& methods = ProgramHiders();
  CLI::App* hide = AddVerb(
      train, "hide",
      "Fits a defence that hides attributes of speakers (gender, age group, accent) in voiceprints "
      "and keeps who they are, for sotto protect-embedding.",
      "  sotto train hide --method leace --embeddings e/ -o leace.safetensors\n"
      "  sotto train hide --method gender-aae --eps-train 20 --embeddings e/ more/ --labels "
      "speakers.tsv --attribute gender age --unknown U O -o hide.safetensors");
  auto flags = std::make_shared<Flags>(methods);
  hide->heading("Voiceprints and labels");
  AddSources(*hide, flags->sources);
  hide->heading("Method");
  hide->add_option("--method", flags->method, Ways(methods))
      ->required()
      ->check(CLI::IsMember(methods.Names()));
  flags->own.Add(*hide, "Method");
  AddOutput(*hide, *flags);
  hide->callback([flags] { Run(*flags); });

  const auto aae = methods.Find("gender-aae");
  CLI::App* verb = AddVerb(
      train, "gender-aae",
      "Fits the differentially private adversarial auto-encoder that hides gender, or other "
      "attributes, in voiceprints (Chouchane et al. 2023); the same as sotto train hide --method "
      "gender-aae.",
      "  sotto train gender-aae --embeddings e/ --eps-train 20 -o aae.safetensors\n"
      "  sotto train gender-aae --embeddings e/ --labels speakers.tsv --attribute age --eps-train "
      "15 -o aae.safetensors --checkpoint aae.state");
  auto own = std::make_shared<Flags>(*aae);
  verb->heading("Voiceprints and labels");
  AddSources(*verb, own->sources);
  own->own.Add(*verb, "Training");
  AddOutput(*verb, *own);
  verb->callback([own] { Run(*own); });
}

}  // namespace sotto::cli

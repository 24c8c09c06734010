// sotto verify A B
#include <fmt/format.h>

#include <memory>

#include "cli/verbs.h"
#include "report/verb_figures.h"
#include "speaker/embed_corpus.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string a, b;
  std::string encoder = kDefaultEncoder;
  bool json = false, trust_models = false;
};

void Run(const Flags& flags) {
  const auto encoder = OpenEncoder(flags.encoder, flags.trust_models);
  const Verification verification = VerifyFiles(*encoder, flags.a, flags.b);
  fmt::print("{}", PrintedVerification(verification, *encoder, flags.json));
}

}  // namespace

void AddVerify(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "verify",
                           "Says how likely two recordings come from one speaker: a calibrated "
                           "likelihood ratio, and what it means in words.",
                           "  sotto verify a.wav b.wav\n"
                           "  sotto verify original.flac protected.flac --encoder my.safetensors "
                           "--json");
  auto flags = std::make_shared<Flags>();
  verb->add_option("A", flags->a, "A recording (its first channel)")->required();
  verb->add_option("B", flags->b, "Another recording (its first channel)")->required();
  verb->add_option("--encoder", flags->encoder,
                   "Speaker encoder from sotto train, or foreign safetensors", "FILE")
      ->default_str("the program's own");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_flag("--json", flags->json, "Print cosine and LLR as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

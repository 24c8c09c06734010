#include "cli/verbs.h"

#include "base/error.h"
#include "voice/mcadams.h"

namespace sotto::cli {
namespace {

// For CLI11: the empty string when `text` is a usable alpha or range, else what is wrong.
std::string CheckAlpha(const std::string& text) {
  try {
    const Range range = Range::Parse(text, "alpha");
    for (const double alpha : {range.lo, range.hi}) {
      McAdamsOptions options;
      options.alpha = alpha;
      options.Validate();
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->footer("e.g.:\n" + examples);
  return verb;
}

void TargetFlags::Add(CLI::App& verb) {
  verb.add_option(
          "--alpha", alpha,
          "McAdams coefficient: fixed (0.8 is B2), or a range drawn in secret (0.7:0.9 is B2r)")
      ->type_name("A|LO:HI")
      ->check(CheckAlpha);
  CLI::Option* key_option =
      verb.add_option("--key", key_file, "Draw targets with the key in this file")
          ->type_name("FILE");
  verb.add_option("--seed", seed,
                  "Draw targets from a public number: experiments only, protects nobody")
      ->type_name("N")
      ->excludes(key_option);
  verb.add_option("--context", context, "Separates releases that share a key")->type_name("TEXT");
}

}  // namespace sotto::cli

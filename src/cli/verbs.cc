#include "cli/verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "base/error.h"
#include "voice/method_table.h"

namespace sotto::cli {
namespace {

std::string MethodHelp(const MethodTable& methods) {
  std::vector<std::string> ways;
  for (const auto& method : methods.All()) {
    ways.push_back(fmt::format("{} ({})", method->Help(), method->Name()));
  }
  return "How the voice is changed: " + ListOf(ways);
}

// "random with neural and adain, perm with the others".
std::string DefaultStrategies(const MethodTable& methods) {
  std::map<Strategy, std::vector<std::string>> names;
  for (const auto& method : methods.All()) {
    names[method->DefaultStrategy()].push_back(method->Name());
  }
  std::vector<std::string> parts;
  parts.reserve(names.size());
  for (const auto& [strategy, owners] : names) {
    parts.push_back(fmt::format("{} with {}", Name(strategy), ListOf(owners, "and")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->footer("e.g.:\n" + examples);
  return verb;
}

void ForceFlag::Add(CLI::App& verb) {
  verb.add_flag("--force", force, "Replace output files that exist");
}

void ForceFlag::Check(const std::filesystem::path& path) const {
  if (!path.empty()) RefuseExisting(path, OnExisting());
}

void AddTrustFlag(CLI::App& verb, bool& trust_models) {
  verb.add_flag("--trust-models", trust_models,
                "Accept ONNX Runtime and foreign models that are not the files this program knows "
                "by their SHA-256 (docs/models.md)");
}

void TargetFlags::Add(CLI::App& verb) {
  CLI::Option* key_option =
      verb.add_option("--key", key_file, "Draw targets with the key in this file", "FILE");
  verb.add_option("--seed", seed,
                  "Draw targets from a public number: for experiments only, it protects nobody",
                  "N")
      ->excludes(key_option);
  verb.add_option("--context", context, "A text that separates releases that share a key", "TEXT");
}

MethodFlags::MethodFlags() : flags_(ProgramMethods()) {}

void MethodFlags::Add(CLI::App& verb, bool streams) {
  const MethodTable& methods = ProgramMethods();
  verb.heading("Method");
  verb.add_option("--method", method_, MethodHelp(methods))
      ->default_str(kDefaultMethod)
      ->check(CLI::IsMember(methods.Names()));
  flags_.Add(verb, "Method",
             [streams](const Parameter& parameter) { return !streams || parameter.in_streams; });
}

VoiceOptions MethodFlags::Options() const {
  VoiceOptions options(ProgramMethods().Find(method_.empty() ? kDefaultMethod : method_));
  CheckUsage([&] {
    flags_.Read(options.Method(), method_.empty() ? ", the default" : "",
                [&options](const std::string& name, const std::string& value) {
                  options.Set(name, value);
                });
  });
  return options;
}

void StrategyFlag::Add(CLI::App& verb) {
  verb.add_option("--strategy", name,
                  fmt::format("One target for all (const), for each speaker (perm) or for each "
                              "utterance (random); default: {}",
                              DefaultStrategies(ProgramMethods())))
      ->check(CLI::IsMember({"const", "perm", "random"}));
}

std::optional<Strategy> StrategyFlag::Asked() const {
  if (name.empty()) return std::nullopt;
  return ParseStrategy(name);
}

}  // namespace sotto::cli

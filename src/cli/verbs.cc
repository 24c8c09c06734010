#include "cli/verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "voice/method_table.h"

namespace sotto::cli {
namespace {

using Kind = Parameter::Kind;

// One flag for a parameter, however many methods have it.
struct SharedParameter {
  const Parameter* parameter;  // of the first of them
  std::vector<std::string> owners, choices;
  bool same_preset = true;
};

std::vector<SharedParameter> AllParameters(const MethodTable& methods) {
  std::vector<SharedParameter> all;
  for (const auto& method : methods.All()) {
    for (const Parameter& parameter : method->Parameters()) {
      auto shared = std::find_if(all.begin(), all.end(), [&](const SharedParameter& known) {
        return known.parameter->name == parameter.name;
      });
      if (shared == all.end()) shared = all.insert(shared, {&parameter, {}, {}});
      shared->owners.push_back(method->Name());
      shared->same_preset &= shared->parameter->preset == parameter.preset;
      for (const std::string& choice : parameter.choices) {
        const bool known = std::find(shared->choices.begin(), shared->choices.end(), choice) !=
                           shared->choices.end();
        if (!known) shared->choices.push_back(choice);
      }
    }
  }
  return all;
}

std::string HeadingOf(const SharedParameter& shared, const MethodTable& methods) {
  if (shared.owners.size() == methods.All().size()) return "Method";
  return "With --method " + ListOf(shared.owners);
}

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

void MethodFlags::Add(CLI::App& verb, bool streams) {
  const MethodTable& methods = ProgramMethods();
  verb.heading("Method");
  verb.add_option("--method", method_, MethodHelp(methods))
      ->default_str(kDefaultMethod)
      ->check(CLI::IsMember(methods.Names()));
  for (const SharedParameter& shared : AllParameters(methods)) {
    const Parameter& parameter = *shared.parameter;
    if (streams && !parameter.in_streams) continue;
    const std::string flag =
        "--" + parameter.name + (parameter.alias.empty() ? "" : ",--" + parameter.alias);
    verb.heading(HeadingOf(shared, methods));
    if (parameter.kind == Kind::kSwitch) {
      options_[parameter.name] = verb.add_flag(flag, switches_[parameter.name], parameter.help);
      continue;
    }
    CLI::Option* option = verb.add_option(flag, values_[parameter.name], parameter.help);
    if (!parameter.unit.empty()) option->type_name(parameter.unit);
    if (!shared.choices.empty()) option->check(CLI::IsMember(shared.choices));
    option->default_str(shared.same_preset ? parameter.preset : "");
    options_[parameter.name] = option;
  }
}

VoiceOptions MethodFlags::Options() const {
  const MethodTable& methods = ProgramMethods();
  VoiceOptions options(methods.Find(method_.empty() ? kDefaultMethod : method_));
  CheckUsage([&] {
    for (const auto& [name, option] : options_) {
      if (option->count() == 0) continue;
      if (options.Method().Find(name) == nullptr) {
        throw Error(fmt::format("{}; the method here is {}{}", BelongsTo(name, methods),
                                options.MethodName(), method_.empty() ? ", the default" : ""));
      }
      const auto value = values_.find(name);
      options.Set(name, value == values_.end() ? "" : value->second);
    }
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

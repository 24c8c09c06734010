#include "cli/table_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace sotto::cli {
namespace {

// A parameter, however many entries have it.
struct SharedParameter {
  const Parameter* parameter;  // of the first of them
  std::vector<std::string> owners, choices;
  bool same_preset = true;
};

std::vector<SharedParameter> AllParameters(const std::vector<const TableEntry*>& entries) {
  std::vector<SharedParameter> all;
  for (const TableEntry* entry : entries) {
    for (const Parameter& parameter : entry->Parameters()) {
      auto shared = std::find_if(all.begin(), all.end(), [&](const SharedParameter& known) {
        return known.parameter->name == parameter.name;
      });
      if (shared == all.end()) shared = all.insert(shared, {&parameter, {}, {}});
      shared->owners.push_back(entry->Name());
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

}  // namespace

void TableFlags::Add(CLI::App& verb, const std::string& heading,
                     const std::function<bool(const Parameter&)>& takes) {
  for (const SharedParameter& shared : AllParameters(entries_)) {
    const Parameter& parameter = *shared.parameter;
    if (takes && !takes(parameter)) continue;
    const std::string flag =
        "--" + parameter.name + (parameter.alias.empty() ? "" : ",--" + parameter.alias);
    verb.heading(shared.owners.size() == entries_.size()
                     ? heading
                     : "With --method " + ListOf(shared.owners));
    if (parameter.kind == Parameter::Kind::kSwitch) {
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

std::vector<std::string> TableFlags::Owners(const std::string& parameter) const {
  std::vector<std::string> owners;
  for (const TableEntry* entry : entries_) {
    if (entry->Find(parameter) != nullptr) owners.push_back(entry->Name());
  }
  return owners;
}

void TableFlags::Read(
    const TableEntry& chosen, const std::string& remark,
    const std::function<void(const std::string&, const std::string&)>& set) const {
  for (const auto& [name, option] : options_) {
    if (option->count() == 0) continue;
    if (chosen.Find(name) == nullptr) {
      throw Error(fmt::format("--{} belongs to --method {}; the method here is {}{}", name,
                              ListOf(Owners(name)), chosen.Name(), remark));
    }
    const auto value = values_.find(name);
    set(name, value == values_.end() ? "" : value->second);
  }
}

}  // namespace sotto::cli

// Flags of the parameters of everything in a table (base/definition_table.h): methods of one kind.
// One flag for each parameter, however many methods have it, under a heading that says whose it is.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/definition_table.h"
#include "cli/flags.h"

namespace sotto::cli {

class TableFlags {
 public:
  // The entries must outlive this.
  template <typename Kind>
  explicit TableFlags(const DefinitionTable<Kind>& table) {
    for (const auto& entry : table.All()) entries_.push_back(entry.get());
  }
  // Those of one entry alone.
  explicit TableFlags(const TableEntry& only) : entries_{&only} {}

  // Of the parameters for which `takes` holds; not set: all. Those of all entries stand under
  // `heading`.
  void Add(CLI::App& verb, const std::string& heading,
           const std::function<bool(const Parameter&)>& takes = {});

  // Hands name and value of each parameter that was given to `set`. Throws Error for one that
  // `chosen` does not have: "--x belongs to --method a or b; the method here is c"; `remark` comes
  // after that name.
  void Read(const TableEntry& chosen, const std::string& remark,
            const std::function<void(const std::string&, const std::string&)>& set) const;

 private:
  std::vector<std::string> Owners(const std::string& parameter) const;

  std::vector<const TableEntry*> entries_;
  std::map<std::string, std::string> values_;  // of parameters that are no switches
  std::map<std::string, bool> switches_;
  std::map<std::string, CLI::Option*> options_;  // by parameter
};

}  // namespace sotto::cli

// What can be chosen by its name, each thing defined in files of its own: methods, rules for
// targets, regions of a pool. A table of them says which there are; nothing else does.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parameter.h"

namespace sotto {

class TableEntry {
 public:
  TableEntry(std::string name, std::string help, std::vector<Parameter> parameters = {})
      : name_(std::move(name)), help_(std::move(help)), parameters_(std::move(parameters)) {}
  TableEntry(const TableEntry&) = delete;
  TableEntry& operator=(const TableEntry&) = delete;
  virtual ~TableEntry() = default;

  const std::string& Name() const { return name_; }
  const std::string& Help() const { return help_; }
  const std::vector<Parameter>& Parameters() const { return parameters_; }
  // Null: it has no such parameter.
  const Parameter* Find(std::string_view parameter) const;

 private:
  std::string name_, help_;
  std::vector<Parameter> parameters_;
};

// What one of a kind ("method") may be.
template <typename Kind>
class DefinitionTable {
 public:
  explicit DefinitionTable(std::string kind) : kind_(std::move(kind)) {}

  // Throws Error where another one has the name.
  void Add(std::shared_ptr<const Kind> one) {
    for (const auto& known : all_) {
      if (known->Name() == one->Name()) throw Error("two " + kind_ + "s '" + one->Name() + "'");
    }
    all_.push_back(std::move(one));
  }

  // Throws Error that lists the names.
  std::shared_ptr<const Kind> Find(std::string_view name) const {
    for (const auto& one : all_) {
      if (one->Name() == name) return one;
    }
    throw Error(kind_ + " '" + std::string(name) + "': " + ListOf(Names()) + " is allowed");
  }

  const std::vector<std::shared_ptr<const Kind>>& All() const { return all_; }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& one : all_) names.push_back(one->Name());
    return names;
  }

  // Which of them have the parameter.
  std::vector<std::string> Owners(std::string_view parameter) const {
    std::vector<std::string> owners;
    for (const auto& one : all_) {
      if (one->Find(parameter) != nullptr) owners.push_back(one->Name());
    }
    return owners;
  }

 private:
  std::string kind_;
  std::vector<std::shared_ptr<const Kind>> all_;
};

}  // namespace sotto

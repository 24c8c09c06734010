// Values for the parameters of one entry of a table.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/definition_table.h"

namespace sotto {

class EntryValues : public ParameterValues {
 public:
  // Keeps a reference.
  explicit EntryValues(const TableEntry& entry) : entry_(entry) {}

  // Throws Error for a parameter that it does not have, or that names it and says what is allowed.
  void Set(const std::string& parameter, const std::string& value);
  bool Has(std::string_view parameter) const override { return given_.contains(parameter); }
  std::string Value(std::string_view parameter) const override;

 private:
  const TableEntry& entry_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace sotto

#include "base/entry_values.h"

namespace sotto {

void EntryValues::Set(const std::string& parameter, const std::string& value) {
  const Parameter* known = entry_.Find(parameter);
  if (known == nullptr) throw Error(entry_.Name() + " has no parameter '" + parameter + "'");
  known->Read(value);
  if (known->check) known->check(value);
  given_[parameter] = known->normalise ? known->normalise(value) : value;
}

std::string EntryValues::Value(std::string_view parameter) const {
  const auto given = given_.find(parameter);
  if (given != given_.end()) return given->second;
  const Parameter* known = entry_.Find(parameter);
  return known == nullptr ? std::string() : known->preset;
}

}  // namespace sotto

#include "base/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/definition_table.h"
#include "base/error.h"
#include "base/tsv.h"

namespace sotto {
namespace {

constexpr double kMostCount = 1e6;  // times the utterances of a corpus it is a number still

void ReadCount(const std::string& value, const std::string& name) {
  const double count = ParseNumber(value, name);
  if (!(count >= 1.0 && count <= kMostCount && count == std::floor(count))) {
    throw Error(fmt::format("{} '{}': a whole number from 1 to {:.0f} is allowed", name, value,
                            kMostCount));
  }
}

}  // namespace

std::string Range::Text() const {
  return IsFixed() ? fmt::format("{}", lo) : fmt::format("{}:{}", lo, hi);
}

Range Range::Parse(const std::string& text, const std::string& name) {
  const std::size_t colon = text.find(':');
  Range range;
  range.lo = ParseNumber(text.substr(0, colon), name);
  range.hi = colon == std::string::npos ? range.lo : ParseNumber(text.substr(colon + 1), name);
  if (range.lo > range.hi) {
    throw Error(fmt::format("{} '{}': the lower end comes first", name, text));
  }
  return range;
}

void Parameter::Read(const std::string& value) const {
  if (kind == Kind::kNumber) ParseNumber(value, name);
  if (kind == Kind::kCount) ReadCount(value, name);
  if (kind == Kind::kSwitch && !value.empty()) {
    throw Error(fmt::format("{} takes no value", name));
  }
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    throw Error(fmt::format("{} '{}': {} is allowed", name, value, ListOf(choices)));
  }
  if (normalise) normalise(value);
  if (IsFile() && value.empty()) throw Error(fmt::format("{}: no file is named", name));
}

std::optional<double> ParameterValues::Number(std::string_view parameter) const {
  const std::string value = Value(parameter);
  if (value.empty()) return std::nullopt;
  return ParseNumber(value, std::string(parameter));
}

const Parameter* TableEntry::Find(std::string_view parameter) const {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [&](const Parameter& known) { return known.name == parameter; });
  return found == parameters_.end() ? nullptr : &*found;
}

std::string ListOf(const std::vector<std::string>& names, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace sotto

#include "assess/fairness_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assess/trial_lines.h"
#include "base/error.h"
#include "base/input.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// The column names, so that enrol_X and test_X are used where they are there.
std::vector<std::string> ReadHeader(const std::string& path) {
  InputFile file(path);
  if (file.IsPipe()) {
    throw Error(fmt::format(
        "'{}' is a pipe: this table is read more than once, so a file is needed", path));
  }
  constexpr std::size_t kLongestHeader = std::size_t{1} << 16;
  std::string text(kLongestHeader, '\0');
  text.resize(file.ReadAt(0, text.data(), text.size()));
  std::string_view rest = WithoutByteOrderMark(text);
  const std::string_view line = TakeLine(rest);
  if (line.empty()) throw Error(fmt::format("{}: no header line", path));
  RequireClean(line, path);
  const auto fields = SplitTabs(line);
  return {fields.begin(), fields.end()};
}

}  // namespace

FairnessTrials ReadFairnessTrials(const std::string& path, const FairnessColumns& columns) {
  const std::string& name = columns.group;
  const std::vector<std::string> header = ReadHeader(path);
  const auto has = [&](const std::string& column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  };
  const auto read = [&](const std::string& column) {
    TrialTsvOptions options;
    options.extra_column = column;
    options.allow_missing = columns.allow_missing;
    return ReadTrialTsv(path, options);
  };
  FairnessTrials result;
  result.has_sides = has("enrol_" + name) && has("test_" + name);
  const bool own = has(name);
  if (!own && !result.has_sides) {
    throw Error(
        fmt::format("{}: no column '{}', nor 'enrol_{}' and 'test_{}'", path, name, name, name));
  }
  result.trials = read("");
  const IdColumn enrol = result.has_sides ? read("enrol_" + name).extra : IdColumn();
  const IdColumn test = result.has_sides ? read("test_" + name).extra : IdColumn();
  const IdColumn group = own ? read(name).extra : enrol;
  result.grouping = GroupTrials(result.trials, group, result.has_sides ? &enrol : nullptr,
                                result.has_sides ? &test : nullptr, columns.include_cross_group);
  return result;
}

}  // namespace sotto

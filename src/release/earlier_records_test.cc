// Run records of earlier builds (tests/fixtures/README.md) are read as they always were.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/files.h"
#include "release/release_record.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const char* RuleName(PoolRule rule) {
  return rule == PoolRule::kFarthest  ? "farthest"
         : rule == PoolRule::kNearest ? "nearest"
                                      : "independent";
}

// The record's line in expected.tsv, but for its name.
std::string Read(const std::string& text, const std::string& where) {
  const PoolRuleRecord rule = ParsePoolRule(text, where);
  const std::string rule_text = std::string("\t") + RuleName(rule.rule) + "\t" + rule.text;
  if (text.find("protect-embedding") != std::string::npos) return "\t" + rule_text;
  const ReleaseRecord record = ParseReleaseRecord(text, where);
  std::string line = record.voice.MethodName();
  for (const Parameter& p : record.voice.Method().Parameters()) {
    const std::string value = record.voice.Value(p.name);
    if (!p.record.empty() && !value.empty()) line += fmt::format(" {}={}", p.name, value);
  }
  line += "\t" + record.Describe() + rule_text;
  if (!record.HasDraws()) line += ", no draws";
  if (record.lacks_pool) line += ", own pool";
  if (record.context_given) line += ", context";
  if (record.new_ids) line += ", new ids";
  if (record.seeded) line += ", seeded";
  return line;
}

TEST(EarlierRecords, SayWhatTheyAlwaysSaid) {
  const fs::path folder = fs::path(SOTTO_FIXTURES) / "run_records";
  std::istringstream expected(ReadTextFile(folder / "expected.tsv"));
  std::set<std::string> read;
  for (std::string line; std::getline(expected, line);) {
    const std::string name = line.substr(0, line.find('\t'));
    read.insert(name + ".json");
    EXPECT_EQ(line, name + "\t" + Read(ReadTextFile(folder / (name + ".json")), name));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      EXPECT_TRUE(read.contains(entry.path().filename()));
    }
  }
  EXPECT_GE(read.size(), 40U);
}

}  // namespace
}  // namespace sotto

// Kaldi/VPC trial keys and score files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "assess/interner.h"
#include "assess/trial_lines.h"
#include "assess/trials.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// Feeds blocks of lines of one file to a handler.
using Source = std::function<void(const BlockHandler&)>;

// Reads the lines of a key or score file: enrol, test and a third field, in Kaldi's order or in
// that of a header.
class RowReader {
 public:
  RowReader(std::string where, std::string third)
      : where_(std::move(where)), names_{"enrol", "test", std::move(third)} {}

  // Calls row(enrol, test, third, line number).
  template <typename Row>
  void Read(const Source& source, const Row& row) {
    source([&](std::string_view block, std::size_t first_line) {
      RequireClean(block, where_, first_line);
      std::size_t line = first_line;
      for (; !block.empty(); ++line) {
        const auto fields = SplitBlanks(TakeLine(block));
        if (fields.empty() || (std::exchange(first_, false) && IsHeader(fields))) continue;
        if (fields.size() != n_fields_) {
          throw Error(fmt::format("{}: line {} has {} fields, not {} (enrol test {})", where_, line,
                                  fields.size(), n_fields_, names_[2]));
        }
        row(fields[at_[0]], fields[at_[1]], fields[at_[2]], line);
      }
      return line - first_line;
    });
  }

 private:
  bool IsHeader(const std::vector<std::string_view>& fields) {
    std::array<std::size_t, 3> at{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto found = std::find(fields.begin(), fields.end(), names_[k]);
      if (found == fields.end()) return false;
      at[k] = static_cast<std::size_t>(found - fields.begin());
    }
    at_ = at;
    n_fields_ = fields.size();
    return true;
  }
  const std::string where_;
  const std::array<std::string, 3> names_;
  std::array<std::size_t, 3> at_{0, 1, 2};
  std::size_t n_fields_ = 3;
  bool first_ = true;
};

// The pairs of one file with what it says about them.
template <typename Value>
struct Table {
  std::vector<std::uint32_t> enrol;
  std::vector<std::uint32_t> test;
  std::vector<Value> value;
};

// The same pair with another value is an Error, with the same one a duplicate.
template <typename Value>
PairMap IndexPairs(const Table<Value>& table, const std::string& where, const char* third,
                   const Interner& enrol, const Interner& test, std::size_t& duplicates) {
  PairMap map(table.enrol, table.test);
  for (std::uint32_t i = 0; i < table.value.size(); ++i) {
    const std::uint32_t before = map.Insert(i);
    if (before == PairMap::kNone) continue;
    if (table.value[before] != table.value[i]) {
      throw Error(fmt::format("{}: trial '{}' '{}' appears twice with different {}s", where,
                              enrol.Name(table.enrol[i]), test.Name(table.test[i]), third));
    }
    ++duplicates;
  }
  return map;
}

Trials Join(const Source& scores, const std::string& scores_name, const Source& key,
            const std::string& key_name, const KaldiOptions& options) {
  Interner enrols;
  Interner tests;
  Table<double> score_rows;
  Table<std::uint8_t> key_rows;
  const auto add = [&](auto& table, std::string_view enrol, std::string_view test, auto value) {
    table.enrol.push_back(enrols.Add(enrol));
    table.test.push_back(tests.Add(test));
    table.value.push_back(value);
  };
  RowReader(key_name, "label")
      .Read(key, [&](std::string_view enrol, std::string_view test, std::string_view label,
                     std::size_t line) {
        add(key_rows, enrol, test, ParseLabel(label, key_name, line));
      });
  RowReader(scores_name, "score")
      .Read(scores, [&](std::string_view enrol, std::string_view test, std::string_view score,
                        std::size_t line) {
        add(score_rows, enrol, test, ParseScore(score, scores_name, line));
      });

  Trials trials;
  std::size_t repeated_scores = 0;
  PairMap scored = IndexPairs(score_rows, scores_name, "score", enrols, tests, repeated_scores);
  PairMap keyed = IndexPairs(key_rows, key_name, "label", enrols, tests, trials.n_duplicates);
  trials.n_duplicates += repeated_scores;
  for (std::size_t i = 0; i < key_rows.value.size(); ++i) {
    const std::uint32_t row = scored.Find(key_rows.enrol[i], key_rows.test[i]);
    if (row == PairMap::kNone) {
      ++trials.n_without_score;
      continue;
    }
    trials.scores.push_back(score_rows.value[row]);
    trials.is_target.push_back(key_rows.value[i]);
    trials.enrol.index.push_back(key_rows.enrol[i]);
    trials.test.index.push_back(key_rows.test[i]);
  }
  for (std::size_t i = 0; i < score_rows.value.size(); ++i) {
    if (keyed.Find(score_rows.enrol[i], score_rows.test[i]) == PairMap::kNone) {
      ++trials.n_without_trial;
    }
  }
  if (!options.allow_missing && trials.n_without_score + trials.n_without_trial > 0) {
    throw Error(fmt::format(
        "{} of {} trials of '{}' have no score, {} of {} scores of '{}' no trial; --allow-missing "
        "goes on without them",
        trials.n_without_score, key_rows.value.size(), key_name, trials.n_without_trial,
        score_rows.value.size(), scores_name));
  }
  trials.enrol.names = enrols.TakeNames();
  trials.test.names = tests.TakeNames();
  return trials;
}

}  // namespace

Trials ParseKaldiTrials(std::string_view scores, const std::string& scores_name,
                        std::string_view key, const std::string& key_name,
                        const KaldiOptions& options) {
  const auto source = [](std::string_view text) {
    return [text](const BlockHandler& handle) { handle(WithoutByteOrderMark(text), 1); };
  };
  return Join(source(scores), scores_name, source(key), key_name, options);
}

Trials ReadKaldiTrials(const std::filesystem::path& scores, const std::filesystem::path& key,
                       const KaldiOptions& options) {
  const auto source = [](const std::filesystem::path& path) {
    return [path](const BlockHandler& handle) { ReadInBlocks(path, handle); };
  };
  return Join(source(scores), scores.string(), source(key), key.string(), options);
}

void AddSpeakers(Trials& trials, std::span<const std::filesystem::path> utt2spk_files) {
  std::unordered_map<std::string, std::string> speakers;
  for (const auto& file : utt2spk_files) {
    const std::string text = ReadTextFile(file, kLargestFile);
    RequireClean(text, file.string());
    std::size_t number = 0;
    for (const std::string_view line : SplitLines(text)) {
      ++number;
      const auto fields = SplitBlanks(line);
      if (fields.empty()) continue;
      if (fields.size() != 2) {
        throw Error(fmt::format("{}: line {} has {} fields, not 2 (utt spk)", file.string(), number,
                                fields.size()));
      }
      const auto [found, fresh] = speakers.emplace(fields[0], fields[1]);
      if (!fresh && found->second != fields[1]) {
        throw Error(fmt::format("{}: line {}: '{}' belongs to '{}' and to '{}'", file.string(),
                                number, fields[0], found->second, fields[1]));
      }
    }
  }
  const auto map = [&speakers](const IdColumn& ids, bool id_may_be_speaker) {
    Interner interner;
    std::vector<std::uint32_t> speaker_of;
    for (const std::string& id : ids.names) {
      const auto found = speakers.find(id);
      if (found == speakers.end() && !id_may_be_speaker) {
        throw Error(fmt::format("test recording '{}' has no speaker in the utt2spk files", id));
      }
      speaker_of.push_back(interner.Add(found == speakers.end() ? id : found->second));
    }
    IdColumn column;
    for (const std::uint32_t i : ids.index) column.index.push_back(speaker_of[i]);
    column.names = interner.TakeNames();
    return column;
  };
  if (!trials.enrol.Present() || !trials.test.Present()) {
    throw Error("speakers can only be added to trials with enrol and test ids");
  }
  trials.enrol_spk = map(trials.enrol, true);
  trials.test_spk = map(trials.test, false);
}

}  // namespace sotto

#include "assess/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "assess/interner.h"
#include "assess/trial_lines.h"
#include "base/error.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace {

// Collects the trials of a TSV line by line; the header is its first line.
class TsvCollector {
 public:
  TsvCollector(std::string where, const TrialTsvOptions& options)
      : where_(std::move(where)), options_(options) {
    columns_ = {{{"enrol", &trials_.enrol, {}},
                 {"test", &trials_.test, {}},
                 {"enrol_spk", &trials_.enrol_spk, {}},
                 {"test_spk", &trials_.test_spk, {}},
                 {"enrol_group", &trials_.enrol_group, {}},
                 {"test_group", &trials_.test_group, {}},
                 {options.extra_column, &trials_.extra, {}}}};
  }

  std::size_t Take(std::string_view block, std::size_t first_line) {
    RequireClean(block, where_, first_line);
    std::size_t line_number = first_line;
    for (; !block.empty(); ++line_number) {
      const std::string_view line = TakeLine(block);
      if (line.empty()) continue;
      if (fields_ == 0) {
        Header(line);
      } else {
        Row(line, line_number);
      }
    }
    return line_number - first_line;
  }

  Trials Finish() {
    if (fields_ == 0) throw Error(fmt::format("{}: no header line", where_));
    for (Column& column : columns_) column.values->names = column.interner.TakeNames();
    if (trials_.n_without_score > 0 && !options_.allow_missing) {
      throw Error(
          fmt::format("{}: {} of {} trials have no score; --allow-missing goes on without "
                      "them",
                      where_, trials_.n_without_score, trials_.n_without_score + trials_.size()));
    }
    RefuseContradictions();
    return std::move(trials_);
  }

 private:
  struct Column {
    std::string name;
    IdColumn* values;
    Interner interner;
  };
  // What to do with each field of a row.
  static constexpr int kIgnore = -1;
  static constexpr int kLabel = -2;
  static constexpr int kScore = -3;

  void Header(std::string_view line) {
    const auto names = SplitTabs(line);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::count(names.begin(), names.end(), names[i]) > 1) {
        throw Error(fmt::format("{}: column '{}' appears twice", where_, names[i]));
      }
      actions_.push_back(Action(names[i]));
    }
    fields_ = names.size();
    for (const char* needed : {"label", "score"}) {
      if (std::find(names.begin(), names.end(), needed) == names.end()) {
        throw Error(fmt::format("{}: no column '{}' in the header '{}'", where_, needed, line));
      }
    }
    const auto& extra = options_.extra_column;
    if (!extra.empty() && std::find(names.begin(), names.end(), extra) == names.end()) {
      throw Error(fmt::format("{}: no column '{}' in the header '{}'", where_, extra, line));
    }
    // A column asked for by the name of a standard one is both.
    for (std::size_t k = 0; k + 1 < columns_.size(); ++k) {
      if (columns_[k].name == extra) copy_to_extra_ = static_cast<int>(k);
    }
  }

  int Action(std::string_view name) const {
    if (name == "label") return kLabel;
    if (name == "score") return kScore;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const bool wanted = options_.read_ids || columns_[k].name == options_.extra_column;
      if (columns_[k].name == name && !name.empty() && wanted) return static_cast<int>(k);
    }
    return kIgnore;
  }

  void Row(std::string_view line, std::size_t line_number) {
    const std::string_view whole = line;
    const std::size_t before = trials_.size();
    bool has_score = true;
    for (std::size_t i = 0; i < fields_; ++i) {
      const std::size_t end = line.find('\t');
      if ((end == std::string_view::npos) != (i + 1 == fields_)) {
        throw Error(fmt::format("{}: line {} has {} fields, the header has {}", where_, line_number,
                                SplitTabs(whole).size(), fields_));
      }
      const std::string_view field = line.substr(0, end);
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
      switch (const int action = actions_[i]) {
        case kIgnore:
          break;
        case kLabel:
          trials_.is_target.push_back(ParseLabel(field, where_, line_number));
          break;
        case kScore:
          if (field.empty()) {
            has_score = false;
            break;
          }
          trials_.scores.push_back(ParseScore(field, where_, line_number));
          break;
        default: {
          Column& column = columns_[static_cast<std::size_t>(action)];
          column.values->index.push_back(column.interner.Add(field));
        }
      }
    }
    if (!has_score) {
      ++trials_.n_without_score;
      trials_.is_target.resize(before);
      for (Column& column : columns_) {
        if (column.values->Present()) column.values->index.resize(before);
      }
    }
    if (trials_.size() >= PairMap::kNone) {
      throw Error(fmt::format("{}: more than {} trials", where_, PairMap::kNone - 1));
    }
  }

  // The same pair twice is legal when label and score agree (each row counts); else it is an Error.
  void RefuseContradictions() {
    if (copy_to_extra_ >= 0)
      trials_.extra = *columns_[static_cast<std::size_t>(copy_to_extra_)].values;
    if (!trials_.enrol.Present() || !trials_.test.Present()) return;
    PairMap seen(trials_.enrol.index, trials_.test.index);
    for (std::uint32_t i = 0; i < trials_.size(); ++i) {
      const std::uint32_t before = seen.Insert(i);
      if (before == PairMap::kNone) continue;
      if (trials_.scores[i] != trials_.scores[before] ||
          trials_.is_target[i] != trials_.is_target[before]) {
        throw Error(fmt::format(
            "{}: trial '{}' '{}' appears twice, {} with score {} and {} with score {}", where_,
            trials_.enrol.At(i), trials_.test.At(i),
            trials_.is_target[before] != 0 ? "target" : "nontarget", trials_.scores[before],
            trials_.is_target[i] != 0 ? "target" : "nontarget", trials_.scores[i]));
      }
      ++trials_.n_duplicates;
    }
  }

  const std::string where_;
  const TrialTsvOptions options_;
  Trials trials_;
  std::array<Column, 7> columns_;
  std::vector<int> actions_;
  std::size_t fields_ = 0;
  int copy_to_extra_ = -1;
};

}  // namespace

ScoreLevels MakeLevels(const Trials& trials) {
  return MakeLevels(std::span(trials.scores), std::span(trials.is_target));
}

Trials ReadTrialTsv(const std::filesystem::path& path, const TrialTsvOptions& options) {
  TsvCollector collector(path.string(), options);
  ReadInBlocks(path, [&collector](std::string_view block, std::size_t first_line) {
    return collector.Take(block, first_line);
  });
  return collector.Finish();
}

Trials ParseTrialTsv(std::string_view text, const std::string& where,
                     const TrialTsvOptions& options) {
  TsvCollector collector(where, options);
  collector.Take(WithoutByteOrderMark(text), 1);
  return collector.Finish();
}

}  // namespace sotto

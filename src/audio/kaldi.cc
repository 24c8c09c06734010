// Kaldi data dirs: wav.scp, segments, utt2spk, spk2utt, spk2gender, text.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

class KaldiParser {
 public:
  KaldiParser(const KaldiTexts& texts, const fs::path& root, const CorpusOptions& options)
      : texts_(texts), root_(root), options_(options) {}

  CorpusScan Parse() {
    scan_.corpus.kind = CorpusKind::kKaldi;
    ReadRecordings();
    ReadSpeakers();
    if (texts_.segments) {
      ReadSegments();
    } else {
      for (Recording& recording : corpus_.recordings)
        AddSpan(recording, recording.id, 0.0, -1.0, "");
    }
    CheckUtterances();
    ReadOptionalTables();
    return std::move(scan_);
  }

 private:
  // Lines "key rest"; repeated keys and keys without a value are problems.
  Table ReadTable(const std::string& text, const char* name, bool empty_value_allowed = false) {
    Table table;
    std::set<std::string> keys;
    const auto lines = SplitLines(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto fields = SplitBlanks(lines[i]);
      const std::string where = fmt::format("{}: line {}", name, i + 1);
      if (fields.empty()) continue;
      if (const std::size_t at = FindUnclean(lines[i]); at != std::string_view::npos) {
        scan_.Add(where, DescribeUnclean(lines[i], at),
                  "tables are UTF-8 without control characters");
        continue;
      }
      std::string key(fields[0]);
      if (fields.size() < 2 && !empty_value_allowed) {
        scan_.Add(where, fmt::format("'{}' has no value", key), "every line is an id and a value");
        continue;
      }
      if (!keys.insert(key).second) {
        scan_.Add(where, fmt::format("'{}' appears twice", key), "keep one line for each id");
        continue;
      }
      std::string rest;
      if (fields.size() >= 2) {
        rest = lines[i].substr(static_cast<std::size_t>(fields[1].data() - lines[i].data()));
        rest.erase(rest.find_last_not_of(" \t") + 1);
      }
      table.emplace_back(std::move(key), std::move(rest));
    }
    return table;
  }

  void ReadRecordings() {
    for (auto& [id, value] : ReadTable(texts_.wav_scp, "wav.scp")) {
      Recording recording;
      recording.id = id;
      const std::string where = fmt::format("wav.scp: '{}'", id);
      try {
        JoinInside("wav", id);
        recording.relative = "wav/" + id;
      } catch (const Error&) {
        scan_.Add(where, "the id would name a file outside the output",
                  "use ids without '..' and a leading '/'");
      }
      if (value.back() == '|') {
        recording.pipe = value.substr(0, value.size() - 1);
        if (!options_.allow_pipes) {
          scan_.Add(
              where, "the recording is a pipe, which runs a shell command",
              "read the command, then allow it with --allow-pipes, or store the sound as a file");
        }
      } else {
        // Relative paths: below the data dir, or, as Kaldi reads them, below the current folder.
        const fs::path path(value);
        std::error_code unused;  // a path that is too long is no file, and said so when opened
        const bool inside = !path.is_absolute() && fs::exists(root_ / path, unused);
        recording.path =
            inside || path.is_absolute() || !fs::exists(path, unused) ? root_ / path : path;
      }
      by_id_[id] = corpus_.recordings.size();
      corpus_.recordings.push_back(std::move(recording));
    }
    if (corpus_.recordings.empty())
      scan_.Add("wav.scp", "no recording", "list at least one recording");
  }

  void ReadSpeakers() {
    Table& utt2spk = corpus_.utt2spk;
    if (texts_.utt2spk) utt2spk = ReadTable(*texts_.utt2spk, "utt2spk");
    std::map<std::string, std::string> from_spk2utt;
    if (texts_.spk2utt) {
      for (const auto& [speaker, utterances] : ReadTable(*texts_.spk2utt, "spk2utt")) {
        for (const std::string_view utterance : SplitBlanks(utterances)) {
          if (!from_spk2utt.emplace(utterance, speaker).second) {
            scan_.Add("spk2utt", fmt::format("utterance '{}' has two speakers", utterance),
                      "keep it with one speaker");
          }
        }
      }
      if (!texts_.utt2spk) utt2spk.assign(from_spk2utt.begin(), from_spk2utt.end());
    }
    if (!texts_.utt2spk && !texts_.spk2utt) {
      scan_.Add("utt2spk", "there is neither utt2spk nor spk2utt", "say who speaks in utt2spk");
    }
    for (const auto& [utterance, speaker] : utt2spk) {
      if (SplitBlanks(speaker).size() != 1) {
        scan_.Add("utt2spk", fmt::format("'{}' has more than one speaker", utterance),
                  "one speaker each");
      }
      speaker_of_[utterance] = speaker;
      if (!texts_.spk2utt) continue;
      const auto other = from_spk2utt.find(utterance);
      if (other == from_spk2utt.end() || other->second != speaker) {
        scan_.Add("spk2utt",
                  fmt::format("'{}' is '{}' in utt2spk but not here", utterance, speaker),
                  "make spk2utt again from utt2spk");
      }
    }
  }

  void AddSpan(Recording& recording, const std::string& utterance, double begin_s, double end_s,
               std::string times) {
    const auto speaker = speaker_of_.find(utterance);
    if (speaker == speaker_of_.end()) {
      scan_.Add(fmt::format("utterance '{}'", utterance), "no speaker in utt2spk",
                "add its line to utt2spk");
    }
    used_.insert(utterance);
    recording.spans.push_back({utterance, speaker == speaker_of_.end() ? "" : speaker->second,
                               begin_s, end_s, std::move(times)});
  }

  void ReadSegments() {
    corpus_.has_segments = true;
    for (const auto& [utterance, rest] : ReadTable(*texts_.segments, "segments")) {
      const std::string where = fmt::format("segments: '{}'", utterance);
      const auto fields = SplitBlanks(rest);
      if (fields.size() != 3) {
        scan_.Add(where, fmt::format("{} fields after the id", fields.size()),
                  "a line is utterance, recording, begin and end in seconds");
        continue;
      }
      const auto recording = by_id_.find(std::string(fields[0]));
      if (recording == by_id_.end()) {
        scan_.Add(where, fmt::format("recording '{}' is not in wav.scp", fields[0]),
                  "add it to wav.scp");
        continue;
      }
      try {
        const double begin_s = ParseNumber(fields[1], where);
        const double end_s = ParseNumber(fields[2], where);
        if (begin_s < 0.0 || (end_s != -1.0 && end_s <= begin_s)) {
          scan_.Add(where, fmt::format("runs from {} to {} s", begin_s, end_s),
                    "begin is at least 0 and before the end (-1: the end of the recording)");
          continue;
        }
        AddSpan(corpus_.recordings[recording->second], utterance, begin_s, end_s,
                fmt::format("{} {}", fields[1], fields[2]));
      } catch (const Error& error) {
        scan_.Add(where, error.what(), "begin and end are seconds");
      }
    }
    for (Recording& recording : corpus_.recordings) CheckOverlaps(recording);
  }

  // Speech of two people at once cannot get two targets.
  void CheckOverlaps(Recording& recording) {
    auto& spans = recording.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.begin_s < b.begin_s; });
    const Span* reaching = nullptr;  // the span seen so far that ends last
    const auto end_of = [](const Span& s) { return s.end_s == -1.0 ? HUGE_VAL : s.end_s; };
    for (const Span& span : spans) {
      if (reaching != nullptr && span.begin_s < end_of(*reaching) &&
          span.speaker != reaching->speaker) {
        scan_.Add(
            fmt::format("segments: '{}' and '{}'", reaching->utterance, span.utterance),
            fmt::format("overlap in recording '{}' and have different speakers", recording.id),
            "cut the segments where the speaker changes");
      }
      if (reaching == nullptr || end_of(span) > end_of(*reaching)) reaching = &span;
    }
    if (spans.empty()) {
      scan_.Add(fmt::format("recording '{}'", recording.id),
                "no segment: all of it will be silenced",
                "remove it from wav.scp if it is not needed", Problem::Severity::kWarning);
    }
  }

  void CheckUtterances() {
    for (const auto& [utterance, speaker] : speaker_of_) {
      if (!used_.contains(utterance)) {
        scan_.Add(fmt::format("utt2spk: '{}'", utterance), "there is no such utterance",
                  texts_.segments ? "add it to segments or remove the line"
                                  : "add it to wav.scp or remove the line");
      }
    }
  }

  void ReadOptionalTables() {
    if (texts_.spk2gender) {
      corpus_.spk2gender = ReadTable(*texts_.spk2gender, "spk2gender");
      std::set<std::string> with_gender;
      for (const auto& [speaker, gender] : corpus_.spk2gender) {
        with_gender.insert(speaker);
        if (ParseGender(gender) == Gender::kUnknown) {
          scan_.Add(fmt::format("spk2gender: '{}'", speaker), fmt::format("gender '{}'", gender),
                    "write m or f, or leave the line out", Problem::Severity::kWarning);
        }
      }
      std::set<std::string> gaps;
      for (const auto& [utterance, speaker] : speaker_of_) {
        if (!with_gender.contains(speaker)) gaps.insert(speaker);
      }
      for (const std::string& speaker : gaps) {
        scan_.Add(fmt::format("spk2gender: '{}'", speaker), "the speaker has no gender",
                  "add a line m or f", Problem::Severity::kWarning);
      }
    }
    if (texts_.text) {
      corpus_.text = ReadTable(*texts_.text, "text", /*empty_value_allowed=*/true);
      std::set<std::string> with_text;
      for (const auto& [utterance, words] : corpus_.text) {
        with_text.insert(utterance);
        if (!speaker_of_.contains(utterance)) {
          scan_.Add(fmt::format("text: '{}'", utterance), "there is no such utterance",
                    "remove the line or add the utterance", Problem::Severity::kWarning);
        }
      }
      for (const auto& [utterance, speaker] : speaker_of_) {
        if (!with_text.contains(utterance)) {
          scan_.Add(fmt::format("text: '{}'", utterance), "the utterance has no transcript",
                    "add its line", Problem::Severity::kWarning);
        }
      }
    }
  }

  const KaldiTexts& texts_;
  const fs::path& root_;
  const CorpusOptions& options_;
  CorpusScan scan_;
  Corpus& corpus_ = scan_.corpus;
  std::map<std::string, std::size_t> by_id_;
  std::map<std::string, std::string> speaker_of_;
  std::set<std::string> used_;
};

}  // namespace

CorpusScan ParseKaldi(const KaldiTexts& texts, const fs::path& root, const CorpusOptions& options) {
  return KaldiParser(texts, root, options).Parse();
}

}  // namespace sotto

// Trials (comparisons of an enrolment with a test recording) with their labels and scores.
//
// Readers refuse what would silently change a figure: NaN scores, unknown labels, trials without a
// score, a pair scored twice with different scores. Infinite scores are legal. Lines may end in LF
// or CRLF; a byte-order mark is skipped; ids are UTF-8 without the separators and
// without control characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assess/levels.h"

namespace sotto {

// A column of repeated names, each stored once. Empty when the file had no such column.
struct IdColumn {
  std::vector<std::string> names;
  std::vector<std::uint32_t> index;  // one per trial, into names
  bool Present() const { return !index.empty(); }
  const std::string& At(std::size_t trial) const { return names[index[trial]]; }
};

struct Trials {
  std::vector<double> scores;
  std::vector<std::uint8_t> is_target;  // 1 target, 0 non-target
  IdColumn enrol;
  IdColumn test;
  IdColumn enrol_spk;
  IdColumn test_spk;
  IdColumn enrol_group;
  IdColumn test_group;
  IdColumn extra;  // the column asked for by name

  // What the readers had to say: repeated pairs with the same score (kept: each row counts), key
  // trials without a score and scores without a key trial (left out by allow_missing).
  std::size_t n_duplicates = 0;
  std::size_t n_without_score = 0;
  std::size_t n_without_trial = 0;

  std::size_t size() const { return scores.size(); }
  bool HasSpeakers() const { return enrol_spk.Present() && test_spk.Present(); }
};

ScoreLevels MakeLevels(const Trials& trials);  // throws Error when a class is empty

struct TrialTsvOptions {
  std::string extra_column;    // must be there when named
  bool read_ids = true;        // false: label and score alone, faster
  bool allow_missing = false;  // rows with an empty score are left out instead of being an Error
};

// Columns `label` (target|nontarget) and `score`; optional enrol, test, enrol_spk, test_spk,
// enrol_group, test_group; others are ignored. The file is read in pieces, so memory holds the
// trials alone.
Trials ReadTrialTsv(const std::filesystem::path& path, const TrialTsvOptions& options = {});
Trials ParseTrialTsv(std::string_view text, const std::string& where,
                     const TrialTsvOptions& options = {});

// Kaldi/VPC form: scores `enrol test score`, key `enrol test target|nontarget`, fields between
// blanks, or tables whose header names the columns enrol, test and score or label. Trials come in
// the order of the key.
struct KaldiOptions {
  bool allow_missing = false;
};
Trials ReadKaldiTrials(const std::filesystem::path& scores, const std::filesystem::path& key,
                       const KaldiOptions& options = {});
Trials ParseKaldiTrials(std::string_view scores, const std::string& scores_name,
                        std::string_view key, const std::string& key_name,
                        const KaldiOptions& options = {});

// Speakers of enrol and test ids by Kaldi's utt2spk files (`utt spk`); an enrol id that no file
// names is taken for the speaker, as in VPC keys; a test id that no file names is an Error.
void AddSpeakers(Trials& trials, std::span<const std::filesystem::path> utt2spk_files);

// Two arrays, targets and non-targets, each `.npy` (one dimension, float64 or float32,
// little-endian) or `.f64` (raw little-endian float64).
Trials ReadTrialArrays(const std::filesystem::path& tar, const std::filesystem::path& non);
std::vector<double> ParseNpy(std::string_view bytes, const std::string& where);
std::vector<double> ParseF64(std::string_view bytes, const std::string& where);

}  // namespace sotto

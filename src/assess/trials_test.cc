#include "assess/trials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The message of the Error that `action` must throw.
template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return "";
}

std::string TsvError(const std::string& text) {
  return ErrorOf([&] { ParseTrialTsv(text, "f.tsv"); });
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TrialTsv, ColumnsStandInAnyOrderAndOthersAreIgnored) {
  const Trials trials = ParseTrialTsv(
      "score\textra\ttest\tlabel\tenrol\n1.5\tx\tt1\ttarget\te1\n-2e-3\ty\tt2\tnontarget\te1\n",
      "f.tsv");
  EXPECT_EQ(trials.scores, (std::vector<double>{1.5, -0.002}));
  EXPECT_EQ(trials.is_target, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(trials.enrol.At(1), "e1");
  EXPECT_EQ(trials.test.At(1), "t2");
  EXPECT_FALSE(trials.HasSpeakers());
}

TEST(TrialTsv, WindowsLineEndsByteOrderMarksEmptyLinesAndUtf8IdsAreRead) {
  const Trials trials = ParseTrialTsv(
      "\xEF\xBB\xBFlabel\tscore\tenrol\r\ntarget\t1\tJosé\r\n\r\nnontarget\t0\t测试", "f.tsv");
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials.enrol.At(0), "José");
  EXPECT_EQ(trials.enrol.At(1), "测试");
}

TEST(TrialTsv, InfinitiesAreScores) {
  const Trials trials = ParseTrialTsv(
      "label\tscore\ntarget\tinf\ntarget\t+inf\nnontarget\t-inf\nnontarget\t-Infinity\n", "f");
  EXPECT_EQ(trials.scores, (std::vector<double>{kInf, kInf, -kInf, -kInf}));
}

TEST(TrialTsv, NanIsAnErrorThatNamesTheLine) {
  for (const char* nan : {"nan", "NaN", "-nan"}) {
    const std::string error = TsvError(fmt::format("label\tscore\ntarget\t1\ntarget\t{}\n", nan));
    EXPECT_TRUE(Has(error, "f.tsv: line 3")) << error;
    EXPECT_TRUE(Has(error, "NaN")) << error;
  }
}

TEST(TrialTsv, WhatIsNoScoreLabelOrRowIsAnErrorThatNamesTheLine) {
  EXPECT_TRUE(Has(TsvError("label\tscore\ntarget\t1x\n"), "line 2: score '1x' is not a number"));
  EXPECT_TRUE(Has(TsvError("label\tscore\ntarget\t1e999\n"), "beyond double precision"));
  EXPECT_TRUE(Has(TsvError("label\tscore\ntgt\t1\n"), "line 2: label 'tgt'"));
  EXPECT_TRUE(Has(TsvError("label\tscore\ntarget\n"), "line 2 has 1 fields, the header has 2"));
  EXPECT_TRUE(Has(TsvError("label\tscore\ntarget\t1\t2\n"), "line 2 has 3 fields"));
  EXPECT_TRUE(Has(TsvError("label\tscores\n"), "no column 'score'"));
  EXPECT_TRUE(Has(TsvError("label\tlabel\tscore\n"), "'label' appears twice"));
  EXPECT_TRUE(Has(TsvError(""), "no header"));
}

TEST(TrialTsv, RowsWithoutAScoreAreCountedAndLeftOutOnlyWhenAllowed) {
  const std::string text =
      "enrol\tlabel\tscore\ttest\na\ttarget\t\tt\nb\ttarget\t1\tt\nc\tnontarget\t0\tt\n";
  EXPECT_TRUE(Has(TsvError(text), "1 of 3 trials have no score"));
  TrialTsvOptions options;
  options.allow_missing = true;
  const Trials trials = ParseTrialTsv(text, "f", options);
  EXPECT_EQ(trials.n_without_score, 1U);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials.enrol.At(0), "b");
  EXPECT_EQ(trials.test.index.size(), 2U);
}

TEST(TrialTsv, DuplicatesWithOneScoreAreKeptAndCountedWithTwoRefused) {
  const std::string head = "enrol\ttest\tlabel\tscore\na\tt\ttarget\t1\n";
  const Trials trials = ParseTrialTsv(head + "a\tt\ttarget\t1.0\nb\tt\tnontarget\t1\n", "f");
  EXPECT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials.n_duplicates, 1U);
  EXPECT_TRUE(Has(TsvError(head + "a\tt\ttarget\t2\n"), "trial 'a' 't' appears twice"));
  EXPECT_TRUE(Has(TsvError(head + "a\tt\tnontarget\t1\n"), "appears twice"));
}

TEST(TrialTsv, AnExtraColumnIsReadByNameAndMayBeAStandardOne) {
  TrialTsvOptions options;
  options.extra_column = "group";
  const std::string text = "label\tscore\tgroup\tenrol\ntarget\t1\tf\ta\nnontarget\t0\tm\tb\n";
  EXPECT_EQ(ParseTrialTsv(text, "f", options).extra.At(1), "m");
  options.extra_column = "enrol";
  const Trials both = ParseTrialTsv(text, "f", options);
  EXPECT_EQ(both.extra.At(1), "b");
  EXPECT_EQ(both.enrol.At(1), "b");
  options.extra_column = "age";
  EXPECT_THROW(ParseTrialTsv(text, "f", options), Error);
}

TEST(TrialTsv, AFileOfManyPiecesReadsAsItsText) {
  std::string text = "\xEF\xBB\xBFlabel\tscore\tenrol\ttest\r\n";
  for (int i = 0; i < 100000; ++i) {
    text += fmt::format("{}\t{}\te{}\tt{}\r\n", i % 3 == 0 ? "target" : "nontarget", i / 7.0,
                        i / 1000, i);
  }
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "t.tsv", text);
  const Trials from_file = ReadTrialTsv(folder / "t.tsv");
  const Trials from_text = ParseTrialTsv(text, "t");
  EXPECT_EQ(from_file.scores, from_text.scores);
  EXPECT_EQ(from_file.is_target, from_text.is_target);
  EXPECT_EQ(from_file.test.names, from_text.test.names);
  EXPECT_EQ(from_file.enrol.index, from_text.enrol.index);

  WriteFileAtomically(folder / "bad.tsv", text + "target\tx\te\tt\r\n");
  EXPECT_TRUE(Has(ErrorOf([&] { ReadTrialTsv(folder / "bad.tsv"); }), "line 100002"));
  EXPECT_THROW(ReadTrialTsv(folder / "none.tsv"), Error);
}

TEST(KaldiTrials, ScoresAndKeyAreJoinedInAnyOrder) {
  const Trials trials =
      ParseKaldiTrials("b t2 -1\na t1 2.5\n", "s", "a t1 target\nb\tt2  nontarget\r\n", "k");
  EXPECT_EQ(trials.scores, (std::vector<double>{2.5, -1.0}));
  EXPECT_EQ(trials.is_target, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(trials.enrol.At(0), "a");
}

TEST(KaldiTrials, TablesWithAHeaderAreReadToo) {
  const Trials trials =
      ParseKaldiTrials("score\tenrol\ttest\n2.5\ta\tt1\n0\tb\tt1\n", "s",
                       "label\ttest\tenrol\ntarget\tt1\ta\nnontarget\tt1\tb\n", "k");
  EXPECT_EQ(trials.scores, (std::vector<double>{2.5, 0.0}));
}

TEST(KaldiTrials, MissingScoresAndTrialsAreAnErrorWithCountsUnlessAllowed) {
  const char* scores = "a t1 1\na t3 2\na t4 3\n";
  const char* key = "a t1 target\na t2 nontarget\n";
  const std::string error = ErrorOf([&] { ParseKaldiTrials(scores, "s", key, "k"); });
  EXPECT_TRUE(Has(error, "1 of 2 trials of 'k' have no score, 2 of 3 scores of 's' no trial"))
      << error;
  const Trials trials = ParseKaldiTrials(scores, "s", key, "k", {true});
  EXPECT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials.n_without_score, 1U);
  EXPECT_EQ(trials.n_without_trial, 2U);
}

TEST(KaldiTrials, ContradictionsAreErrors) {
  EXPECT_TRUE(Has(ErrorOf([] { ParseKaldiTrials("a t 1\na t 2\n", "s", "a t target\n", "k"); }),
                  "s: trial 'a' 't' appears twice with different scores"));
  EXPECT_TRUE(
      Has(ErrorOf([] { ParseKaldiTrials("a t 1\n", "s", "a t target\na t nontarget\n", "k"); }),
          "k: trial 'a' 't' appears twice with different labels"));
  EXPECT_TRUE(Has(ErrorOf([] { ParseKaldiTrials("a t nan\n", "s", "a t target\n", "k"); }),
                  "s: line 1: score is NaN"));
  EXPECT_TRUE(Has(ErrorOf([] { ParseKaldiTrials("a t\n", "s", "a t target\n", "k"); }),
                  "s: line 1 has 2 fields"));
}

TEST(KaldiTrials, SpeakersComeFromUtt2SpkAndEnrolIdsMayBeSpeakers) {
  Trials trials =
      ParseKaldiTrials("s1 u1 1\ns1 u2 0\n", "s", "s1 u1 target\ns1 u2 nontarget\n", "k");
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "utt2spk", "u1 s1\nu2 s2\n");
  const std::vector<std::filesystem::path> files{folder / "utt2spk"};
  AddSpeakers(trials, files);
  EXPECT_EQ(trials.enrol_spk.At(0), "s1");
  EXPECT_EQ(trials.test_spk.At(1), "s2");
  WriteFileAtomically(folder / "utt2spk", "u1 s1\n");
  EXPECT_TRUE(Has(ErrorOf([&] { AddSpeakers(trials, files); }), "'u2' has no speaker"));
}

std::string Npy(const std::string& header, const std::string& body) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  return bytes + header + body;
}

template <typename Number>
std::string Bytes(std::vector<Number> values) {
  std::string bytes(values.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Arrays, NpyOfBothPrecisionsAndRawDoublesAreRead) {
  const std::string doubles = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }   \n";
  const std::string floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const std::vector<double> expected{1.5, -kInf};
  EXPECT_EQ(ParseNpy(Npy(doubles, Bytes<double>({1.5, -kInf})), "a.npy"), expected);
  EXPECT_EQ(ParseNpy(Npy(floats, Bytes<float>({1.5F, static_cast<float>(-kInf)})), "a.npy"),
            expected);
  EXPECT_EQ(ParseF64(Bytes<double>({1.5, -kInf}), "a.f64"), expected);
}

TEST(Arrays, BrokenNpyFilesAreErrors) {
  const auto header = [](const char* type, const char* shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  };
  const std::string two = Bytes<double>({1.0, 2.0});
  const std::string good = Npy(header("<f8", "(2,)"), two);
  EXPECT_EQ(ParseNpy(good, "a").size(), 2U);
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(ParseNpy(good.substr(0, n), "a"), Error) << n;
  }
  EXPECT_THROW(ParseNpy(Npy(header("<i8", "(2,)"), two), "a"), Error);
  EXPECT_THROW(ParseNpy(Npy(header(">f8", "(2,)"), two), "a"), Error);
  EXPECT_THROW(ParseNpy(Npy(header("<f8", "(1, 2)"), two), "a"), Error);
  EXPECT_THROW(ParseNpy(Npy(header("<f8", "(3,)"), two), "a"), Error);
  EXPECT_THROW(ParseNpy(Npy(header("<f8", "(1,)"), Bytes<double>({std::nan("")})), "a"), Error);
  EXPECT_THROW(ParseF64("1234567", "a"), Error);
  EXPECT_THROW(ParseF64(Bytes<double>({std::nan("")}), "a"), Error);
}

TEST(Arrays, TwoFilesMakeTrials) {
  const testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "tar.f64", Bytes<double>({2.0}));
  WriteFileAtomically(folder / "non.f64", Bytes<double>({0.0, 1.0}));
  const Trials trials = ReadTrialArrays(folder / "tar.f64", folder / "non.f64");
  EXPECT_EQ(trials.scores, (std::vector<double>{2.0, 0.0, 1.0}));
  EXPECT_EQ(trials.is_target, (std::vector<std::uint8_t>{1, 0, 0}));
  WriteFileAtomically(folder / "non.txt", "0\n");
  EXPECT_THROW(ReadTrialArrays(folder / "tar.f64", folder / "non.txt"), Error);
}

}  // namespace
}  // namespace sotto

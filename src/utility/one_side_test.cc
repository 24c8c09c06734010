// The originals are measured once: what the folder keeps gives the same figures.
#include "utility/one_side.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "onnx/testing.h"
#include "utility/utility.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;

void WriteCopy(const fs::path& folder, double factor) {
  std::string rows = "utt_id\tpath\tspeaker\tgender\ttext\n";
  double f0_hz = 100.0;
  for (const char* id : {"a1", "a2", "b1", "b2"}) {
    std::vector<float> x = SyntheticVowel(1.0, 16000, factor * (f0_hz += 20.0));
    if (std::string_view(id) == "b2") x.assign(16000, 0.0F);  // nobody spoke
    testing::WriteWav(folder / (std::string(id) + ".wav"), x);
    rows += fmt::format("{0}\t{0}.wav\t{1}\t{2}\tah\n", id, id[0], id[0] == 'a' ? "F" : "M");
  }
  WriteFileAtomically(folder / "manifest.tsv", rows);
}

// Without what a judge's work cost.
std::vector<std::string> Figures(const UtilityOptions& options) {
  const UtilityResult result = MeasureUtility(options);
  std::vector<std::string> lines;
  for (const Figure& figure : result.figures) {
    const Interval ends = figure.interval.value_or(Interval{});
    lines.push_back(fmt::format("{} {} {} {} {}", figure.name, figure.value, ends.low, ends.high,
                                figure.remark));
  }
  for (const MeasuredUtterance& one : result.measured) {
    lines.push_back(fmt::format("{}", fmt::join(one, " ")));
  }
  for (const RecogniserJudgement& one : result.recognisers) {
    lines.push_back(fmt::format("{} {} {} {}", one.name, one.reason, one.original.words.Errors(),
                                one.released.chars.Errors()));
  }
  return lines;
}

std::map<std::string, std::string> Contents(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    contents[entry.path().filename().string()] = ReadTextFile(entry.path());
  }
  return contents;
}

TEST(OneSide, KeptMeasuresGiveTheSameFiguresAndAreMadeOnce) {
  const TemporaryFolder folder;
  WriteCopy(folder / "o", 1.0);
  WriteCopy(folder / "p", 1.1);
  WriteCopy(folder / "q", 1.3);
  UtilityOptions options;
  options.original = folder / "o";
  options.released = folder / "p";
  options.recognisers = {RecogniserChoice::Parse("moonshine:2")};
  options.intervals.resamples = 10;
  const auto plain = Figures(options);
  options.cache = folder / "kept";
  EXPECT_EQ(Figures(options), plain);
  const auto kept = Contents(options.cache);
  EXPECT_GE(kept.size(), 2U);  // at least prosody and embeddings
  EXPECT_EQ(fs::status(options.cache).permissions(), fs::perms::owner_all);
  // Another copy needs nothing more of the originals, and gets figures of its own.
  options.released = folder / "q";
  EXPECT_NE(Figures(options), plain);
  EXPECT_EQ(Contents(options.cache), kept);
  // A changed original is measured anew.
  testing::WriteWav(folder / "o/a1.wav", SyntheticVowel(1.5, 16000, 200.0));
  Figures(options);
  EXPECT_EQ(Contents(options.cache).size(), 2 * kept.size());
}

TEST(OneSide, WhatCannotBeReadIsMeasuredAgain) {
  const testing::WithoutModels quick;
  const TemporaryFolder folder;
  WriteCopy(folder / "o", 1.0);
  WriteCopy(folder / "p", 1.1);
  UtilityOptions options;
  options.original = folder / "o";
  options.released = folder / "p";
  options.recognisers = {RecogniserChoice::Parse("moonshine:2")};
  options.intervals.resamples = 0;
  options.cache = folder / "kept";
  const auto first = Figures(options);
  const auto kept = Contents(options.cache);
  for (const auto& [name, content] : kept) {
    for (const std::string& damaged : {std::string(), content.substr(0, content.size() / 2),
                                       std::string("\x84\x01\x02\x03\x04")}) {
      WriteFileAtomically(options.cache / name, damaged);
      EXPECT_EQ(Figures(options), first) << name;
    }
  }
}

}  // namespace
}  // namespace sotto

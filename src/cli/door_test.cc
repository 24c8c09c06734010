// What comes from outside, through the real program: ids and texts that are no UTF-8 or hold
// escape sequences are refused with their line, and nothing a terminal would obey is printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/text.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::Sotto;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

// Refused, with words that name the place, and harmless to look at.
void ExpectRefused(const std::string& arguments, const std::string& place) {
  const Outcome outcome = Sotto(arguments);
  EXPECT_EQ(outcome.code, 1) << arguments << Printable(outcome.output);
  EXPECT_NE(outcome.output.find(place), std::string::npos) << Printable(outcome.output);
  EXPECT_EQ(FindUnclean(outcome.output), std::string::npos) << Printable(outcome.output);
}

// No UTF-8; an escape sequence; the same in one character of Latin 1's upper half; what turns the
// direction of writing.
const std::array<std::string, 4> kBad = {"sp\xE9k", "sp\x1b[31mk",
                                         "sp\xC2\x9B"
                                         "31mk",
                                         "sp\xE2\x80\xAEk"};

// A Kaldi data dir of two recordings; `bad` stands for the second utterance.
void MakeKaldi(const fs::path& folder, const std::string& bad) {
  WriteWav(folder / "wav/a.wav", SyntheticVowel(0.3, 16000));
  WriteFileAtomically(folder / "wav.scp", "a wav/a.wav\n" + bad + " wav/a.wav\n");
  WriteFileAtomically(folder / "utt2spk", "a s1\n" + bad + " s2\n");
}

TEST(Door, CorporaWithBadIdsAreRefusedByEveryVerb) {
  for (const std::string& bad : kBad) {
    const TemporaryFolder folder;
    MakeKaldi(folder / "in", bad);
    MakeKaldi(folder / "good", "b");
    const std::string in = (folder / "in").string(), out = (folder / "out").string(),
                      release = (folder / "release").string();
    const Outcome made =
        Sotto(fmt::format("anonymise --method mcadams {} {}", (folder / "good").string(), release));
    ASSERT_EQ(made.code, 0) << made.output;
    for (const std::string& verb :
         {fmt::format("check {}", in), fmt::format("check --json {}", in),
          fmt::format("anonymise --method mcadams {} {}", in, out),
          fmt::format("anonymise --method mcadams --json {} {}", in, out),
          fmt::format("embed {} {}", in, out),
          fmt::format("attack --original {} --protected {}", in, release),
          fmt::format("evaluate --method mcadams --original {} --report {}.html", in, out)}) {
      ExpectRefused(verb, "wav.scp: line 2");
    }
    EXPECT_FALSE(fs::exists(folder / "out/utt2spk"));
  }
}

TEST(Door, TranscriptsAndManifestsAreRefusedWithTheirLine) {
  for (const std::string& bad : kBad) {
    const TemporaryFolder folder;
    MakeKaldi(folder / "in", "b");
    WriteFileAtomically(folder / "in/text", "a hello\nb " + bad + "\n");
    ExpectRefused("check " + (folder / "in").string(), "text: line 2");
    WriteWav(folder / "m/a.wav", SyntheticVowel(0.3, 16000));
    WriteFileAtomically(folder / "m/manifest.tsv",
                        "utt_id\tpath\tspeaker\nu\ta.wav\ts\nv\ta.wav\t" + bad + "\n");
    for (const char* verb : {"check --json", "check"}) {
      ExpectRefused(fmt::format("{} {}", verb, (folder / "m").string()), "manifest.tsv: line 3");
    }
  }
}

TEST(Door, NamesOfFilesInAFolderAreRefusedAndShownEscaped) {
  for (const auto& [bad, shown] : {std::pair<std::string, std::string>{kBad[0], "sp\\xe9k"},
                                   {kBad[1], "sp\\u001b[31mk"},
                                   {kBad[2], "sp\\u009b31mk"},
                                   {"two\nlines", "two\\u000alines"}}) {
    const TemporaryFolder folder;
    WriteWav(folder / "in/a/1.wav", SyntheticVowel(0.3, 16000));
    WriteWav(folder / ("in/" + bad + "/1.wav"), SyntheticVowel(0.3, 16000));
    const std::string in = (folder / "in").string();
    ExpectRefused("check " + in, shown + "/1.wav: the name is not UTF-8");
    ExpectRefused("check --json " + in, "the name is not UTF-8");
    ExpectRefused(fmt::format("anonymise --method mcadams {} {}", in, (folder / "out").string()),
                  shown + "/1.wav");
  }
}

TEST(Door, ScoresAndKeysAreRefusedWithTheirLine) {
  for (const std::string& bad : kBad) {
    const TemporaryFolder folder;
    const std::string table = (folder / "t.tsv").string();
    WriteFileAtomically(
        table, "enrol\ttest\tlabel\tscore\na\tb\ttarget\t1\n" + bad + "\tc\tnontarget\t0\n");
    ExpectRefused("assess verify " + table, "t.tsv: line 3");
    ExpectRefused("assess verify --json " + table, "t.tsv: line 3");
    const std::string scores = (folder / "scores").string(), key = (folder / "key").string();
    WriteFileAtomically(scores, "a b 1\na c 0\n");
    WriteFileAtomically(key, "a b target\na " + bad + " nontarget\n");
    ExpectRefused(fmt::format("assess verify --scores {} --key {}", scores, key), "key: line 2");
    WriteFileAtomically(folder / "ref", "u1 one\nu2 " + bad + "\n");
    WriteFileAtomically(folder / "hyp", "u1 one\nu2 two\n");
    ExpectRefused(
        fmt::format("assess wer {} {}", (folder / "ref").string(), (folder / "hyp").string()),
        "ref: line 2");
    WriteFileAtomically(folder / "p.csv", "name,age\nx,1\n" + bad + ",2\n");
    ExpectRefused(fmt::format("dp kanon {} --quasi age", (folder / "p.csv").string()),
                  "p.csv: line 3");
  }
}

TEST(Door, EmbeddingsWithBadIdsAreRefused) {
  for (const std::string& bad : kBad) {
    const TemporaryFolder folder;
    fs::create_directory(folder / "e");
    WriteFileAtomically(folder / "e/xvector.ark", "a  [ 1 2 ]\n" + bad + "  [ 2 1 ]\n");
    WriteFileAtomically(folder / "e/utt2spk", "a s1\nb s2\n");
    const std::string e = (folder / "e").string();
    ExpectRefused(fmt::format("score --enrol {} --trials {}", e, e), "id 2 of 2");
    WriteFileAtomically(folder / "e/xvector.ark", "a  [ 1 2 ]\nb  [ 2 1 ]\n");
    WriteFileAtomically(folder / "e/utt2spk", "a s1\nb " + bad + "\n");
    ExpectRefused(fmt::format("score --enrol {} --trials {}", e, e), "utt2spk: line 2");
  }
}

TEST(Door, ArgumentsAreShownEscaped) {
  for (const std::string& bad : kBad) {
    ExpectRefused(fmt::format("check '/nonexistent/{}'", bad), "/nonexistent/sp\\");
    const Outcome usage = Sotto(fmt::format("check x '{}'", bad));
    EXPECT_EQ(usage.code, 2);
    EXPECT_EQ(FindUnclean(usage.output), std::string::npos) << Printable(usage.output);
    EXPECT_NE(usage.output.find("sp\\"), std::string::npos) << usage.output;
  }
}

// Those of the training program go through a library that prints by itself.
TEST(Door, TheTrainingProgramShowsThemEscapedToo) {
  if (Sotto("train content --help").code != 0) GTEST_SKIP() << "built without libtorch";
  for (const std::string& bad : kBad) {
    for (const char* form : {"--steps='{}'", "'--{}'"}) {
      const Outcome usage = Sotto("train content --pack p --features f --out x " +
                                  fmt::format(fmt::runtime(form), bad));
      EXPECT_NE(usage.code, 0);
      EXPECT_EQ(FindUnclean(usage.output), std::string::npos) << Printable(usage.output);
    }
  }
  const Outcome full = Sotto("train content --help > /dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.output.find("cannot write to standard output"), std::string::npos);
}

TEST(Door, PagesCarryNoRawNames) {
  const TemporaryFolder folder;
  std::string scores = "enrol\ttrial\tscore\tlabel\n";
  for (int i = 0; i < 40; ++i) {
    scores += fmt::format("a{0}\tb{0}\t{0}\t{1}\n", i, i % 2 == 0 ? "target" : "nontarget");
  }
  for (const std::string& bad : kBad) {
    const fs::path table = folder / (bad + "\xE2\x80\xAE.tsv"), page = folder / "p.html";
    WriteFileAtomically(table, scores);
    const Outcome made = Sotto(
        fmt::format("assess verify '{}' --report {} --bootstrap 0", table.string(), page.string()));
    ASSERT_EQ(made.code, 0) << Printable(made.output);
    EXPECT_EQ(FindUnclean(ReadTextFile(page)), std::string::npos);
  }
}

// A folder whose own name cannot be an id still works: its name is no id of a file in it.
TEST(Door, AFolderMayHaveAnyName) {
  const TemporaryFolder folder;
  WriteWav(folder / "in\xE9\x1b[2J/1.wav", SyntheticVowel(0.3, 16000));
  const std::string in = (folder / "in\xE9\x1b[2J").string();
  const Outcome outcome = Sotto(fmt::format("check --json '{}'", in));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(FindUnclean(outcome.output), std::string::npos);
  const Outcome made = Sotto(fmt::format("anonymise --method mcadams --json '{}' '{}'", in,
                                         (folder / "out\xE9").string()));
  EXPECT_EQ(made.code, 0) << made.output;
  EXPECT_EQ(FindUnclean(made.output), std::string::npos);
}

TEST(Door, AFullDiskUnderStandardOutputIsAnError) {
  const Outcome outcome =
      Sotto("dp account --mechanism laplace --epsilon 1 --delta 1e-6 --json > /dev/full");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.output.find("cannot write to standard output: No space left"),
            std::string::npos)
      << outcome.output;
  // Nobody is left to hear why.
  EXPECT_EQ(Sotto("check /nonexistent > /dev/full 2> /dev/full").code, 1);
}

}  // namespace
}  // namespace sotto

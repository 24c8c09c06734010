// sotto redact, run as a user would: what it writes and refuses, and that no word of a text is in
// anything but the result.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Shell;
using testing::Sotto;

// Words that nobody else writes: one that the list of own words finds, and one that nothing finds.
constexpr const char* kFound = "quorblefax";
constexpr const char* kUnfound = "zimtwurzel";

class Redact : public ::testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string File(const std::string& name, const std::string& content) const {
    WriteFileAtomically(folder_ / name, content);
    return At(name);
  }
  std::string Read(const std::string& name) const { return ReadTextFile(folder_ / name); }
  std::string Words() const { return File("words", std::string(kFound) + "\n"); }
  std::string Names() const {
    return File("names.tsv",
                "sotto-surrogates\t1\nsource\ta list\nmin_count\t1\n"
                "kind\tname\tgender\tcount\ttext\n"
                "word\tPER\tF\t3\tada lovelace\nword\tPER\tF\t1\tgrace hopper\n");
  }
  // Files of the folder that a run has left.
  std::size_t Left() const {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(folder_.Path()))
      files += entry.exists() ? 1 : 0;
    return files;
  }

  testing::TemporaryFolder folder_;
};

// One text in every format, with both words.
std::vector<std::pair<std::string, std::string>> Texts() {
  const std::string text = fmt::format("my name is anna {} and {} too", kFound, kUnfound);
  std::string ctm;
  int at = 0;
  for (const std::string& word :
       {std::string("anna"), std::string(kFound), std::string(kUnfound)}) {
    ctm += fmt::format("u 1 {}.0 0.5 {} 0.9\n", at++, word);
  }
  return {{"a.txt", text + "\n"},
          {"a.jsonl", fmt::format("{{\"text\":\"{}\",\"id\":\"x\"}}\n", text)},
          {"a.ctm", ctm},
          {"a.srt", fmt::format("1\n00:00:01,000 --> 00:00:02,000\n{}\n", text)},
          {"a.vtt", fmt::format("WEBVTT\n\n00:01.000 --> 00:02.000\n<v {}>{}\n", kUnfound, text)}};
}

bool HasMarker(const std::string& text) {
  return text.find(kFound) != std::string::npos || text.find(kUnfound) != std::string::npos;
}

TEST_F(Redact, NoWordOfTheTextIsInRecordsSummariesOrOnStandardError) {
  const std::string words = Words(), names = Names();
  const std::vector<std::string> ways = {
      "", "--json --recall 0.95",
      "--with surrogate --surrogates " + names + " --types PER --seed 3 --dialogue --p 1/2"};
  for (const auto& [name, text] : Texts()) {
    const std::string in = File(name, text);
    for (const std::string& way : ways) {
      SCOPED_TRACE(fmt::format("{} {}", name, way));
      const Outcome outcome = Sotto(fmt::format("redact {} --words {} {} --record {} --force", in,
                                                words, way, At("record.json")));
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_FALSE(HasMarker(outcome.err)) << outcome.err;
      EXPECT_EQ(outcome.out.find(kFound), std::string::npos) << outcome.out;
      const std::string record = Read("record.json");
      EXPECT_FALSE(HasMarker(record)) << record;
      EXPECT_EQ(record.find("anna"), std::string::npos) << record;
      EXPECT_GE(ParseJson(record)["found"]["WORD"].get<int>(), 1) << record;
    }
  }
}

// Every way to fail, with the words in all that is read.
TEST_F(Redact, NoWordOfTheTextIsInAMessageThatRefusesIt) {
  const std::string marked = fmt::format("{} {}", kFound, kUnfound);
  const std::string good = File("good.txt", marked + " is fine\n");
  const std::string bad_words = File("bad_words", marked + "\xFF\n");
  const std::string bad_key = File("bad_key", marked + "\n");
  const auto file = [&](const std::string& name, const std::string& text) {
    return File(name, text);
  };
  const std::string names = Names();
  const std::vector<std::string> commands = {
      file("encoding.txt", marked + "\n" + marked + "\xFF\n"),
      file("control.txt", marked + "\x1B[2J\n"),
      file("a.jsonl", "{\"text\":\"" + marked),
      file("b.jsonl", "{\"body\":\"" + marked + "\"}\n"),
      file("c.jsonl", marked + "\n"),
      file("d.jsonl", "{\"text\":{\"" + marked + "\":1}}\n"),
      file("e.jsonl", "{\"text\":\"" + marked + "\\ud800\"}\n"),
      file("f.jsonl", "{\"" + marked + "\":1}{\"text\":\"\"}\n"),
      file("a.ctm", marked + "\n"),
      file("b.ctm", "u 1 0 " + marked + "\n"),
      file("c.ctm", fmt::format("u 1 0.0 0.5 {} {}\n", kFound, kUnfound)),
      file("a.srt", marked + "\n"),
      file("b.srt", "1\n" + marked + " --> 2\n"),
      file("a.vtt", marked + "\n"),
      good + " --format ctm",
      good + " --words " + bad_words,
      good + " --words " + file("none", ""),
      good + " --model " + good,
      good + " --surrogates " + good + " --with surrogate",
      good + " --key " + bad_key + " --with surrogate",
      good + " --with surrogate --surrogates " + names + " --types LOC",
      good + " --with surrogate --p 1.5",
      good + " --p 0.5",
      good + " --types PER,NAME",
      good + " --recall 7",
      good + " -o " + good,
      good + " --dialogue",
      fmt::format("'{}.txt'", kFound),
      fmt::format("'{}/{}'", kFound, kUnfound),
      fmt::format("{} -{}", kFound, kUnfound),
      fmt::format("{} --{} {}", kFound, kUnfound, kFound),
      fmt::format("'{} \xFF'", marked),
      fmt::format("{} --format ctm", marked)};
  const std::size_t before = Left();
  bool as_json = false;
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    const Outcome outcome = Sotto(fmt::format("redact {} {} --record {}", command,
                                              as_json ? "--json" : "", At("record.json")));
    as_json = !as_json;
    EXPECT_NE(outcome.code, 0);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_FALSE(HasMarker(outcome.err)) << outcome.err;
    EXPECT_FALSE(outcome.err.empty());
    if (outcome.code == 1) {
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
    EXPECT_EQ(Left(), before) << "something was written";
  }
}

TEST_F(Redact, BadInputIsNamedByItsPlace) {
  const auto said = [&](const std::string& name, const std::string& text,
                        const std::string& flags = "") {
    return Sotto(fmt::format("redact {} {}", File(name, text), flags)).err;
  };
  EXPECT_EQ(said("a.txt", ""),
            fmt::format("sotto: '{}': empty; a text has at least a character\n", At("a.txt")));
  EXPECT_EQ(said("a.txt", "one\nab\xFF\n"),
            fmt::format("sotto: '{}': line 2, byte 3: no UTF-8; UTF-8 is read\n", At("a.txt")));
  EXPECT_EQ(said("a.txt", "a", "--with surrogate --p 2"),
            "sotto: --p '2': a probability from 0 to 1 of up to 15 digits is allowed, as 0.9 or "
            "9/10\n");
  EXPECT_TRUE(said("a.txt", "a", "--types XYZ").starts_with("sotto: 'XYZ' is no type of entity"));
  EXPECT_EQ(said("a.jsonl", "\n{\"a\":1}\n"),
            fmt::format("sotto: '{}': line 2: no field 'text'\n", At("a.jsonl")));
  EXPECT_NE(said("a.txt", "a", "--with surrogate --types LOC --surrogates " + Names()).find("LOC"),
            std::string::npos);
  EXPECT_EQ(Shell(testing::Binary() + " redact - < /dev/null").err,
            "sotto: standard input: empty; a text has at least a character\n");
}

TEST_F(Redact, ADamagedModelIsRefused) {
  const std::string model = File("m.safetensors", std::string(100, 'x'));
  const Outcome outcome = Sotto("redact --model " + model + " hello -o " + At("out"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_FALSE(fs::exists(At("out")));
}

TEST_F(Redact, MarksRightToLeftTextAndEmojiPassUnharmed) {
  const std::string text = "\xEF\xBB\xBFשלום quorblefax\r\n\u200Fمرحبا 👩🏽‍💻\n";
  const Outcome outcome =
      Sotto(fmt::format("redact {} --words {} --types EMAIL", File("a.txt", text), Words()));
  EXPECT_EQ(outcome.out, "\xEF\xBB\xBFשלום [WORD]\r\n\u200Fمرحبا 👩🏽‍💻\n")
      << outcome.err;
}

TEST_F(Redact, AFileIsReadToItsEndBeforeALineOfItIsWritten) {
  const std::string in = File("a.txt", "good\ngood\n\xFF\n");
  EXPECT_EQ(Sotto("redact " + in).out, "");
  EXPECT_EQ(Shell(fmt::format("cat {} | {} redact -", in, testing::Binary())).out, "good\ngood\n");
  EXPECT_EQ(Shell(fmt::format("cat {} | {} redact - -o {}", in, testing::Binary(), At("out"))).code,
            1);
  EXPECT_FALSE(fs::exists(At("out")));
}

TEST_F(Redact, LinesLeaveAPipelineAsTheyCome) {
  const Outcome outcome =
      Shell(fmt::format("coproc S {{ {} redact - --words {} 2>/dev/null; }}; "
                        "for i in 1 2 3; do echo \"$i {}\" >&${{S[1]}}; IFS= read -r -t 60 line "
                        "<&${{S[0]}} || exit 9; "
                        "echo \"got $line\"; done",
                        testing::Binary(), Words(), kFound));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.out, "got 1 [WORD]\ngot 2 [WORD]\ngot 3 [WORD]\n");
}

TEST_F(Redact, MemoryDoesNotGrowWithTheTextAndALineOfTenMegabytesIsRead) {
  const auto peak = [&](int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "the weather in the morning is good\n";
    const Outcome outcome =
        Sotto(std::vector<std::string>{"redact", File("a.txt", text), "-o", At("out"), "--force"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.peak_kilobytes;
  };
  const long few = peak(100);
  EXPECT_LT(peak(30000), few + 8000);
  std::string line = "my name is anna smith ";
  while (line.size() < (10U << 20)) line += std::string(5000, 'x') + " ";
  const Outcome outcome = Sotto(std::vector<std::string>{
      "redact", File("long.txt", line + kFound + "\n"), "--words", Words(), "-o", At("long")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string result = Read("long");
  EXPECT_TRUE(result.ends_with("x [WORD]\n"));
  EXPECT_EQ(result.find("anna"), std::string::npos);
}

TEST_F(Redact, OutputsAreNotReplacedWithoutForce) {
  const std::string in = File("a.txt", "hello\n"), out = File("out", "somebody's own");
  for (const char* flag : {"-o", "--record"}) {
    const Outcome outcome = Sotto(fmt::format("redact {} {} {}", in, flag, out));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.output,
              fmt::format("sotto: '{}' exists already and is not replaced without --force\n", out));
    EXPECT_EQ(Read("out"), "somebody's own");
  }
  EXPECT_EQ(Sotto(fmt::format("redact {} -o {} --force", in, out)).code, 0);
  EXPECT_EQ(Read("out"), "hello\n");
  EXPECT_TRUE(Has(Sotto(fmt::format("redact {0} -o {0} --force", in)), "input and output at once"));
  EXPECT_TRUE(Has(Sotto(fmt::format("redact {} --words {} --record {} --force", in, out, out)),
                  "input and output at once"));
  EXPECT_EQ(Read("a.txt"), "hello\n");
}

TEST_F(Redact, UnderAKeyATextHasTheSameSurrogatesAndUnderAnotherContextItsOwn) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += fmt::format("my name is anna smith, {}\n", i);
  const std::string run = fmt::format("redact {} --with surrogate --types PER --surrogates {}",
                                      File("a.txt", text), Names());
  const Outcome first = Sotto(run + " --key-out " + At("key"));
  ASSERT_EQ(first.code, 0) << first.err;
  struct stat info {};
  ASSERT_EQ(::stat(At("key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(Sotto(run + " --key " + At("key")).out, first.out);
  EXPECT_NE(Sotto(run + " --key " + At("key") + " --context b").out, first.out);
  EXPECT_NE(Sotto(run).out, first.out);
  EXPECT_NE(first.out.find("ada lovelace"), std::string::npos);
  EXPECT_EQ(first.out.find("anna"), std::string::npos);
}

TEST_F(Redact, ASeededRunSaysThatItProtectsNobody) {
  const std::string run = fmt::format(
      "redact --with surrogate --types PER --surrogates {} --seed 1 my name is anna smith",
      Names());
  const Outcome text = Sotto(run);
  EXPECT_NE(text.err.find("an experiment and protects nobody"), std::string::npos) << text.err;
  const Outcome json = Sotto(run + " --json");
  EXPECT_NE(ParseJson(json.err)["experiment"].get<std::string>().find("protect nobody"),
            std::string::npos);
}

TEST_F(Redact, ARecordSaysWhatIsMissedBeforeWhatIsFound) {
  const Outcome outcome =
      Sotto(fmt::format("redact --with surrogate --p 0.5 --types PER --surrogates {} --record {} "
                        "my name is anna smith",
                        Names(), At("r.json")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto record = ParseOrderedJson(Read("r.json"));
  const auto& epsilon = record["epsilon"];
  EXPECT_EQ(epsilon.begin().key(), "what_the_finder_misses");
  EXPECT_GT(epsilon["share_missed_on_held_out_text"]["PER"].get<double>(), 0.0);
  // π is 1/4 at least: ln((1/2 + 1/8)/(1/8)).
  EXPECT_NEAR(epsilon["of_each_entity_found"]["PER"].get<double>(), 1.6094379, 1e-6);
  EXPECT_EQ(epsilon["draws"], 1);
  EXPECT_NEAR(epsilon["if_all_entities_were_one_persons"].get<double>(), 1.6094379, 1e-6);
  EXPECT_GT(epsilon["the_sources_reading"]["PER"].get<double>(), 1.6094379);
  EXPECT_EQ(record["found"]["PER"], 1);
  EXPECT_EQ(record["finder"]["fingerprint"].get<std::string>().size(), 64U);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2) << outcome.err;
  EXPECT_NE(outcome.err.find("epsilon 1.61 each"), std::string::npos) << outcome.err;
}

TEST_F(Redact, TypesThatStayAreLeftAsTheyAre) {
  const std::string text = "'write to anna@example.com or see https://example.com/anna'";
  EXPECT_EQ(Sotto("redact " + text).out, "write to [EMAIL] or see [URL]\n");
  EXPECT_EQ(Sotto("redact --keep-types url,PER " + text).out,
            "write to [EMAIL] or see https://example.com/anna\n");
  EXPECT_EQ(Sotto("redact --types URL " + text).out, "write to anna@example.com or see [URL]\n");
}

}  // namespace
}  // namespace sotto

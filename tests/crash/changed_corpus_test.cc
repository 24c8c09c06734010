// Between a kill and the same command again something changes: the corpus, of which the outcome is
// then that of a fresh run, or an output, which is made again.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <set>

#include "base/files.h"
#include "base/random.h"
#include "base/tsv.h"
#include "small_run.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

bool IsSound(const std::string& name) { return name.ends_with(".flac") || name.ends_with(".wav"); }

// The names of finished recordings.
std::vector<std::string> Outputs(const Tree& tree) {
  std::vector<std::string> names;
  for (const auto& [name, content] : tree) {
    if (IsSound(name) && name.find(".sotto-work") == std::string::npos) names.push_back(name);
  }
  return names;
}

// What is left by kills after each output got its name: at once, when the state may not know of it
// yet, and some calls later, when it does.
std::vector<Tree> Unfinished(const SmallRun& run, const std::vector<std::string>& command) {
  run.Clear();
  std::vector<Tree> left;
  std::size_t changes = 0;
  for (const FileOperation& operation : run.Operations(command)) {
    changes += CountChanges({operation});
    if (!operation.path2.starts_with(run.Made("out/")) || !IsSound(operation.path2)) continue;
    for (const std::size_t later : {1, 6}) {
      run.Clear();
      const Outcome outcome = run.KilledAt(command, changes + later);
      Tree tree = run.Result();
      if (outcome.signal == SIGKILL && !SaysComplete(tree)) left.push_back(std::move(tree));
    }
  }
  run.Clear();
  return left;
}

// A run that was killed at several places, then its corpus changes.
class Changing {
 public:
  Changing(const SmallRun& run, std::vector<std::string> command)
      : run_(run),
        command_(std::move(command)),
        left_(Unfinished(run, command_)),
        original_(ReadTree(run.In())),
        before_(run.Reference(command_)) {}

  void Expect(const std::string& what, const std::function<void()>& change) const {
    ASSERT_GE(left_.size(), 4U);
    change();
    const Tree expected = run_.Reference(command_);
    ASSERT_NE(Difference(before_, expected), "") << what << " makes no difference";
    for (const Tree& tree : left_) {
      WriteTree(run_.Made(), tree);
      const std::string where = fmt::format("{} after {} of 4 outputs", what, Outputs(tree).size());
      const Outcome outcome = Sotto(command_);
      EXPECT_EQ(outcome.code, 0) << where << "\n" << outcome.Text();
      EXPECT_EQ(Difference(expected, run_.Result()), "") << where << "\n" << outcome.Text();
      const bool says = Has(outcome, "changed") || Has(outcome, "withdrawn") ||
                        Has(outcome, "removed") || Has(outcome, "again:");
      EXPECT_TRUE(says || Outputs(tree).size() < 4) << where << "\n" << outcome.Text();
      if (::testing::Test::HasFailure()) break;
    }
    WriteTree(run_.In(), original_);
  }

 private:
  const SmallRun& run_;
  const std::vector<std::string> command_;
  const std::vector<Tree> left_;
  const Tree original_, before_;
};

// Takes the lines that begin with one of `ids` out of the tables.
void Withdraw(const SmallRun& run, const std::set<std::string>& ids) {
  for (const char* name : {"wav.scp", "utt2spk", "text", "segments", "spk2gender"}) {
    if (!fs::exists(run.In(name))) continue;
    std::string kept;
    const std::string text = ReadTextFile(run.In(name));
    for (const std::string_view line : SplitLines(text)) {
      if (!ids.contains(std::string(line.substr(0, line.find(' ')))))
        kept += std::string(line) + "\n";
    }
    WriteFileAtomically(run.In(name), kept);
  }
}

void Replace(const std::string& file, const std::string& from, const std::string& to) {
  std::string text = ReadTextFile(file);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << file << ": " << from;
  WriteFileAtomically(file, text.replace(at, from.size(), to));
}

// Another voice of the same length, under the same name and with the same time: only its content
// tells.
void ReplaceVoice(const SmallRun& run, const std::string& name) {
  const auto time = fs::last_write_time(run.In(name));
  const auto size = fs::file_size(run.In(name));
  run.WriteVoice(name, 91);
  ASSERT_EQ(fs::file_size(run.In(name)), size);
  fs::last_write_time(run.In(name), time);
}

TEST(ChangedCorpusSlow, SegmentsAndTables) {
  const SmallRun run(SmallRun::Corpus::kSegments);
  const Changing changing(run, run.WithKey());
  changing.Expect("a segment is withdrawn", [&] { Withdraw(run, {"anna-1a"}); });
  changing.Expect("a recording is withdrawn", [&] {
    Withdraw(run, {"ben-3", "ben-3a", "ben-3b"});
  });
  changing.Expect("a segment begins later",
                  [&] { Replace(run.In("segments"), "0.02 0.12", "0.03 0.12"); });
  changing.Expect("an utterance has other words",
                  [&] { Replace(run.In("text"), "the words of ben-4a", "no words"); });
  changing.Expect("an utterance is another speaker's",
                  [&] { Replace(run.In("utt2spk"), "anna-2a anna", "anna-2a ben"); });
}

TEST(ChangedCorpusSlow, RecordingsUnderNewIds) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  const Changing changing(run, run.WithKey({"--new-ids", "--map-out", run.Made("map.tsv")}));
  changing.Expect("a recording is withdrawn", [&] { Withdraw(run, {"anna-2"}); });
  changing.Expect("a speaker is withdrawn", [&] { Withdraw(run, {"ben-3", "ben-4", "ben"}); });
  changing.Expect("an input is replaced", [&] { ReplaceVoice(run, "sound/anna-2.wav"); });
}

TEST(ChangedCorpusSlow, FoldersOfSpeakers) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const Changing changing(run, run.WithKey());
  changing.Expect("a file is withdrawn", [&] { fs::remove(run.In("ben/3.flac")); });
  changing.Expect("a folder is withdrawn", [&] { fs::remove_all(run.In("anna")); });
  changing.Expect("an input is replaced", [&] { ReplaceVoice(run, "ben/4.wav"); });
  changing.Expect("a file is added", [&] { run.WriteVoice("ben/5.wav", 12); });
}

// What is drawn for a speaker follows from all of that speaker's recordings.
TEST(ChangedCorpusSlow, AMethodFittedToASpeakerRedoesAllOfThatSpeaker) {
  const SmallRun run(SmallRun::Corpus::kKaldi);
  run.WriteVoice("sound/anna-1.flac", 1, 0.6);  // enough to fit to without the other
  const auto command = run.WithKey({"--pitch", "target"});
  const Tree before = run.Reference(command);
  const Tree original = ReadTree(run.In());
  ReplaceVoice(run, "sound/anna-2.wav");
  const Tree after = run.Reference(command);
  WriteTree(run.In(), original);
  EXPECT_NE(before.at("out/wav/anna-1.flac"), after.at("out/wav/anna-1.flac"));
  EXPECT_EQ(before.at("out/wav/ben-3.flac"), after.at("out/wav/ben-3.flac"));
  const Changing changing(run, command);
  changing.Expect("an input is replaced", [&] { ReplaceVoice(run, "sound/anna-2.wav"); });
  changing.Expect("a recording is withdrawn", [&] { Withdraw(run, {"anna-2"}); });
}

TEST(DamagedOutputSlow, IsMadeAgain) {
  const SmallRun run(SmallRun::Corpus::kSegments);
  const auto command = run.WithKey();
  const std::vector<Tree> left = Unfinished(run, command);
  const Tree expected = run.Reference(command);
  ASSERT_GE(left.size(), 4U);
  using Damage = std::function<void(std::string&)>;
  const std::pair<const char*, Damage> damages[] = {
      {"halved", [](std::string& bytes) { bytes.resize(bytes.size() / 2); }},
      {"its tail zeroed",
       [](std::string& bytes) { std::fill(bytes.end() - 400, bytes.end(), '\0'); }},
      {"one byte flipped", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; }},
      {"emptied", [](std::string& bytes) { bytes.clear(); }},
      {"longer", [](std::string& bytes) { bytes += bytes.substr(0, 100); }}};
  for (const Tree& tree : left) {
    for (const std::string& name : Outputs(tree)) {
      for (const auto& [how, damage] : damages) {
        Tree damaged = tree;
        damage(damaged[name]);
        WriteTree(run.Made(), damaged);
        const Outcome outcome = Sotto(command);
        ASSERT_EQ(outcome.code, 0) << name << " " << how << "\n" << outcome.Text();
        ASSERT_EQ(Difference(expected, run.Result()), "") << name << " " << how;
      }
    }
  }
}

TEST(DamagedState, EndsWithTheSameReleaseOrOneClearLine) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const auto command = run.WithKey();
  const Tree expected = run.Reference(command);
  const std::vector<Tree> unfinished = Unfinished(run, command);
  ASSERT_FALSE(unfinished.empty());
  const Tree& left = unfinished.back();
  const std::string& state = left.at("out/.sotto-work/state");
  SeededRng rng(22);
  for (int i = 0; i < 60; ++i) {
    Tree damaged = left;
    std::string& bytes = damaged["out/.sotto-work/state"];
    if (i % 3 == 0) bytes.resize(rng.Below(state.size()));
    if (i % 3 == 1) bytes[rng.Below(state.size())] ^= static_cast<char>(1 << rng.Below(8));
    if (i % 3 == 2)
      bytes.insert(rng.Below(state.size()), state.substr(rng.Below(state.size()), 40));
    WriteTree(run.Made(), damaged);
    const Outcome outcome = Sotto(command);
    const Tree result = run.Result();
    if (outcome.code == 0) {
      ASSERT_EQ(Difference(expected, result), "") << bytes;
    } else {
      ASSERT_EQ(outcome.code, 1) << outcome.Text() << bytes;
      ASSERT_TRUE(outcome.err.starts_with("sotto: ")) << outcome.Text();
      ASSERT_FALSE(SaysComplete(result)) << outcome.Text();
    }
  }
}

TEST(DamagedState, OfAnEarlierVersionIsNamedAsSuch) {
  const SmallRun run(SmallRun::Corpus::kFolder);
  const std::string state = "sotto run state 1\ngiven\n" + std::string(64, 'a') + "\n";
  const Tree left = {{"out/", ""}, {"out/.sotto-work/", ""}, {"out/.sotto-work/state", state}};
  WriteTree(run.Made(), left);
  const Outcome outcome = Sotto(run.WithKey());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome, "earlier version")) << outcome.Text();
  EXPECT_FALSE(Has(outcome, "damaged")) << outcome.Text();
  EXPECT_EQ(run.Result().at("out/.sotto-work/state"), state);
}

}  // namespace
}  // namespace sotto::testing

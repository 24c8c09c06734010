// sotto evaluate, run as a user would, and killed.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/testing.h"
#include "evaluate/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Outcome;
using testing::TemporaryFolder;

std::vector<std::string> Words(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "evaluate");
  return arguments;
}

Outcome Evaluated(const std::vector<std::string>& arguments) {
  return testing::Sotto(Words(arguments), {}, 800.0);
}

// Kills the run as soon as `reached` holds; false when it ended before.
bool KilledWhen(const std::vector<std::string>& arguments, const std::function<bool()>& reached) {
  testing::Program run(testing::SottoWords(Words(arguments)));
  while (!run.HasEnded()) {
    if (reached()) {
      run.Kill();
      return run.Wait().signal == SIGKILL;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

std::size_t FilesNamed(const fs::path& folder, const std::string& name) {
  std::size_t n = 0;
  std::error_code gone;  // files come and go while we look
  for (fs::recursive_directory_iterator at(folder, gone), end; at != end; at.increment(gone)) {
    const std::string file = at->path().filename().string();
    n += file == name || (name[0] == '.' && at->path().extension() == name) ? 1 : 0;
  }
  return n;
}

class EvaluateCliSlow : public ::testing::Test {
 protected:
  void SetUp() override {
    SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
    testing::LinkSmallCorpus(folder_ / "o", 2);
  }
  // With a seed two methods, without one.
  std::vector<std::string> Arguments(const std::string& name, bool seed = true) const {
    std::vector<std::string> list = {
        "--original",       At("o"),        "--method",           "mcadams",     "--strategy",
        "random",           "--recogniser", "moonshine:4",        "--bootstrap", "20",
        "--quick",          "--json",       "--evidence-key-out", At("key"),     "--evidence",
        At(name + ".json"), "--report",     At(name + ".html")};
    if (seed) list.insert(list.end(), {"--seed", "7", "--method", "mcadams:alpha=0.6:0.8"});
    return list;
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  // What the page and the evidence are made of, without what depends on the machine's time.
  static json Output(const Outcome& outcome) {
    json result = json::parse(outcome.out);
    result.erase("steps");
    for (json& cell : result["cells"]) {
      cell.erase("rtf");
      cell.erase("rtf_reason");
    }
    return result;
  }

  const TemporaryFolder folder_;
};

TEST_F(EvaluateCliSlow, KilledThreeTimesItComesToTheSameResult) {
  const Outcome in_one_go = Evaluated(Arguments("whole"));
  ASSERT_EQ(in_one_go.code, 0) << in_one_go.Text();
  const fs::path work = At("cut-work");
  const auto run = Arguments("cut");
  EXPECT_TRUE(KilledWhen(run, [&] { return FilesNamed(work, ".flac") >= 3; }));
  EXPECT_TRUE(KilledWhen(run, [&] { return FilesNamed(work / "voiceprints", ".ark") >= 3; }));
  EXPECT_TRUE(KilledWhen(run, [&] { return FilesNamed(work, "protect.json") == 2; }));
  EXPECT_EQ(FilesNamed(work, "utility.json"), 1U);
  EXPECT_FALSE(fs::exists(At("cut.html")));
  const Outcome resumed = Evaluated(run);
  ASSERT_EQ(resumed.code, 0) << resumed.Text();
  EXPECT_EQ(Output(resumed), Output(in_one_go));
  json cut = json::parse(ReadTextFile(At("cut.json")));
  json whole = json::parse(ReadTextFile(At("whole.json")));
  EXPECT_EQ(cut["originals"], whole["originals"]);
  for (std::size_t c = 0; c < 2; ++c) {  // the same sound, to the last bit
    EXPECT_EQ(cut["protections"][c]["protected"], whole["protections"][c]["protected"]);
  }
  struct stat info {};
  ASSERT_EQ(::stat(At("key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(EvaluateCliSlow, AKilledRunWithAKeyOfItsOwnGoesOn) {
  const fs::path work = At("keyed-work");
  const auto run = Arguments("keyed", false);
  EXPECT_TRUE(KilledWhen(run, [&] { return FilesNamed(work, ".flac") >= 3; }));
  const Outcome resumed = Evaluated(run);
  ASSERT_EQ(resumed.code, 0) << resumed.Text();
  const json result = json::parse(resumed.out);
  EXPECT_EQ(result["cells"][0]["randomness"], "fresh key from the operating system");
  bool informed = false;
  for (const json& one : result["cells"][0]["attackers"]) {
    informed = informed || (one["attacker"] == "informed" && one["status"] == "run");
  }
  EXPECT_TRUE(informed);  // the key was kept for it
}

TEST(EvaluateCli, BadUsageIsExitCodeTwo) {
  const TemporaryFolder folder;
  const auto code = [&](const std::vector<std::string>& arguments) {
    return Evaluated(arguments).code;
  };
  const std::string report = folder / "r.html";
  EXPECT_EQ(code({}), 2);
  EXPECT_EQ(code({"--original", "o", "--method", "mcadams"}), 2);
  EXPECT_EQ(code({"--original", "o", "--method", "robot", "--report", report}), 2);
  EXPECT_EQ(code({"--original", "o", "--method", "mcadams:alpha=9", "--report", report}), 2);
  EXPECT_EQ(code({"--original", "o", "--method", "mcadams", "--recogniser", "whisper", "--report",
                  report}),
            2);
  EXPECT_EQ(code({"--original", "o", "--method", "neural:streaming,target=voice-ind,eps=1",
                  "--strategy", "random", "--report", report}),
            2);  // no max-draws
  EXPECT_EQ(code({"--original", "/nonexistent", "--method", "mcadams", "--report", report}), 1);
  EXPECT_FALSE(fs::exists(report));
}

}  // namespace
}  // namespace sotto

// sotto evaluate, run as a user would, and killed.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "evaluate/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::TemporaryFolder;

// Starts the program, its output in `out`.
pid_t Start(const std::vector<std::string>& arguments, const fs::path& out) {
  std::vector<std::string> words = {SOTTO_BINARY, "evaluate"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, STDOUT_FILENO);
    ::execv(SOTTO_BINARY, argv.data());
    ::_exit(127);
  }
  return child;
}

int Wait(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Kills the run as soon as `reached` holds; false when it ended before.
bool KillWhen(pid_t child, const std::function<bool()>& reached) {
  for (int status = 0; ::waitpid(child, &status, WNOHANG) == 0;) {
    if (reached()) {
      ::kill(child, SIGKILL);
      const int killed = Wait(child);
      return WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL;
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
  json Output(const std::string& name) const {
    json result = json::parse(ReadTextFile(At(name)));
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
  ASSERT_EQ(Wait(Start(Arguments("whole"), At("whole.out"))), 0);
  const fs::path work = At("cut-work");
  const auto run = [&] { return Start(Arguments("cut"), At("cut.out")); };
  EXPECT_TRUE(KillWhen(run(), [&] { return FilesNamed(work, ".flac") >= 3; }));
  EXPECT_TRUE(KillWhen(run(), [&] { return FilesNamed(work / "voiceprints", ".ark") >= 3; }));
  EXPECT_TRUE(KillWhen(run(), [&] { return FilesNamed(work, "protect.json") == 2; }));
  EXPECT_EQ(FilesNamed(work, "utility.json"), 1U);
  EXPECT_FALSE(fs::exists(At("cut.html")));
  ASSERT_EQ(Wait(run()), 0);
  EXPECT_EQ(Output("cut.out"), Output("whole.out"));
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
  const auto run = [&] { return Start(Arguments("keyed", false), At("keyed.out")); };
  EXPECT_TRUE(KillWhen(run(), [&] { return FilesNamed(work, ".flac") >= 3; }));
  ASSERT_EQ(Wait(run()), 0);
  const json result = json::parse(ReadTextFile(At("keyed.out")));
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
    return WEXITSTATUS(Wait(Start(arguments, folder / "out")));
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

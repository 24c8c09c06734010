// What the program trusts and what it keeps to itself, run as a user would: models that somebody
// changed, caches of voiceprints, a key in memory.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "onnx/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

unsigned Mode(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

TEST(TrustCli, AChangedModelEndsTheRunUnlessItIsTrusted) {
  const std::string name = "silero/silero_vad_v5.onnx";
  SOTTO_NEEDS_MODEL(name);
  const TemporaryFolder folder;
  MakeFolder(folder / "models/silero");
  std::string bytes = ReadTextFile(testing::TestModels().Require(name));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);  // among the weights
  WriteFileAtomically(folder / "models" / name, bytes);
  WriteWav(folder / "x.wav", SyntheticVowel(1.0, 16000));
  const std::string arguments =
      fmt::format("utility --original {0} --protected {0} --bootstrap 0 --models {1}",
                  (folder / "x.wav").string(), (folder / "models").string());
  const Outcome refused = Sotto(arguments);
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(Has(refused, (folder / "models" / name).string())) << refused.output;
  EXPECT_TRUE(Has(refused, "--trust-models")) << refused.output;
  const Outcome taken = Sotto(arguments + " --trust-models");
  EXPECT_EQ(taken.code, 0) << taken.output;
}

TEST(TrustCli, EveryVerbThatMayOpenAModelCanBeToldToTrustIt) {
  for (const char* verb : {"anonymise", "stream", "utility", "evaluate", "attack", "embed",
                           "verify", "train features"}) {
    EXPECT_TRUE(Has(Sotto(std::string(verb) + " --help"), "--trust-models")) << verb;
  }
}

TEST(TrustCli, TheCacheOfEmbedIsItsOwnersAlone) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/s/a.wav", SyntheticVowel(1.0, 16000));
  const Outcome outcome =
      Sotto(fmt::format("embed {} {} --cache {}", (folder / "in").string(),
                        (folder / "out").string(), (folder / "cache").string()));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(Mode(folder / "cache"), 0700U);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "cache")) {
    EXPECT_EQ(Mode(entry.path()), 0600U) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

std::string LineOf(const fs::path& path, const std::string& start) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(start, 0) == 0) return line;
  }
  return "no line " + start;
}

// A stream that draws anew after pauses holds its key for as long as it runs: here until its input
// ends.
TEST(TrustCli, AProcessWithAKeyLeavesNoCoreDumpAndLocksItsPage) {
  std::array<int, 2> input{};
  ASSERT_EQ(::pipe2(input.data(), O_CLOEXEC), 0);
  rlimit before{};  // what the program starts with, as all limits, is ours
  ::getrlimit(RLIMIT_CORE, &before);
  const rlimit most{before.rlim_max, before.rlim_max};
  ::setrlimit(RLIMIT_CORE, &most);
  testing::Program stream(
      testing::SottoWords({"stream", "--method", "neural", "--strategy", "random"}), {}, input[0]);
  ::setrlimit(RLIMIT_CORE, &before);
  // Its latency: the key is drawn.
  while (stream.ErrSoFar().empty() && !stream.HasEnded()) ::usleep(1000);
  const fs::path process = fs::path("/proc") / std::to_string(stream.Id());
  const std::string core = LineOf(process / "limits", "Max core file size");
  EXPECT_EQ(core.find_first_not_of(' ', 18), core.find("0 ")) << core;
  rlimit lockable{};
  ::getrlimit(RLIMIT_MEMLOCK, &lockable);
  if (lockable.rlim_cur >= 65536) {
    const std::string locked = LineOf(process / "status", "VmLck:");
    EXPECT_EQ(locked.find("\t       0 kB"), std::string::npos) << locked;
  }
  ::close(input[1]);
  ::close(input[0]);
  EXPECT_EQ(stream.Wait().code, 0);
}

}  // namespace
}  // namespace sotto

// The vocoder methods work through a file in blocks: a long one takes no more memory than a short.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <vector>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Three seconds of a vowel and one of silence, again and again.
void WriteMinutes(const fs::path& path, int minutes) {
  auto piece = testing::SyntheticVowel(3.0, 16000, 130.0);
  piece.resize(64000, 0.0F);
  SoundWriter writer(path, SoundFormat{});
  for (int i = 0; i < 15 * minutes; ++i) writer.Write(piece);
  writer.Close();
}

// The most memory (kB) the program held while it ran with these arguments.
long PeakMemory(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SOTTO_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return usage.ru_maxrss;
}

TEST(MemorySlow, DoesNotGrowWithTheFile) {
  const testing::TemporaryFolder folder;
  const fs::path brief = folder.Path() / "brief.wav", lengthy = folder.Path() / "lengthy.wav";
  WriteMinutes(brief, 3);
  WriteMinutes(lengthy, 12);
  for (const std::string method : {"voicemask", "vtln", "neural"}) {
    const auto peak = [&](const fs::path& in) {
      return static_cast<double>(
          PeakMemory({"anonymise", in, folder.Path() / (method + in.filename().string()),
                      "--method", method}));
    };
    const double small = peak(brief), large = peak(lengthy);
    EXPECT_LT(large, 1.3 * small) << method << ": " << small << " and " << large << " kB";
    RecordProperty(method + "_kb", std::to_string(std::lround(large)));
  }
}

}  // namespace
}  // namespace sotto

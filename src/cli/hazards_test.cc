// Things that are no files, never end, change under the reader's hands or leave no room: each gets
// a line from the real program, and none makes it wait for ever.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Shell;
using testing::Sotto;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteAny;
using testing::WriteWav;

void ExpectOneLine(const std::string& arguments, const std::string& words) {
  const Outcome outcome = Sotto(arguments);
  EXPECT_EQ(outcome.code, 1) << arguments << outcome.output;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  EXPECT_TRUE(Has(outcome, words)) << arguments << outcome.output;
}

void ExpectProblem(const fs::path& corpus, const std::string& words) {
  const Outcome outcome = Sotto("check " + corpus.string());
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_TRUE(Has(outcome, words)) << outcome.output;
}

TEST(Hazards, PipesAndDevicesAreNoFiles) {
  const TemporaryFolder folder;
  const std::string fifo = (folder / "fifo").string(), out = (folder / "out").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  WriteWav(folder / "x.wav", SyntheticVowel(0.2, 16000));
  const std::string wav = (folder / "x.wav").string();
  for (const auto& [path, kind] :
       {std::pair<std::string, std::string>{fifo, "named pipe"}, {"/dev/zero", "device"}}) {
    for (const std::string& verb :
         {fmt::format("anonymise --method mcadams {} {}.wav", path, out),
          fmt::format("check {}", path),
          fmt::format("anonymise --method mcadams --key {} {} {}.wav", path, wav, out),
          fmt::format("anonymise --method vtln --pool {} {} {}.wav", path, wav, out),
          fmt::format("assess verify {}", path), fmt::format("assess fairness {}", path),
          fmt::format("assess wer {0} {0}", path),
          fmt::format("assess verify --scores {0} --key {0}", path),
          fmt::format("dp kanon {} --quasi a", path), fmt::format("verify {} {}", path, wav),
          fmt::format("embed --encoder {} {} {}", path, folder.Path().string(), out)}) {
      ExpectOneLine(verb, fmt::format("'{}' is a {}, not a file", path, kind));
    }
  }
  EXPECT_FALSE(fs::exists(out));
}

TEST(Hazards, TablesThatNeverEndAreRefused) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/wav/a.wav", SyntheticVowel(0.2, 16000));
  WriteFileAtomically(folder / "in/wav.scp", "a wav/a.wav\n");
  WriteFileAtomically(folder / "in/utt2spk", "a s\n");
  fs::create_symlink("/dev/zero", folder / "in/text");
  const std::string in = (folder / "in").string();
  ExpectOneLine("check " + in, "text' is a device, not a file");
  fs::remove(folder / "in/text");
  ASSERT_EQ(::mkfifo((folder / "in/text").c_str(), 0600), 0);
  ExpectOneLine("check " + in, "text' is a named pipe, not a file");
  fs::remove(folder / "in/text");
  fs::create_symlink("nowhere", folder / "in/text");
  ExpectOneLine("check " + in, "cannot open");
  fs::remove(folder / "in/text");
  std::ofstream(folder / "in/text").put('x');
  fs::resize_file(folder / "in/text", std::uint64_t{3} << 30);
  ExpectOneLine("check " + in, "is too large");
  // A pipe without end: a line that goes on and on.
  ExpectOneLine("assess verify <(cat /dev/zero)", "line 1 is longer than");
  ExpectOneLine("assess verify /dev/stdin < /dev/zero", "is a device");
}

// Pipes between programs stay good for tables.
TEST(Hazards, TablesComeThroughPipesAsBefore) {
  const TemporaryFolder folder;
  std::string table = "label\tscore\n";
  for (int i = 0; i < 200; ++i) {
    table += fmt::format("{}\t{}\n", i % 2 == 0 ? "target" : "nontarget", i % 7 + i % 2);
  }
  WriteFileAtomically(folder / "t.tsv", table);
  const std::string path = (folder / "t.tsv").string();
  const Outcome direct = Sotto("assess verify --bootstrap 0 " + path);
  EXPECT_EQ(direct.code, 0) << direct.output;
  EXPECT_EQ(Sotto(fmt::format("assess verify --bootstrap 0 <(sleep 0.2; cat {})", path)).output,
            direct.output);
  EXPECT_EQ(Shell(fmt::format("cat {} | {} assess verify --bootstrap 0 /dev/stdin", path,
                              testing::Binary()))
                .output,
            direct.output);
}

TEST(Hazards, LinksInAFolderAreFollowedOrNamed) {
  const TemporaryFolder folder;
  WriteWav(folder / "elsewhere/1.wav", SyntheticVowel(0.2, 16000));
  WriteWav(folder / "in/a/1.wav", SyntheticVowel(0.2, 16000));
  fs::create_symlink("../elsewhere", folder / "in/b");
  const Outcome followed = Sotto("check " + (folder / "in").string());
  EXPECT_EQ(followed.code, 0) << followed.output;
  EXPECT_TRUE(Has(followed, "2 recordings, 2 utterances, 2 speakers")) << followed.output;
  const std::string run = fmt::format("anonymise --method mcadams {} {}", (folder / "in").string(),
                                      (folder / "out").string());
  EXPECT_EQ(Sotto(run).code, 0);
  EXPECT_TRUE(fs::exists(folder / "out/b/1.wav"));
  fs::create_symlink("nowhere", folder / "in/c");
  ExpectProblem(folder / "in", "c: the link leads nowhere");
  fs::remove(folder / "in/c");
  fs::create_symlink("..", folder / "in/a/up");
  ExpectProblem(folder / "in", "a/up: a link to the folder '.', which is part of the corpus");
  fs::remove(folder / "in/a/up");
  fs::create_symlink("a", folder / "in/twin");
  ExpectProblem(folder / "in", "twin: a link to the folder 'a'");
  fs::remove(folder / "in/twin");
  ASSERT_EQ(::mkfifo((folder / "in/a/2.wav").c_str(), 0600), 0);
  ExpectProblem(folder / "in", "a/2.wav: named like a sound, but a pipe");
}

// Links that would take in the whole machine.
TEST(Hazards, LinksOutOfTheCorpusEndInALine) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/a/1.wav", SyntheticVowel(0.2, 16000));
  fs::create_symlink("/proc", folder / "in/b");
  ExpectProblem(folder / "in", "b: a folder in which the system shows itself");
  fs::remove(folder / "in/b");
  for (const char* target : {"/", "../.."}) {
    fs::create_symlink(target, folder / "in/c");
    ExpectProblem(folder / "in", "c: a link to a folder that holds this corpus");
    fs::remove(folder / "in/c");
  }
  fs::path deep = folder / "in/d";
  for (int i = 0; i < 70; ++i) deep /= "d";
  fs::create_directories(deep);
  ExpectOneLine("check " + (folder / "in").string(), "one in another");
}

TEST(Hazards, SoundThatIsNotReadIsNamed) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/a/1.wav", SyntheticVowel(0.2, 16000));
  for (const char* name : {"2.w64", "3.M4A", "4.aiff"}) {
    WriteFileAtomically(folder / "in/a" / name, "x");
  }
  const Outcome outcome = Sotto("check " + (folder / "in").string());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const char* name : {"a/2.w64", "a/3.M4A", "a/4.aiff"}) {
    EXPECT_TRUE(Has(outcome, std::string(name) + ": sound of a kind that is not read"))
        << outcome.output;
  }
}

TEST(Hazards, AComparisonRefusesACorpusWithProblems) {
  const TemporaryFolder folder;
  for (const char* side : {"in", "out"}) {
    WriteWav(folder / side / "a/1.wav", SyntheticVowel(0.3, 16000));
  }
  const std::string run =
      fmt::format("compare {} {}", (folder / "in").string(), (folder / "out").string());
  EXPECT_EQ(Sotto(run).code, 0);
  fs::create_symlink("nowhere", folder / "out/b");
  const Outcome outcome = Sotto(run);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(Has(outcome, "the link leads nowhere")) << outcome.output;
}

TEST(Hazards, NamesThatAreTooLongAreSaidSo) {
  const TemporaryFolder folder;
  const std::string name(300, 'n'), far = [] {
    std::string path;
    while (path.size() < 5000) path += "/a-folder";
    return path;
  }();
  WriteWav(folder / "in/a.wav", SyntheticVowel(0.2, 16000));
  WriteFileAtomically(folder / "in/manifest.tsv",
                      fmt::format("utt_id\tpath\tspeaker\nu\t{}.wav\ts\n", name));
  ExpectProblem(folder / "in", "File name too long");
  ExpectProblem(folder / "in", "a file's name has at most");
  fs::remove(folder / "in/manifest.tsv");
  WriteFileAtomically(folder / "in/wav.scp", name + " a.wav\nshort " + far + ".wav\n");
  WriteFileAtomically(folder / "in/utt2spk", name + " s\nshort s\n");
  ExpectProblem(folder / "in", "a file's name has at most");
  ExpectProblem(folder / "in", "File name too long");
  for (const std::string& verb :
       {fmt::format("check {}", far), fmt::format("embed {} x", far),
        fmt::format("score --enrol {0} --trials {0}", far), fmt::format("assess verify {}", far),
        fmt::format("anonymise --method mcadams {} x", far)}) {
    ExpectOneLine(verb, "File name too long");
  }
}

TEST(Hazards, Wave64IsNamedAsSuch) {
  const TemporaryFolder folder;
  const std::string wav = (folder / "in.wav").string();
  WriteAny(wav, SF_FORMAT_W64 | SF_FORMAT_PCM_16, 16000, 1, SyntheticVowel(0.2, 16000));
  ExpectOneLine(fmt::format("anonymise --method mcadams {} {}", wav, (folder / "o.wav").string()),
                "is a Wave64 (W64) file, which is not read");
}

// Float files may hold anything; what would leave the range of a float is refused, and nothing that
// is no number is ever written.
TEST(Hazards, SamplesBeyondAllScaleAreRefusedByEveryMethod) {
  const TemporaryFolder folder;
  std::vector<float> x = SyntheticVowel(0.5, 16000);
  const std::string in = (folder / "in.wav").string(), out = (folder / "out.wav").string();
  for (const float huge : {3.4e38F, -1e20F, 3e9F}) {
    x[4000] = huge;
    WriteAny(in, SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, x);
    for (const char* method : {"mcadams", "voicemask", "vtln", "neural"}) {
      ExpectOneLine(fmt::format("anonymise --method {} {} {}", method, in, out),
                    "sample 4000 of channel 1 is");
      EXPECT_FALSE(fs::exists(out));
    }
  }
  // A stream of raw floats likewise.
  x[4000] = 3.4e38F;
  WriteFileAtomically(folder / "raw", {reinterpret_cast<const char*>(x.data()), x.size() * 4});
  const Outcome stream = Sotto(fmt::format("stream --format f32 --method mcadams < {} > /dev/null",
                                           (folder / "raw").string()));
  EXPECT_EQ(stream.code, 1) << stream.output;
  EXPECT_TRUE(Has(stream, "standard input: a sample is 3.4e+38")) << stream.output;
  x[4000] = 2e9F;  // a whole number of 32 bits
  WriteAny(in, SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 1, x);
  const Outcome outcome = Sotto(fmt::format("anonymise --method mcadams {} {}", in, out));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const Sound written = ReadSound(out);
  for (const float y : written.channels[0]) ASSERT_TRUE(std::isfinite(y));
}

// Somebody cuts a file off while the program looks for its last page: a file of 4 GiB with nothing
// in it keeps it busy for about a second.
TEST(Hazards, AFileThatShrinksMeanwhileEndsInALine) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "in");
  const std::string file = (folder / "in/a.ogg").string();
  std::ofstream(file, std::ios::binary) << "OggS";
  fs::resize_file(file, std::uint64_t{4} << 30);
  const Outcome outcome =
      Shell(fmt::format("timeout 60 {} check {} & sleep 0.3; truncate -s 1000 {}; wait $!",
                        testing::Binary(), (folder / "in").string(), file));
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_TRUE(Has(outcome, "is cut short: no complete last Ogg page")) << outcome.output;
}

// Where the address space is limited the program ends, with a result or with a line that says why;
// OpenBLAS would ask for its memory for ever.
TEST(Hazards, ALimitOnTheAddressSpaceEndsInALine) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/a/1.wav", SyntheticVowel(3.0, 16000));
  WriteWav(folder / "in/b/1.wav", SyntheticVowel(3.0, 16000, 200.0));
  int made = 0, refused = 0;
  for (const int kilobytes : {150000, 200000, 300000, 400000, 600000, 4000000}) {
    for (const char* jobs : {"1", "4"}) {
      const Outcome outcome = Shell(fmt::format(
          "ulimit -v {}; timeout 60 {} embed --jobs {} {} {}", kilobytes, testing::Binary(), jobs,
          (folder / "in").string(), (folder / fmt::format("out{}{}", kilobytes, jobs)).string()));
      // 127: the system's loader finds no room for the libraries, and says so.
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 1 || outcome.code == 127)
          << kilobytes << ": " << outcome.code << outcome.output;
      EXPECT_FALSE(outcome.output.empty()) << kilobytes;
      EXPECT_EQ(Has(outcome, "out of memory"), outcome.code == 1) << outcome.output;
      (outcome.code == 0 ? made : refused) += 1;
    }
  }
  EXPECT_GE(made, 2);
  EXPECT_GE(refused, 2);
}

}  // namespace
}  // namespace sotto

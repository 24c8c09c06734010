// Runs on a corpus that are stopped and taken up again. A recording that cannot be read stops a run
// short of its end.
#include "release/corpus_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

class InterruptedRun : public ::testing::Test {
 protected:
  // anna 200 Hz, ben 110 Hz, two recordings each; cem's only one is broken.
  InterruptedRun() {
    for (const char* speaker : {"anna", "ben"}) {
      const double f0 = speaker[0] == 'a' ? 200.0 : 110.0;
      WriteWav(In(speaker, "1"), SyntheticVowel(1.2, 16000, f0));
      WriteWav(In(speaker, "2"), SyntheticVowel(0.8, 16000, f0));
    }
    fs::create_directories(folder_ / "in/cem");
    std::ofstream(In("cem", "1")) << "RIFF";
    options_.Use("mcadams");
    options_.in = folder_ / "in";
    options_.out = folder_ / "out";
    options_.experiment_seed = 1;
    options_.container = Container::kFlac;
  }

  fs::path In(const std::string& speaker, const std::string& name) const {
    return folder_ / ("in/" + speaker + "/" + name + ".wav");
  }
  fs::path Out(const std::string& name) const { return folder_ / ("out/" + name); }

  void Stop() { EXPECT_FALSE(Anonymise(options_, "test").complete); }
  AnonymiseReport Resume() {
    WriteWav(In("cem", "1"), SyntheticVowel(0.5, 16000, 140.0));
    return Anonymise(options_, "test");
  }

  // The outputs are those of a run on the corpus as it is now.
  void ExpectLikeAFreshRun() {
    AnonymiseOptions fresh = options_;
    fresh.out = folder_ / "fresh";
    fresh.map_out.clear();
    ASSERT_TRUE(Anonymise(fresh, "test").complete);
    EXPECT_EQ(Files(folder_ / "out"), Files(folder_ / "fresh"));
  }

  static std::map<std::string, std::string> Files(const fs::path& root) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      files[entry.path().lexically_relative(root).string()] =
          entry.is_directory() ? "folder" : ReadTextFile(entry.path());
    }
    return files;
  }

  static bool Says(const AnonymiseReport& report, const std::string& what) {
    return std::any_of(report.notes.begin(), report.notes.end(), [&](const std::string& note) {
      return note.find(what) != std::string::npos;
    });
  }

  TemporaryFolder folder_;
  AnonymiseOptions options_;
};

TEST_F(InterruptedRun, GoesOnWhereItStopped) {
  Stop();
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.resumed, 4U);
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedRun, WithdrawnRecordingsAreRemoved) {
  Stop();
  fs::remove_all(folder_ / "in/ben");
  fs::remove(In("anna", "2"));
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(Says(report, "3 outputs of recordings that are no longer in the corpus: removed"));
  EXPECT_EQ(report.resumed, 1U);
  EXPECT_FALSE(fs::exists(Out("ben")));
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedRun, AReplacedRecordingIsProtectedAgain) {
  Stop();
  WriteWav(In("anna", "1"), SyntheticVowel(1.0, 16000, 180.0));
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(Says(report, "1 output of recordings that have changed since: protected again"));
  EXPECT_EQ(report.resumed, 3U);
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedRun, AFittedMethodDoesAllOfASpeakerAgain) {
  options_.Use("vtln");
  Stop();
  WriteWav(In("anna", "1"), SyntheticVowel(1.3, 16000, 190.0));
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(Says(report, "2 outputs of recordings that have changed since"));
  EXPECT_EQ(report.resumed, 2U);
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedRun, DamagedOutputsAreMadeAgain) {
  Stop();
  fs::resize_file(Out("anna/1.flac"), fs::file_size(Out("anna/1.flac")) / 2);
  const auto size = fs::file_size(Out("anna/2.flac"));
  fs::resize_file(Out("anna/2.flac"), size - 500);
  fs::resize_file(Out("anna/2.flac"), size);  // zeros
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(Says(report, "2 outputs of the interrupted run found damaged"));
  EXPECT_EQ(report.resumed, 2U);
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedRun, ARecordingThatBecameUnreadableLeavesNoOutput) {
  Stop();
  ASSERT_TRUE(fs::exists(Out("ben/1.flac")));
  std::ofstream(In("ben", "1")) << "RIFF";
  options_.skip_failed = true;
  EXPECT_TRUE(Resume().complete);
  EXPECT_FALSE(fs::exists(Out("ben/1.flac")));
}

TEST_F(InterruptedRun, KeyAndMapThatItWroteItselfDoNotBlockIt) {
  options_.experiment_seed.reset();
  options_.key_out = folder_ / "key";
  options_.new_ids = true;
  options_.map_out = folder_ / "map";
  Stop();
  const std::string key = ReadTextFile(folder_ / "key");
  std::ofstream(folder_ / "map") << "somebody else's";
  for (int i = 0; i < 3; ++i) {  // however often: a refusal is no claim
    EXPECT_THROW(Resume(), Error);
    EXPECT_EQ(ReadTextFile(folder_ / "map"), "somebody else's");
  }
  fs::remove(folder_ / "map");
  EXPECT_TRUE(Resume().complete);
  EXPECT_EQ(ReadTextFile(folder_ / "key"), key);
  EXPECT_NE(ReadTextFile(folder_ / "map").find("anna"), std::string::npos);
}

// Two runs of which the second stops while it finishes.
class FinishingRun : public InterruptedRun {
 protected:
  FinishingRun() {
    fs::remove_all(folder_ / "in/cem");
    options_.experiment_seed.reset();
    EXPECT_TRUE(Anonymise(options_, "test").complete);
    record_ = ReadTextFile(Out("sotto-run.json"));
    released_ = Files(folder_ / "out");
    Stop();
  }

  // As it was before the record was written.
  void Stop() {
    const CorpusScan scan = ScanCorpus(options_.in);
    fs::remove(Out("sotto-run.json"));
    std::vector<std::string> files;
    for (const auto& [file, content] : Files(folder_ / "out")) {
      if (!fs::is_directory(Out(file))) files.push_back(file);
    }
    fs::rename(folder_ / "out", folder_ / "moved");
    RunState state(folder_ / "out", std::nullopt,
                   {"anonymise", options_.Text(), Name(options_.TargetStrategy()), "", "ids kept",
                    ".flac", fs::absolute(options_.in).lexically_normal().string(),
                    fmt::format("kind {} ", static_cast<int>(scan.corpus.kind))});
    for (const auto& entry : fs::directory_iterator(folder_ / "moved")) {
      fs::rename(entry.path(), folder_ / "out" / entry.path().filename());
    }
    fs::remove(folder_ / "moved");
    state.BeginFinishing({CorpusText(scan.corpus, ReadDigests(scan.corpus, state.WorkFolder(), 1)),
                          record_,
                          files,
                          {}});
  }

  void ExpectAllMadeAgain(std::size_t n, const std::string& why) {
    const AnonymiseReport again = Anonymise(options_, "test");
    EXPECT_TRUE(again.complete);
    EXPECT_TRUE(Says(again, why));
    EXPECT_EQ(again.done, n);
    EXPECT_EQ(again.resumed, 0U);
    EXPECT_TRUE(ReadTextFile(Out("ben/2.flac")) != released_.at("ben/2.flac"));
  }

  static void WriteInto(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    WriteFileAtomically(file, text);
  }

  std::string record_;
  std::map<std::string, std::string> released_;
};

TEST_F(FinishingRun, NeedsNoKey) {
  const AnonymiseReport report = Anonymise(options_, "test");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.done, 4U);
  EXPECT_TRUE(Files(folder_ / "out") == released_);
}

TEST_F(FinishingRun, CannotTakeOutWhatWasWithdrawnAndMakesAllAgain) {
  fs::remove(In("ben", "1"));
  ExpectAllMadeAgain(3, "the corpus has changed");
  EXPECT_FALSE(fs::exists(Out("ben/1.flac")));
}

TEST_F(FinishingRun, DoesNotTakeDamagedOutputsForWhole) {
  fs::resize_file(Out("ben/1.flac"), 500);
  ExpectAllMadeAgain(4, "('ben/1.flac')");
  Stop();
  fs::remove(Out("anna/2.flac"));
  ExpectAllMadeAgain(4, "('anna/2.flac')");
}

TEST_F(FinishingRun, KeepsWhatIsMadeWhenAnInputCannotBeReadForAMoment) {
  options_.in = folder_ / "kaldi";
  options_.out = folder_ / "second";
  WriteInto(folder_ / "kaldi/wav.scp",
            "a " + In("anna", "1").string() + "\nb " + In("ben", "1").string() + "\n");
  WriteInto(folder_ / "kaldi/utt2spk", "a anna\nb ben\n");
  ASSERT_TRUE(Anonymise(options_, "test").complete);
  fs::rename(folder_ / "out", folder_ / "first");
  fs::rename(folder_ / "second", folder_ / "out");
  options_.out = folder_ / "out";
  record_ = ReadTextFile(Out("sotto-run.json"));
  released_ = Files(folder_ / "out");
  Stop();
  fs::rename(In("anna", "1"), folder_ / "aside");
  EXPECT_THROW(Anonymise(options_, "test"), Error);
  EXPECT_TRUE(fs::exists(Out("wav/b.flac")));
  fs::rename(folder_ / "aside", In("anna", "1"));
  EXPECT_TRUE(Anonymise(options_, "test").complete);
  EXPECT_TRUE(Files(folder_ / "out") == released_);
}

// Lines of the state were lost, and the recording of one of their outputs was withdrawn since.
TEST_F(InterruptedRun, AFileThatTheStateDoesNotKnowIsNeverPartOfARelease) {
  Stop();
  std::ofstream(Out("ben/3.flac")) << "of whom?";
  try {
    Resume();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ben/3.flac"), std::string::npos) << error.what();
  }
  EXPECT_EQ(ReadTextFile(Out("sotto-run.json")).find("\"complete\": true"), std::string::npos);
  fs::remove(Out("ben/3.flac"));
  EXPECT_TRUE(Resume().complete);
  ExpectLikeAFreshRun();
}

class InterruptedKaldiRun : public InterruptedRun {
 protected:
  InterruptedKaldiRun() {
    options_.in = folder_ / "kaldi";
    WriteFileAtomically(Kaldi("wav.scp"), "r1 " + In("anna", "1").string() + "\nr2 " +
                                              In("cem", "1").string() + "\n");
    WriteFileAtomically(Kaldi("segments"), "u1 r1 0.1 0.4\nu2 r1 0.6 1.1\nu3 r2 0 0.3\n");
    WriteFileAtomically(Kaldi("utt2spk"), "u1 anna\nu2 anna\nu3 cem\n");
    WriteFileAtomically(Kaldi("text"), "u1 one\nu2 two\nu3 three\n");
  }
  fs::path Kaldi(const std::string& name) {
    fs::create_directories(folder_ / "kaldi");
    return folder_ / ("kaldi/" + name);
  }
};

TEST_F(InterruptedKaldiRun, ASegmentThatWasRemovedIsSilenced) {
  Stop();
  WriteFileAtomically(Kaldi("segments"), "u1 r1 0.1 0.4\nu3 r2 0 0.3\n");
  WriteFileAtomically(Kaldi("utt2spk"), "u1 anna\nu3 cem\n");
  WriteFileAtomically(Kaldi("text"), "u1 one\nu3 three\n");
  const AnonymiseReport report = Resume();
  EXPECT_TRUE(Says(report, "tables of the corpus have changed"));
  EXPECT_TRUE(Says(report, "1 output of recordings that have changed since"));
  const Sound sound = ReadSound(Out("wav/r1.flac"));
  for (std::size_t i = 9600; i < 17600; ++i) ASSERT_EQ(sound.channels[0][i], 0.0F);
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedKaldiRun, ATableThatWasWithdrawnIsNotReleased) {
  Stop();
  std::ofstream(Out("text")) << "u1 one\n";  // of a run that was stopped among its tables
  fs::remove(Kaldi("text"));
  EXPECT_TRUE(Resume().complete);
  EXPECT_FALSE(fs::exists(Out("text")));
  ExpectLikeAFreshRun();
}

TEST_F(InterruptedKaldiRun, TheReleaseNamesItsFilesBelowTheDataDir) {
  options_.new_ids = true;
  EXPECT_TRUE(Resume().complete);
  EXPECT_EQ(ReadTextFile(Out("wav.scp")).find(" /"), std::string::npos);
  EXPECT_TRUE(ScanCorpus(folder_ / "out").problems.empty());
  options_.out = folder_ / "absolute";
  options_.absolute_paths = true;
  EXPECT_TRUE(Anonymise(options_, "test").complete);
  EXPECT_NE(ReadTextFile(folder_ / "absolute/wav.scp").find((folder_ / "absolute/wav").string()),
            std::string::npos);
}

TEST_F(InterruptedRun, OutputsAreDistinctAndNeverOriginals) {
  fs::remove_all(folder_ / "in/cem");
  options_.experiment_seed.reset();
  options_.new_ids = true;
  options_.key_out = options_.map_out = folder_ / "both";
  EXPECT_THROW(Anonymise(options_, "test"), Error);
  options_.map_out = folder_ / "map";
  options_.key_out = In("anna", "1");
  options_.replace = true;
  const std::string original = ReadTextFile(In("anna", "1"));
  EXPECT_THROW(Anonymise(options_, "test"), Error);
  EXPECT_EQ(ReadTextFile(In("anna", "1")), original);
  AnonymiseOptions one;
  one.Use("mcadams");
  one.in = In("anna", "1");
  one.out = folder_ / "one.flac";
  one.replace = true;
  for (const char* key : {"one.flac", "sotto-run.json", "in/anna/1.wav", "./x/../one.flac"}) {
    one.key_out = folder_ / key;
    EXPECT_THROW(Anonymise(one, "test"), Error) << key;
  }
  EXPECT_EQ(ReadTextFile(In("anna", "1")), original);
  EXPECT_FALSE(fs::exists(one.out));
}

TEST(AnonymiseFile, DoesNotReplaceAFileUnlessItIsTold) {
  const TemporaryFolder folder;
  WriteWav(folder / "in.wav", SyntheticVowel(0.3, 16000));
  WriteWav(folder / "interview.wav", SyntheticVowel(0.2, 16000));
  const std::string before = ReadTextFile(folder / "interview.wav");
  AnonymiseOptions options;
  options.Use("mcadams");
  options.in = folder / "in.wav";
  options.out = folder / "interview.wav";
  EXPECT_THROW(Anonymise(options, "test"), Error);
  options.out = folder / "out.wav";
  options.key_out = folder / "interview.wav";
  EXPECT_THROW(Anonymise(options, "test"), Error);
  EXPECT_FALSE(fs::exists(folder / "out.wav"));
  EXPECT_EQ(ReadTextFile(folder / "interview.wav"), before);
  options.key_out.clear();
  options.out = folder / "interview.wav";
  options.replace = true;
  EXPECT_TRUE(Anonymise(options, "test").complete);
  EXPECT_NE(ReadTextFile(folder / "interview.wav"), before);
}

}  // namespace
}  // namespace sotto

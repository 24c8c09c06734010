#include "release/anonymise.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteAny;
using testing::WriteWav;

AnonymiseOptions Options(const fs::path& in, const fs::path& out) {
  AnonymiseOptions options;
  options.Use("mcadams");
  options.in = in;
  options.out = out;
  options.experiment_seed = 1;
  options.replace = true;
  return options;
}

AnonymiseReport Protect(const AnonymiseOptions& options) { return Anonymise(options, "test"); }

// Three speakers, two short recordings each.
void MakeFolderCorpus(const TemporaryFolder& folder) {
  for (const char* speaker : {"anna", "ben", "cem"}) {
    for (const char* name : {"1", "2"}) {
      WriteWav(folder / (std::string("in/") + speaker + "/" + name + ".wav"),
               SyntheticVowel(0.4, 16000));
    }
  }
}

double MaxDifference(const fs::path& a, const fs::path& b) {
  const Sound x = ReadSound(a), y = ReadSound(b);
  double largest = 0.0;
  for (std::size_t i = 0; i < x.channels[0].size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(x.channels[0][i] - y.channels[0][i])));
  }
  return largest;
}

mode_t Mode(const fs::path& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return info.st_mode & 0777;
}

TEST(AnonymiseFile, KeepsLengthRateChannelsAndSampleFormat) {
  const TemporaryFolder folder;
  for (const int rate : {8000, 16000, 44100, 48000, 96000, 192000}) {
    for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_U8, SF_FORMAT_WAV | SF_FORMAT_PCM_24,
                             SF_FORMAT_WAV | SF_FORMAT_FLOAT}) {
      auto mono = SyntheticVowel(0.11, rate);
      std::vector<float> stereo;
      for (const float x : mono) stereo.insert(stereo.end(), {x, -0.5F * x});
      WriteAny(folder / "in.wav", format, rate, 2, stereo);
      const auto report = Protect(Options(folder / "in.wav", folder / "out.wav"));
      EXPECT_EQ(report.done, 1U);
      const Sound in = ReadSound(folder / "in.wav"), out = ReadSound(folder / "out.wav");
      EXPECT_EQ(in.format, out.format);
      EXPECT_EQ(in.channels[0].size(), out.channels[0].size());
      // The same target for both channels: they stay in proportion.
      if (format == (SF_FORMAT_WAV | SF_FORMAT_FLOAT)) {
        for (std::size_t i = 0; i < mono.size(); ++i) {
          EXPECT_NEAR(out.channels[1][i], -0.5F * out.channels[0][i], 1e-5);
        }
      }
    }
  }
}

TEST(AnonymiseFile, ExtensionOrLossyInputChooseTheContainer) {
  const TemporaryFolder folder;
  WriteAny(folder / "in.ogg", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, 1, SyntheticVowel(0.5, 48000));
  fs::create_directory(folder / "out");
  Protect(Options(folder / "in.ogg", folder / "out"));
  EXPECT_TRUE(fs::exists(folder / "out/in.flac"));
  Protect(Options(folder / "in.ogg", folder / "named.wav"));
  EXPECT_EQ(ReadSound(folder / "named.wav").format.container, Container::kWav);
  EXPECT_EQ(ReadSound(folder / "named.wav").channels[0].size(),
            ReadSound(folder / "in.ogg").channels[0].size());
  EXPECT_THROW(Protect(Options(folder / "in.ogg", folder / "named.mp3")), Error);
}

TEST(AnonymiseFile, AMarkedFileSaysThatItsVoiceIsSynthetic) {
  const TemporaryFolder folder;
  WriteWav(folder / "in.wav", SyntheticVowel(0.4, 16000));
  for (const char* name : {"out.wav", "out.flac"}) {
    auto options = Options(folder / "in.wav", folder / name);
    options.Use("neural");
    options.mark = true;
    Protect(options);
    const std::string bytes = ReadTextFile(folder / name);
    EXPECT_NE(bytes.find("synthetic speech"), std::string::npos) << name;
    options.out = folder / (std::string("plain ") + name);
    options.mark = false;
    Protect(options);
    EXPECT_EQ(ReadTextFile(options.out).find("synthetic"), std::string::npos) << name;
    EXPECT_EQ(MaxDifference(folder / name, options.out), 0.0) << name;
  }
}

TEST(Anonymise, VoiceIndSaysWhatItsEpsilonCoversAndWhatAllDrawsCost) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  WriteWav(folder / "in/anna/3.wav", SyntheticVowel(0.4, 16000));
  auto options = Options(folder / "in", folder / "out");
  options.Use("neural");
  options.Set("target", "voice-ind");
  options.Set("eps", "2.0");
  options.strategy = Strategy::kConst;
  EXPECT_THROW(Protect(options), Error);
  options.strategy = Strategy::kRandom;
  // Too short for an embedding: no target, and nothing of it is released.
  WriteWav(folder / "in/ben/3.wav", SyntheticVowel(0.05, 16000));
  options.skip_failed = true;
  const AnonymiseReport report = Protect(options);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_NE(report.failures[0].reason.find("no embedding"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out/ben/3.wav"));
  EXPECT_EQ(report.target_draws, 3U);
  auto record = nlohmann::json::parse(ReadTextFile(folder / "out/sotto-run.json"));
  EXPECT_EQ(record["target"], "voice-ind");
  EXPECT_EQ(record["eps"], 2.0);
  EXPECT_EQ(record["voice_ind"]["eps_per_speaker"], 6.0);
  const std::string covers = record["voice_ind"]["covers"];
  EXPECT_NE(covers.find("alone"), std::string::npos);
  EXPECT_NE(covers.find("content and pitch"), std::string::npos);
  options.strategy = Strategy::kPerm;
  options.out = folder / "perm";
  EXPECT_EQ(Protect(options).failures.size(), 0U);  // the speaker's other recordings are enough
  record = nlohmann::json::parse(ReadTextFile(folder / "perm/sotto-run.json"));
  EXPECT_EQ(record["voice_ind"]["eps_per_speaker"], 2.0);
}

TEST(AnonymiseFile, InputAsOutputIsRefusedAndUntouched) {
  const TemporaryFolder folder;
  WriteWav(folder / "x.wav", SyntheticVowel(0.2, 16000));
  const std::string before = ReadTextFile(folder / "x.wav");
  EXPECT_THROW(Protect(Options(folder / "x.wav", folder / "x.wav")), Error);
  fs::create_symlink(folder / "x.wav", folder / "link.wav");
  EXPECT_THROW(Protect(Options(folder / "x.wav", folder / "link.wav")), Error);
  EXPECT_EQ(ReadTextFile(folder / "x.wav"), before);
}

TEST(AnonymiseFile, AFailureLeavesNothingBehind) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/x.wav", SyntheticVowel(0.2, 16000));
  const std::string bytes = ReadTextFile(folder / "in/x.wav");
  WriteFileAtomically(folder / "in/cut.wav", bytes.substr(0, bytes.size() / 2));
  fs::create_directory(folder / "out");
  EXPECT_THROW(Protect(Options(folder / "in/cut.wav", folder / "out/y.wav")), Error);
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

TEST(AnonymiseFile, RecordLiesBesideTheOutputAndNeverReplacesAnothers) {
  const TemporaryFolder folder;
  WriteWav(folder / "in.wav", SyntheticVowel(0.2, 16000));
  fs::create_directory(folder / "out");
  Protect(Options(folder / "in.wav", folder / "out/a.wav"));
  Protect(Options(folder / "in.wav", folder / "out/b.wav"));
  Protect(Options(folder / "in.wav", folder / "out/a.wav"));
  const auto record = nlohmann::json::parse(ReadTextFile(folder / "out/sotto-run.json"));
  EXPECT_EQ(record["output"], "a.wav");
  EXPECT_EQ(record["randomness"], "seeded experiment: protects nobody");
  EXPECT_TRUE(fs::exists(folder / "out/b.wav.sotto-run.json"));
}

TEST(AnonymiseCorpus, FolderComesBackWithTheSameNamesAndLengths) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.jobs = 2;
  const auto report = Protect(options);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.done, 6U);
  EXPECT_EQ(report.speakers, 3U);
  for (const char* name : {"anna/1.wav", "ben/2.wav", "cem/1.wav"}) {
    EXPECT_EQ(ReadSound(folder / (std::string("out/") + name)).channels[0].size(), 6400U);
  }
  EXPECT_FALSE(fs::exists(folder / "out/.sotto-work"));
  // All recordings are one signal, so perm gives one result for each speaker.
  EXPECT_EQ(MaxDifference(folder / "out/anna/1.wav", folder / "out/anna/2.wav"), 0.0);
  EXPECT_GT(MaxDifference(folder / "out/anna/1.wav", folder / "out/ben/1.wav"), 0.01);
}

TEST(AnonymiseCorpus, RunRecordHoldsNoSecretAndNoFingerprint) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.experiment_seed.reset();
  options.key_out = folder / "key";
  Protect(options);
  const std::string text = ReadTextFile(folder / "out/sotto-run.json");
  std::string key = ReadTextFile(folder / "key");
  key.pop_back();
  EXPECT_EQ(text.find(key.substr(0, 16)), std::string::npos);
  EXPECT_EQ(text.find("anna"), std::string::npos);
  EXPECT_EQ(Mode(folder / "key"), 0600U);
  const auto record = nlohmann::json::parse(text);
  EXPECT_EQ(record["alpha"], "0.5:0.9");
  EXPECT_EQ(record["strategy"], "perm");
  EXPECT_EQ(record["counts"]["done"], 6);
}

TEST(AnonymiseCorpus, FreshKeysGiveOtherVoicesAndAKeptKeyTheSame) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  AnonymiseOptions options = Options(folder / "in", folder / "a");
  options.experiment_seed.reset();
  options.key_out = folder / "key";
  Protect(options);
  options.out = folder / "b";
  options.key_out.clear();
  Protect(options);
  options.out = folder / "c";
  options.key_file = folder / "key";
  const auto report = Protect(options);
  EXPECT_GT(MaxDifference(folder / "a/anna/1.wav", folder / "b/anna/1.wav"), 0.001);
  EXPECT_EQ(ReadTextFile(folder / "a/anna/1.wav"), ReadTextFile(folder / "c/anna/1.wav"));
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [](const std::string& note) {
    return note.find("linkable") != std::string::npos;
  }));
  options.out = folder / "d";
  options.context = "second release";
  Protect(options);
  EXPECT_GT(MaxDifference(folder / "a/anna/1.wav", folder / "d/anna/1.wav"), 0.001);
}

TEST(AnonymiseCorpus, FailedItemsAreNamedAndAMendedRunFinishesWithTheSameKey) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  const std::string good = ReadTextFile(folder / "in/ben/1.wav");
  WriteFileAtomically(folder / "in/ben/1.wav", good.substr(0, 500));
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.experiment_seed.reset();
  auto report = Protect(options);
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.done, 5U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].id, "ben/1");
  EXPECT_NE(report.failures[0].reason.find("cut short"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out/ben/1.wav"));
  EXPECT_EQ(Mode(folder / "out/.sotto-work/state"), 0600U);
  EXPECT_EQ(Mode(folder / "out/.sotto-work"), 0700U);

  AnonymiseOptions other = options;
  other.Set("alpha", "0.7:0.9");
  EXPECT_THROW(Protect(other), Error);  // other parameters do not mix into one output

  WriteFileAtomically(folder / "in/ben/1.wav", good);
  report = Protect(options);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.resumed, 5U);
  EXPECT_FALSE(fs::exists(folder / "out/.sotto-work"));
  EXPECT_EQ(MaxDifference(folder / "out/ben/1.wav", folder / "out/ben/2.wav"), 0.0);
  EXPECT_THROW(Protect(options), Error);  // a finished output is not written again
}

TEST(AnonymiseCorpus, SkipFailedFinishesWithoutTheBadOnes) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  WriteFileAtomically(
      folder / "in/manifest.tsv",
      "utt_id\tpath\tspeaker\ttext\nu1\tanna/1.wav\tanna\thello\nu2\tgone.wav\tben\tx\n");
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.skip_failed = true;
  const auto report = Protect(options);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(ReadTextFile(folder / "out/manifest.tsv"),
            "utt_id\tpath\tspeaker\ttext\nu1\tanna/1.wav\tanna\thello\n");
}

TEST(AnonymiseCorpus, OutsideSegmentsThereIsSilence) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/r.wav", SyntheticVowel(3.0, 16000));
  WriteFileAtomically(folder / "in/wav.scp", "r r.wav\n");
  WriteFileAtomically(folder / "in/segments", "u1 r 0.5 1.0\nu2 r 1.5 2.0\nu3 r 1.9 2.25\n");
  WriteFileAtomically(folder / "in/utt2spk", "u1 anna\nu2 ben\nu3 ben\n");
  const auto report = Protect(Options(folder / "in", folder / "out"));
  EXPECT_TRUE(report.complete);
  const Sound out = ReadSound(folder / "out/wav/r.wav");
  ASSERT_EQ(out.channels[0].size(), 48000U);
  const auto energy = [&](double from_s, double to_s) {
    double sum = 0.0;
    for (auto i = static_cast<std::size_t>(from_s * 16000);
         i < static_cast<std::size_t>(to_s * 16000); ++i) {
      sum += static_cast<double>(out.channels[0][i]) * out.channels[0][i];
    }
    return sum;
  };
  EXPECT_EQ(energy(0.0, 0.5), 0.0);
  EXPECT_EQ(energy(1.0, 1.5), 0.0);
  EXPECT_EQ(energy(2.25, 3.0), 0.0);
  EXPECT_GT(energy(0.5, 1.0), 1.0);
  EXPECT_GT(energy(1.5, 2.25), 1.0);
  EXPECT_EQ(ReadTextFile(folder / "out/segments"), ReadTextFile(folder / "in/segments"));
  EXPECT_EQ(ReadTextFile(folder / "out/spk2utt"), "anna u1\nben u2 u3\n");

  // One target for each utterance cannot be given to utterances that overlap.
  AnonymiseOptions random = Options(folder / "in", folder / "out2");
  random.strategy = Strategy::kRandom;
  EXPECT_EQ(Protect(random).failures.size(), 1U);
}

TEST(AnonymiseCorpus, SegmentsBeyondTheRecordingFail) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/r.wav", SyntheticVowel(1.0, 16000));
  WriteFileAtomically(folder / "in/wav.scp", "r r.wav\n");
  WriteFileAtomically(folder / "in/utt2spk", "u1 anna\n");
  int run = 0;
  for (const auto& [segment, failures] : {std::pair<const char*, std::size_t>{"u1 r 0.5 1.3\n", 0},
                                          {"u1 r 0.5 1.6\n", 1},
                                          {"u1 r 1.2 1.3\n", 1}}) {
    WriteFileAtomically(folder / "in/segments", segment);
    const auto report = Protect(Options(folder / "in", folder / ("out" + std::to_string(run++))));
    EXPECT_EQ(report.failures.size(), failures) << segment;
  }
}

TEST(AnonymiseCorpus, PipesRunOnlyWhenAllowed) {
  const TemporaryFolder folder;
  WriteWav(folder / "in/r.wav", SyntheticVowel(0.3, 16000));
  WriteFileAtomically(folder / "in/wav.scp",
                      "r cat " + (folder / "in/r.wav").string() + " |\nq false |\n");
  WriteFileAtomically(folder / "in/utt2spk", "q a\nr a\n");
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  EXPECT_THROW(Protect(options), Error);
  EXPECT_FALSE(fs::exists(folder / "out"));
  options.allow_pipes = true;
  const auto report = Protect(options);
  EXPECT_EQ(report.done, 1U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_NE(report.failures[0].reason.find("exit code 1"), std::string::npos);
  EXPECT_EQ(ReadSound(folder / "out/wav/r.wav").channels[0].size(), 4800U);
}

TEST(AnonymiseCorpus, NewIdsReplaceEveryNameAndTheMapIsPrivate) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.new_ids = true;
  options.map_out = folder / "map.tsv";
  EXPECT_TRUE(Protect(options).complete);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "out")) {
    EXPECT_EQ(entry.path().string().find("anna"), std::string::npos);
    files += entry.path().extension() == ".wav" ? 1 : 0;
  }
  EXPECT_EQ(files, 6U);
  EXPECT_EQ(Mode(folder / "map.tsv"), 0600U);
  const std::string map = ReadTextFile(folder / "map.tsv");
  const Tsv table = ParseTsv(map, "map");
  EXPECT_EQ(table.rows.size(), 3U + 6U + 6U);
  for (const auto& row : table.rows) {
    if (row[0] == "file") {
      EXPECT_TRUE(fs::exists(folder / "out" / std::string(row[2])));
    }
  }
}

TEST(AnonymiseCorpus, NewIdsWorkForKaldiWithSegmentsAndForManifests) {
  const TemporaryFolder folder;
  WriteWav(folder / "k/r.wav", SyntheticVowel(1.0, 16000));
  WriteFileAtomically(folder / "k/wav.scp", "anna_r r.wav\n");
  WriteFileAtomically(folder / "k/segments", "anna_u1 anna_r 0 0.5\nben_u2 anna_r 0.5 1\n");
  WriteFileAtomically(folder / "k/utt2spk", "anna_u1 anna\nben_u2 ben\n");
  WriteFileAtomically(folder / "k/text", "anna_u1 hello\nben_u2 world\n");
  AnonymiseOptions options = Options(folder / "k", folder / "kout");
  options.new_ids = true;
  EXPECT_TRUE(Protect(options).complete);
  for (const char* name : {"wav.scp", "segments", "utt2spk", "spk2utt", "text"}) {
    const std::string text = ReadTextFile(folder / "kout" / name);
    EXPECT_EQ(text.find("anna"), std::string::npos) << name;
  }
  EXPECT_NE(ReadTextFile(folder / "kout/text").find(" hello\n"), std::string::npos);
  const CorpusScan scan = ScanCorpus(folder / "kout");
  EXPECT_TRUE(scan.problems.empty());
  EXPECT_EQ(scan.corpus.utterances, 2U);

  WriteFileAtomically(folder / "k/m.tsv", "utt_id\tpath\tspeaker\nanna_u\tr.wav\tanna\n");
  options = Options(folder / "k/m.tsv", folder / "mout");
  options.new_ids = true;
  EXPECT_TRUE(Protect(options).complete);
  EXPECT_EQ(ReadTextFile(folder / "mout/m.tsv").find("anna"), std::string::npos);
}

TEST(AnonymiseCorpus, RefusesOutputsThatCannotBeRight) {
  const TemporaryFolder folder;
  MakeFolderCorpus(folder);
  EXPECT_THROW(Protect(Options(folder / "in", folder / "in")), Error);
  EXPECT_THROW(Protect(Options(folder / "in", folder / "in/out")), Error);
  EXPECT_THROW(Protect(Options(folder / "in", folder.Path())), Error);
  WriteFileAtomically(folder / "file", "x");
  EXPECT_THROW(Protect(Options(folder / "in", folder / "file")), Error);
  fs::create_directory(folder / "full");
  WriteFileAtomically(folder / "full/x", "x");
  EXPECT_THROW(Protect(Options(folder / "in", folder / "full")), Error);
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.experiment_seed.reset();
  options.key_out = folder / "out/key";
  EXPECT_THROW(Protect(options), Error);  // the key would be released with the corpus
}

// Two speakers with enough speech to be fitted.
void MakeLongCorpus(const TemporaryFolder& folder) {
  for (const char* speaker : {"anna", "ben"}) {
    const double f0 = speaker[0] == 'a' ? 200.0 : 110.0;
    WriteWav(folder / (std::string("in/") + speaker + "/1.wav"), SyntheticVowel(1.2, 16000, f0));
    WriteWav(folder / (std::string("in/") + speaker + "/2.wav"), SyntheticVowel(0.3, 16000, f0));
  }
}

TEST(AnonymiseVtln, FitsEachSpeakerFromTheCorpusAndSaysSo) {
  const TemporaryFolder folder;
  MakeLongCorpus(folder);
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.Use("vtln");
  const AnonymiseReport report = Protect(options);
  EXPECT_TRUE(report.complete);
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [](const std::string& note) {
    return note.find("2 of 2 speakers were fitted from the recordings") != std::string::npos;
  }));
  const auto record = nlohmann::json::parse(ReadTextFile(folder / "out/sotto-run.json"));
  EXPECT_EQ(record["method"], "vtln");
  EXPECT_EQ(record["pitch"], "target");
  EXPECT_EQ(record["fitted"], "from the corpus itself");
  EXPECT_FALSE(record.contains("alpha"));
}

TEST(AnonymiseVtln, ASpeakerWithTooLittleSpeechFailsByNameAndIsNotCopied) {
  const TemporaryFolder folder;
  MakeLongCorpus(folder);
  WriteWav(folder / "in/cem/1.wav", SyntheticVowel(0.1, 16000));
  AnonymiseOptions options = Options(folder / "in", folder / "out");
  options.Use("vtln");
  const AnonymiseReport report = Protect(options);
  EXPECT_EQ(report.done, 4U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].id, "cem/1");
  EXPECT_NE(report.failures[0].reason.find("too little"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "out/cem/1.wav"));
}

TEST(AnonymiseVtln, DoesNotDependOnTheNumberOfJobs) {
  const TemporaryFolder folder;
  MakeLongCorpus(folder);
  for (const int jobs : {1, 2}) {
    AnonymiseOptions options =
        Options(folder / "in", folder / (std::string("out") + std::to_string(jobs)));
    options.Use("vtln");
    options.jobs = jobs;
    EXPECT_TRUE(Protect(options).complete);
  }
  for (const char* name : {"anna/1.wav", "ben/2.wav"}) {
    EXPECT_EQ(MaxDifference(folder / (std::string("out1/") + name),
                            folder / (std::string("out2/") + name)),
              0.0);
  }
}

TEST(AnonymiseFile, EveryMethodGivesAllChannelsTheSameTarget) {
  const TemporaryFolder folder;
  std::vector<float> stereo;
  for (const float x : SyntheticVowel(1.2, 16000)) stereo.insert(stereo.end(), {x, 0.5F * x});
  WriteAny(folder / "in.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 16000, 2, stereo);
  for (const char* method : {"voicemask", "vtln"}) {
    AnonymiseOptions options = Options(folder / "in.wav", folder / "out.wav");
    options.Use(method);
    options.strategy = Strategy::kRandom;
    Protect(options);
    const Sound out = ReadSound(folder / "out.wav");
    for (std::size_t i = 0; i < out.channels[0].size(); ++i) {
      ASSERT_NEAR(out.channels[1][i], 0.5F * out.channels[0][i], 2e-3) << method;
    }
  }
}

}  // namespace
}  // namespace sotto

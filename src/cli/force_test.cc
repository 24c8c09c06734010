// What somebody keeps is not replaced unless --force says so: every verb that writes files, run as
// a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "audio/feature_pack.h"
#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;
using testing::Shell;
using testing::Sotto;

std::string Refusal(const std::string& program, const fs::path& file) {
  return fmt::format("{}: '{}' exists already and is not replaced without --force\n", program,
                     file.string());
}

class Force : public ::testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  // Four speakers, three recordings each.
  std::string Corpus() {
    for (int s = 0; s < 4; ++s) {
      for (int i = 0; i < 3; ++i) {
        const double shift = 1.0 + 0.06 * s;
        testing::WriteWav(folder_ / fmt::format("corpus/s{0}/{0}-{1}.wav", s, i),
                          testing::SyntheticVowel(1.5, 16000, 110.0 + 30.0 * s + 4.0 * i,
                                                  {(600.0 + 60.0 * i) * shift, 1200.0 * shift,
                                                   (2500.0 - 80.0 * i) * shift}));
      }
    }
    return At("corpus");
  }

  std::string Ivector() {
    const Outcome made = Sotto(fmt::format("train ivector {} -o {}{}", Corpus(), At("iv"), kTiny));
    EXPECT_EQ(made.code, 0) << made.output;
    return At("iv");
  }

  // `command` makes one of an input. That `output` is there is said before an input is missed; of
  // two runs at once the later one finds it out at its end.
  void ExpectAsksFirst(const std::function<std::string(const std::string& input)>& command,
                       const std::string& input, const std::string& absent,
                       const fs::path& output) {
    WriteFileAtomically(output, "somebody's own");
    const Outcome refused = Sotto(command(absent));
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.output, Refusal("sotto", output));
    EXPECT_EQ(Sotto(command(input)).code, 1);
    EXPECT_EQ(ReadTextFile(output), "somebody's own");
    const Outcome forced = Sotto(command(input) + " --force");
    EXPECT_EQ(forced.code, 0) << forced.output;
    EXPECT_NE(ReadTextFile(output), "somebody's own") << output;

    fs::remove_all(output.parent_path());
    fs::create_directories(output.parent_path());
    const std::string once = fmt::format("{} {}", testing::Binary(), command(input));
    const Outcome both =
        Shell(fmt::format("( {0} ; echo code $? ) & {0} ; echo code $? ; wait", once));
    EXPECT_NE(both.output.find("code 0"), std::string::npos) << both.output;
    EXPECT_NE(both.output.find("code 1"), std::string::npos) << both.output;
    EXPECT_NE(both.output.find("is not replaced without --force"), std::string::npos);
    for (const auto& entry : fs::directory_iterator(output.parent_path())) {
      EXPECT_NE(entry.path().extension(), ".part");
    }
  }

  // The same for a verb with -o.
  void ExpectAsks(const std::string& verb, const std::string& input, const std::string& flags) {
    SCOPED_TRACE(verb);
    fs::create_directories(folder_ / "out");
    const auto command = [&](const std::string& in) {
      return fmt::format("{} {} {} -o {}", verb, in, flags, At("out/file"));
    };
    ExpectAsksFirst(command, input, At("absent"), folder_ / "out/file");
  }

  static constexpr const char* kTiny = " --components 2 --dimension 3 --lda 2";
  testing::TemporaryFolder folder_;
};

TEST_F(Force, TrainIvectorAndCalibration) {
  ExpectAsks("train ivector", Corpus(), kTiny);
  ExpectAsks("train calibration", Corpus(), "--encoder " + Ivector());
}

TEST_F(Force, Embed) {
  const std::string encoder = Ivector();
  for (const char* name : {"xvector.ark", "utt2spk", "encoder.json", "ids"}) {
    SCOPED_TRACE(name);
    fs::create_directories(folder_ / "e");
    const auto command = [&](const std::string& in) {
      return fmt::format("embed {} {} --format npy --encoder {}", in, At("e"), encoder);
    };
    ExpectAsksFirst(command, Corpus(), At("absent"), folder_ / "e" / name);
    fs::remove_all(folder_ / "e");
  }
}

TEST_F(Force, Score) {
  ASSERT_EQ(Sotto(fmt::format("embed {} {} --encoder {}", Corpus(), At("e"), Ivector())).code, 0);
  ExpectAsks("score --by utterance --trials " + At("e") + " --enrol", At("e"), "");
}

TEST_F(Force, BuildAndFit) {
  ExpectAsks("build vtln", Corpus(), "");
  ExpectAsks("fit vtln", Corpus(), "");
}

TEST_F(Force, Features) {
  Corpus();
  for (const char* name : {"0-0.f0.npy", "0-0.sp.npy", "0-0.ap.npy"}) {
    SCOPED_TRACE(name);
    fs::remove_all(folder_ / "out");
    fs::create_directories(folder_ / "out");
    const auto command = [&](const std::string& in) {
      return fmt::format("features {} {}", in, At("out"));
    };
    ExpectAsksFirst(command, At("corpus/s0/0-0.wav"), At("absent/0-0.wav"), folder_ / "out" / name);
  }
}

TEST_F(Force, TrainPack) { ExpectAsks("train pack", Corpus(), ""); }

TEST_F(Force, TrainFeaturesBeforeTheTeacherIsSought) {
  for (const std::string name : {"f", "f.pack"}) {
    WriteFileAtomically(folder_ / name, "somebody's own");
    const Outcome refused = Sotto(
        fmt::format("train features {} -o {} --models {}", At("absent"), At("f"), At("absent")));
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.output, Refusal("sotto", folder_ / name));
    EXPECT_EQ(ReadTextFile(folder_ / name), "somebody's own");
    fs::remove(folder_ / name);
  }
}

TEST_F(Force, TrainVoices) {
  SpeechPack pack;
  FeaturePack features;
  features.state_size = 2;
  features.embedding_size = 4;
  for (int i = 0; i < 24; ++i) {
    const std::string id = fmt::format("u{}", i);
    pack.utterances.push_back({id, fmt::format("s{}", i),
                               i % 2 == 0 ? Gender::kFemale : Gender::kMale, pack.samples.size(),
                               320});
    pack.samples.resize(pack.samples.size() + 320);
    features.ids.push_back(id);
    const auto x = static_cast<float>(i);
    features.utterances.push_back({{0, 0},
                                   {100.0F + x, 110.0F},
                                   {1.0F, x / 24.0F, x * x / 576.0F, i % 3 == 0 ? 0.2F : 0.0F}});
  }
  WriteSpeechPack(folder_ / "p", pack);
  WriteFeaturePack(folder_ / "f", features);
  ExpectAsks("train voices", At("p"), "--features " + At("f"));
}

// Pages are made anew, and nothing else is taken for one.
TEST_F(Force, AReportTakesThePlaceOfAPageAlone) {
  std::string scores = "enrol\ttrial\tscore\tlabel\n";
  for (int i = 0; i < 40; ++i) {
    scores += fmt::format("a{0}\tb{0}\t{0}\t{1}\n", i, i % 2 == 0 ? "target" : "nontarget");
  }
  WriteFileAtomically(At("t.tsv"), scores);
  const auto run = [&](const std::string& page) {
    return Sotto(fmt::format("assess verify {} --bootstrap 0 --report {}", At("t.tsv"), At(page)));
  };
  EXPECT_EQ(run("p.html").code, 0);
  EXPECT_EQ(run("p.html").code, 0);
  const Outcome refused = run("t.tsv");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.output.find("is not a page"), std::string::npos) << refused.output;
  EXPECT_EQ(ReadTextFile(At("t.tsv")), scores);
}

TEST_F(Force, DpRelease) {
  std::string table = "speaker,age\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("s{},{}\n", i, 20 + i);
  WriteFileAtomically(folder_ / "t.csv", table);
  ExpectAsks("dp laplace", At("t.csv"),
             "--column age --lower 18 --upper 90 --id-column speaker --max-contributions 1 "
             "--epsilon 1");
}

// The encoder's corpus is packed into a file without a name, which the training program inherits.
TEST_F(Force, TrainEncoderThroughTheTrainingProgram) {
  const std::string command = fmt::format(
      "train encoder {} -o {} --channels=8 --aggregation=8 --batch-speakers=2 --frames=60 "
      "--steps=1 --validate-every=1 --held-out=2 --speeds=1.0 --augmented=0",
      Corpus(), At("net"));
  WriteFileAtomically(folder_ / "net", "somebody's own");
  const Outcome refused = Sotto(command);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.output, Refusal("sotto", folder_ / "net"));
  EXPECT_EQ(ReadTextFile(folder_ / "net"), "somebody's own");
  const Outcome forced = Sotto(command + " --force");
  if (forced.output.find("no training program") != std::string::npos) {
    GTEST_SKIP() << "built without libtorch";
  }
  EXPECT_EQ(forced.code, 0) << forced.output;
  EXPECT_NE(ReadTextFile(folder_ / "net"), "somebody's own");
  for (const auto& entry : fs::directory_iterator(folder_.Path())) {
    EXPECT_TRUE(entry.path().filename() == "net" || entry.path().filename() == "corpus") << entry;
  }
}

TEST_F(Force, TheTrainingProgramAsksBeforeItReads) {
  if (Sotto("train content --flags").output.find("no training program") != std::string::npos) {
    GTEST_SKIP() << "built without libtorch";
  }
  const std::string data = fmt::format(" --pack {0} --features {0} ", At("absent"));
  const std::string joint =
      fmt::format(" --content {} --distillation 1 --content-out ", At("absent"));
  for (const auto& [verb, name] :
       {std::pair{"content", "net"}, {"adain", "curve"}, {"synth", "student"}}) {
    SCOPED_TRACE(verb);
    std::string command =
        fmt::format("train {} {} -o {} --curve {}", verb, data, At("net"), At("curve"));
    if (name == std::string("student")) command += joint + At("student");
    WriteFileAtomically(folder_ / name, "somebody's own");
    const Outcome refused = Sotto(command);
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.output, Refusal("sotto-train", folder_ / name));
    const Outcome forced = Sotto(command + " --force");
    EXPECT_EQ(forced.code, 1);
    EXPECT_NE(forced.output.find("cannot open"), std::string::npos) << forced.output;
    EXPECT_EQ(ReadTextFile(folder_ / name), "somebody's own");
    fs::remove(folder_ / name);
  }
  const Outcome twice = Sotto(fmt::format("train content {0} -o {1} --curve {1}", data, At("net")));
  EXPECT_NE(twice.output.find("is the name of two output files"), std::string::npos)
      << twice.output;
}

}  // namespace
}  // namespace sotto

#include "sotto/sotto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "audio/sound_file.h"
#include "audio/testing.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

std::map<std::string, std::string> Files(const fs::path& root) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    files[entry.path().lexically_relative(root).string()] = ReadTextFile(entry.path());
  }
  return files;
}

Protection Seeded(std::string method) {
  return {.method = std::move(method), .experiment_seed = 1};
}

TEST(ProtectFile, ABufferAndAFileUnderOneKeySoundTheSame) {
  const TemporaryFolder folder;
  WriteWav(folder / "talk.wav", SyntheticVowel(1.0, 16000));
  const std::vector<std::string> notes =
      ProtectFile(folder / "talk.wav", folder / "out.wav", Seeded("mcadams"));
  EXPECT_FALSE(notes.empty());  // a seed protects nobody
  EXPECT_TRUE(fs::exists(folder / "sotto-run.json"));
  const std::vector<float> before = ReadSound(folder / "talk.wav").channels[0];
  const std::vector<float> file = ReadSound(folder / "out.wav").channels[0];
  const std::vector<float> buffer =
      VoiceProtector(Seeded("mcadams")).Protect(before, 16000, {"talk", "talk"});
  ASSERT_EQ(buffer.size(), file.size());
  EXPECT_NE(file, before);
  for (std::size_t i = 0; i < file.size(); ++i) ASSERT_NEAR(file[i], buffer[i], 1.0 / 32768.0) << i;
}

TEST(VoiceProtector, DrawsByNamesUnderOneKey) {
  const VoiceProtector protector({.method = "mcadams", .strategy = "perm"});
  const std::vector<float> x = SyntheticVowel(0.5, 16000);
  const auto anna = protector.Protect(x, 16000, {"anna", "1"});
  EXPECT_EQ(protector.Protect(x, 16000, {"anna", "2"}), anna);
  EXPECT_NE(protector.Protect(x, 16000, {"ben", "1"}), anna);
  EXPECT_NE(
      VoiceProtector({.method = "mcadams", .strategy = "perm"}).Protect(x, 16000, {"anna", "1"}),
      anna);
}

TEST(VoiceProtector, StreamsAsManySamplesAsComeWithinTheLatencyStated) {
  const std::vector<float> x = SyntheticVowel(1.0, 16000);
  for (const char* method : {"neural", "mcadams"}) {
    // It outlives the protector.
    const auto stream = VoiceProtector(Seeded(method)).OpenStream(16000, {"caller", "call"});
    std::vector<float> y;
    for (std::size_t i = 0; i < x.size(); i += 160) {
      stream->Push(std::span(x).subspan(i, 160), y);
      ASSERT_GE(y.size() + stream->LatencySamples(), i + 160) << method;
    }
    stream->Finish(y);
    EXPECT_EQ(y.size(), x.size()) << method;
    EXPECT_NE(y, x) << method;
    for (const float v : y) ASSERT_LE(std::abs(v), 1.0F) << method;
  }
}

template <typename Call>
std::string Refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Protection, RefusesWithAReason) {
  const TemporaryFolder folder;
  const std::vector<float> x(16000, 0.1F), bad = {0.0F, std::nanf("")};
  const VoiceProtector mcadams({.method = "mcadams"});
  const auto refused = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  refused(Refusal([] { Protection{.method = "mcadam"}.Validate(); }), "mcadams");
  refused(Refusal([] { Protection{.method = "mcadams:alpha=9"}.Validate(); }), "alpha");
  refused(Refusal([] { Protection{.parameters = {{"alpha", "0.8"}}}.Validate(); }), "alpha");
  refused(Refusal([] { Protection{.strategy = "all"}.Validate(); }), "const");
  refused(Refusal([&] { mcadams.Protect(bad, 16000, {"a", "1"}); }), "sample is nan");
  refused(Refusal([&] { mcadams.Protect(x, 4000, {"a", "1"}); }), "8000 to 192000");
  refused(Refusal([] { VoiceProtector({.method = "vtln"}); }), "'profile'");
  refused(Refusal([&] {
            VoiceProtector({.method = "adain"}).OpenStream(16000, {"a", "1"});
          }),
          "files");
  refused(Refusal([&] { ProtectFile(folder.Path(), folder / "x.wav"); }), "ProtectCorpus");
  refused(Refusal([&] { ProtectFile(folder / "none.wav", folder / "x.wav"); }), "does not exist");
}

class CorpusOfTwo : public ::testing::Test {
 protected:
  CorpusOfTwo() {
    for (const char* speaker : {"anna", "ben"}) {
      for (int i = 0; i < 4; ++i) {
        WriteWav(folder_.Path() / "in" / speaker / (std::to_string(i) + ".wav"),
                 SyntheticVowel(0.4 + 0.1 * i, 16000, speaker[0] == 'a' ? 200.0 : 110.0));
      }
    }
  }
  TemporaryFolder folder_;
};

TEST_F(CorpusOfTwo, ACancelledRunGoesOnAndEndsAsInOneGo) {
  const fs::path in = folder_ / "in", out = folder_ / "out", whole = folder_ / "whole";
  // The key of the run is the system's, kept in its state.
  const Protection protection{.method = "mcadams", .strategy = "random"};
  const CorpusSettings settings{.jobs = 2, .key_out = folder_ / "key"};
  std::atomic<bool> stop{false};
  const RunWatch watch{.progress = [&](const RunProgress& now) { stop = stop || now.done >= 3; },
                       .cancelled = [&] { return stop.load(); }};
  EXPECT_THROW(ProtectCorpus(in, out, protection, settings, watch), Cancelled);
  EXPECT_TRUE(fs::exists(out / ".sotto-work/state"));
  EXPECT_FALSE(fs::exists(out / "sotto-run.json"));

  std::vector<RunProgress> calls;
  const RunWatch recorder{.progress = [&](const RunProgress& now) { calls.push_back(now); }};
  const ProtectedCorpus made = ProtectCorpus(in, out, protection, settings, recorder);
  EXPECT_TRUE(made.complete);
  EXPECT_EQ(made.done, 8U);
  EXPECT_GE(made.resumed, 3U);
  EXPECT_LT(made.resumed, 8U);
  ASSERT_EQ(calls.size(), 10U);  // begun, eight recordings, ended
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_GE(calls[i].done, calls[i - 1].done);
    EXPECT_GE(calls[i].fraction, calls[i - 1].fraction);
  }
  EXPECT_EQ(calls.back().done, 8U);
  EXPECT_EQ(calls.back().total, 8U);
  EXPECT_EQ(calls.back().fraction, 1.0);
  EXPECT_TRUE(calls.back().ended);

  Protection again = protection;
  again.key_file = folder_ / "key";
  EXPECT_TRUE(ProtectCorpus(in, whole, again).complete);
  auto in_two = Files(out), in_one = Files(whole);
  in_two.erase("sotto-run.json");  // says where the key came from
  in_one.erase("sotto-run.json");
  EXPECT_EQ(in_two, in_one);
}

TEST_F(CorpusOfTwo, IsCancelledWithinALongRecordingToo) {
  std::atomic<int> asked{0};
  const RunWatch watch{.cancelled = [&] { return ++asked > 3; }};
  WriteWav(folder_ / "long.wav", SyntheticVowel(8.0, 16000));
  EXPECT_THROW(ProtectFile(folder_ / "long.wav", folder_ / "out.wav", Seeded("mcadams"), watch),
               Cancelled);
  EXPECT_FALSE(fs::exists(folder_ / "out.wav"));
}

TEST_F(CorpusOfTwo, ARecordingThatFailsIsReported) {
  std::ofstream(folder_ / "in/ben/9.wav") << "RIFF";
  const ProtectedCorpus made = ProtectCorpus(folder_ / "in", folder_ / "out", Seeded("mcadams"));
  EXPECT_FALSE(made.complete);
  EXPECT_EQ(made.recordings, 9U);
  EXPECT_EQ(made.done, 8U);
  ASSERT_EQ(made.failures.size(), 1U);
  EXPECT_NE(made.failures[0].id.find('9'), std::string::npos);
  EXPECT_TRUE(
      ProtectCorpus(folder_ / "in", folder_ / "out", Seeded("mcadams"), {.skip_failed = true})
          .complete);
}

TEST(SpeakerEmbedding, HasLengthOneAndKnowsASpeakerAgain) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/wav");
  std::map<std::string, std::vector<fs::path>> speakers;
  for (const auto& entry :
       fs::directory_iterator(testing::SharedFolder() / "data/speech/libri_eval/wav")) {
    const std::string name = entry.path().stem().string();
    speakers[name.substr(0, name.find('-'))].push_back(entry.path());
  }
  ASSERT_GE(speakers.size(), 2U);
  auto& first = speakers.begin()->second;
  std::sort(first.begin(), first.end());
  const auto a = SpeakerEmbedding(first.at(0)), b = SpeakerEmbedding(first.at(1));
  const auto other = SpeakerEmbedding(speakers.rbegin()->second.front());
  const auto cosine = [](const std::vector<float>& x, const std::vector<float>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  EXPECT_NEAR(cosine(a, a), 1.0, 1e-5);
  EXPECT_GT(cosine(a, b), cosine(a, other));
}

TEST(VerificationFigures, AreThoseOfTheScores) {
  const std::vector<double> same = {3.0, 2.0, 1.0, 0.0}, different = {-2.0, -1.0, 0.5, -3.0};
  const std::vector<Figure> figures = VerificationFigures(same, different, 200);
  const auto eer = std::find_if(figures.begin(), figures.end(),
                                [](const Figure& figure) { return figure.name == "eer"; });
  ASSERT_NE(eer, figures.end());
  EXPECT_NEAR(eer->value, 0.25, 1e-12);
  EXPECT_EQ(eer->direction, Direction::kHigherIsMorePrivate);
  ASSERT_TRUE(eer->interval.has_value());
  EXPECT_LE(eer->interval->low, 0.25);
  EXPECT_THROW(VerificationFigures(same, {}), Error);
}

}  // namespace
}  // namespace sotto

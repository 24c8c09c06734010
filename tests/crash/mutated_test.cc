// 1,200 damaged files through the real program: it ends soon, by its own hand, and says in plain
// words what it cannot read. The damage follows from fixed seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string_view>

#include "audio/testing.h"
#include "base/files.h"
#include "base/random.h"
#include "base/tsv.h"
#include "small_run.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

// What parsers trip over.
constexpr std::string_view kTokens[] = {
    "\t",           "\n",   " ",       "nan",      "-inf",    "1e999", "-1", "4294967297",
    "../../x",      "/",    "\r\n",    "\xff\xfe", "\x1b[2J", "\"",    "{",  "\xc3\x28",
    "\xe2\x80\xae", "0x10", "ab\x7f",
    "\xc2\23331m",  // octal: a hexadecimal escape would swallow the 31
    "1e-320",       "|",    "cat x |", "./",       "=1+1",
};

constexpr char kFillings[] = {'\0', '\xff', 'A', '\t'};

// One damage: flipped bits, a cut, a stretch twice, strange bytes or words put in or over.
void Damage(std::string& bytes, SeededRng& rng) {
  const auto place = [&] { return static_cast<std::size_t>(rng.Below(bytes.size() + 1)); };
  const std::string_view token = kTokens[rng.Below(std::size(kTokens))];
  if (bytes.empty()) bytes = token;
  switch (rng.Below(8)) {
    case 0:
    case 1:  // headers are where it hurts
      for (std::uint64_t i = 1 + rng.Below(4); i > 0; --i) {
        const std::size_t within =
            rng.Below(2) == 0 ? std::min<std::size_t>(bytes.size(), 64) : bytes.size();
        bytes[rng.Below(within)] ^= static_cast<char>(1 << rng.Below(8));
      }
      break;
    case 2:
      bytes.resize(place());
      break;
    case 3:
      bytes.insert(place(), bytes.substr(place(), 1 + rng.Below(200)));
      break;
    case 4:
      bytes.erase(place(), 1 + rng.Below(200));
      break;
    case 5:
      bytes.insert(place(), token);
      break;
    case 6: {  // a number of four bytes, as lengths and counts are
      constexpr std::uint32_t kNumbers[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00010000};
      const std::uint32_t number = kNumbers[rng.Below(std::size(kNumbers))];
      std::memcpy(bytes.data() + rng.Below(std::max<std::size_t>(bytes.size(), 4) - 3), &number,
                  std::min<std::size_t>(4, bytes.size()));
      break;
    }
    default:
      bytes.insert(place(), std::string(1 + rng.Below(1000), kFillings[rng.Below(4)]));
  }
}

// A character a terminal obeys, or the sign of an error nobody foresaw; empty: neither.
std::string Unfit(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    const bool control2 = c == 0xc2 && i + 1 < text.size() &&
                          static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                          static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (control || control2) return fmt::format("control character {:#x} at byte {}", c, i);
  }
  for (const char* sign :
       {"Sanitizer", "runtime error", "terminate called", "Assertion", "bad_alloc", "sotto: std",
        "sotto: basic_string", "sotto: vector", "sotto: map", "sotto: sto", "sotto: [json"}) {
    if (text.find(sign) != std::string::npos) return fmt::format("'{}'", sign);
  }
  return {};
}

// For messages of failed tests.
std::string Printable(const std::string& bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 600)) {
    const bool plain = (c >= ' ' && c < 0x7f) || c == '\n';
    text += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

class MutatedSlow : public ::testing::Test {
 protected:
  // Gives `file` to the program damaged in `count` ways.
  void Feed(const std::string& file, const std::vector<std::string>& command, int count) {
    const std::string path = folder_ / file, whole = ReadTextFile(path);
    fs::remove_all(folder_ / "out");
    const Outcome sound = Sotto(command);
    ASSERT_EQ(sound.code, 0) << file << ": not even whole\n" << sound.Text();
    SeededRng rng(++feeds_);
    std::string complaints;
    for (int i = 0; i < count && complaints.size() < 5000; ++i) {
      std::string bytes = whole;
      for (std::uint64_t n = 1 + rng.Below(3); n > 0; --n) Damage(bytes, rng);
      WriteFileAtomically(path, bytes);
      fs::remove_all(folder_ / "out");
      const Outcome outcome = Sotto(command, {}, 10.0);
      const std::string wrong = Wrong(outcome, command.front() == "check");
      if (wrong.empty()) continue;
      complaints += fmt::format("damage {}: {}\n{}of {} bytes: {}\n", i, wrong,
                                Printable(outcome.Text()), bytes.size(), Printable(bytes));
    }
    fs::remove(path);
    WriteFileAtomically(path, whole);
    EXPECT_EQ(complaints, "") << file << " for " << fmt::format("{}", fmt::join(command, " "));
  }

  // What the program should not have done; empty: nothing.
  static std::string Wrong(const Outcome& outcome, bool problems_are_the_output) {
    if (outcome.hung) return "hung";
    if (outcome.signal != 0) return fmt::format("ended by signal {}", outcome.signal);
    if (outcome.code < 0 || outcome.code > 2) return fmt::format("exit code {}", outcome.code);
    for (const std::string& text : {outcome.err, outcome.out}) {
      if (std::string unfit = Unfit(text); !unfit.empty()) return unfit;
    }
    if (outcome.code == 0 || problems_are_the_output) return {};
    if (outcome.err.size() > 20000) return fmt::format("{} characters", outcome.err.size());
    std::size_t errors = 0, failed = 0;
    for (const std::string_view line : SplitLines(outcome.err)) {
      errors += line.starts_with("sotto: ") ? 1 : 0;
      failed += line.starts_with("failed: ") ? 1 : 0;
    }
    if (outcome.code == 1 && errors != 1 && failed == 0) return fmt::format("{} lines", errors);
    return {};
  }

  std::vector<std::string> Anonymise(const std::string& in, const std::string& out,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {
        "anonymise", folder_ / in, folder_ / out, "--method", "mcadams", "--jobs", "1"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  void Write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    WriteFileAtomically(folder_ / name, content);
  }
  void WriteVoice(const std::string& name, int format, double seconds = 0.2) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    WriteAny(folder_ / name, format, 16000, 1, SyntheticVowel(seconds, 16000));
  }

  // A folder of embeddings of `speakers`, two for each.
  void WriteEmbeddings(const std::string& name, const std::string& speakers, bool binary,
                       bool npy) const {
    SeededRng rng(static_cast<std::uint64_t>(speakers[0]));
    std::string ark, utt2spk, genders, ids, values;
    constexpr int kDimension = 8;
    for (const char speaker : speakers) {
      genders += fmt::format("{} {}\n", speaker, speaker % 2 == 0 ? 'f' : 'm');
      for (const int i : {1, 2}) {
        const std::string id = fmt::format("{}{}", speaker, i);
        ids += id + "\n";
        utt2spk += fmt::format("{} {}\n", id, speaker);
        ark += binary ? id + " " + std::string("\0BFV \4", 6) : id + "  [ ";
        const std::int32_t size = kDimension;
        if (binary) ark.append(reinterpret_cast<const char*>(&size), sizeof size);
        for (int k = 0; k < kDimension; ++k) {
          const auto value = static_cast<float>(rng.Gaussian());
          const std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
          ark += binary ? raw : fmt::format("{} ", value);
          values += raw;
        }
        if (!binary) ark += "]\n";
      }
    }
    Write(name + "/xvector.ark", ark);
    Write(name + "/utt2spk", utt2spk);
    Write(name + "/spk2gender", genders);
    if (!npy) return;
    std::string header =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}",
                    2 * speakers.size(), kDimension);
    header.resize(117, ' ');
    Write(name + "/xvector.npy", std::string("\x93NUMPY\1\0", 8) +
                                     std::string({static_cast<char>(118), '\0'}) + header + "\n" +
                                     values);
    Write(name + "/ids", ids);
  }

  const QuickFolder folder_;
  std::uint64_t feeds_ = 0;
};

TEST_F(MutatedSlow, SoundFiles) {
  WriteVoice("a/x.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  WriteVoice("b/x.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  WriteVoice("c/x.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  fs::create_directory(folder_ / "out");
  Feed("a/x.wav", Anonymise("a", "out"), 70);
  Feed("b/x.flac", Anonymise("b", "out"), 90);
  Feed("c/x.wav", Anonymise("c", "out"), 60);
}

TEST_F(MutatedSlow, SoundFilesThatAreChecked) {
  WriteVoice("a/x.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24);
  WriteVoice("b/x.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  WriteVoice("c/x.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS);
  Feed("a/x.wav", {"check", folder_ / "a", "--json"}, 50);
  Feed("b/x.flac", {"check", folder_ / "b"}, 50);
  Feed("c/x.ogg", {"check", folder_ / "c"}, 30);
}

TEST_F(MutatedSlow, CorpusTables) {
  for (const char* name : {"1.wav", "2.wav"}) {
    WriteVoice(fmt::format("k/wav/{}", name), SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  }
  Write("k/wav.scp", "r1 wav/1.wav\nr2 wav/2.wav\n");
  Write("k/segments", "a-1 r1 0.01 0.09\na-2 r1 0.1 0.18\nb-1 r2 0.02 0.2\n");
  Write("k/utt2spk", "a-1 a\na-2 a\nb-1 b\n");
  Write("k/spk2utt", "a a-1 a-2\nb b-1\n");
  Write("k/spk2gender", "a f\nb m\n");
  Write("k/text", "a-1 some words\na-2 others\nb-1 and more\n");
  const auto command = Anonymise("k", "out", {"--new-ids", "--seed", "1"});
  for (const char* table : {"wav.scp", "segments", "utt2spk"}) {
    Feed(fmt::format("k/{}", table), command, 40);
  }
  for (const char* table : {"spk2utt", "spk2gender", "text"}) {
    Feed(fmt::format("k/{}", table), Anonymise("k", "out"), 15);
    Feed(fmt::format("k/{}", table), {"check", folder_ / "k", "--quick", "--json"}, 15);
  }
}

TEST_F(MutatedSlow, ManifestsAndKeys) {
  for (const char* name : {"1.wav", "2.wav"}) {
    WriteVoice(fmt::format("m/wav/{}", name), SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  }
  Write("m/manifest.tsv",
        "utt_id\tpath\tspeaker\tgender\ttext\nu1\twav/1.wav\ta\tF\thello\nu2\twav/"
        "2.wav\tb\tM\tbye\n");
  Write("key", std::string(64, 'e') + "\n");
  Feed("m/manifest.tsv", Anonymise("m", "out"), 50);
  Feed("m/manifest.tsv", {"check", folder_ / "m"}, 40);
  Feed("key", Anonymise("m", "out", {"--key", folder_ / "key"}), 40);
}

TEST_F(MutatedSlow, Embeddings) {
  WriteEmbeddings("e", "abc", /*binary=*/true, /*npy=*/false);
  WriteEmbeddings("t", "abc", /*binary=*/false, /*npy=*/false);
  WriteEmbeddings("n", "abc", /*binary=*/true, /*npy=*/true);
  WriteEmbeddings("pool", "pqrstuvw", /*binary=*/true, /*npy=*/false);
  const auto protect = [&](const char* in, const char* method) {
    std::vector<std::string> command = {"protect-embedding",
                                        folder_ / in,
                                        folder_ / "out",
                                        "--method",
                                        method,
                                        "--pool",
                                        folder_ / "pool",
                                        "--seed",
                                        "1",
                                        "--jobs",
                                        "1"};
    if (method[0] == 'v') command.insert(command.end(), {"--eps", "5"});
    return command;
  };
  const std::vector<std::string> score = {"score", "--enrol", folder_ / "e", "--trials",
                                          folder_ / "pool"};
  Feed("e/xvector.ark", protect("e", "voice-ind"), 50);
  Feed("t/xvector.ark", protect("t", "pool"), 30);
  Feed("pool/xvector.ark", protect("e", "voice-ind"), 30);
  Feed("n/xvector.npy", protect("n/xvector.npy", "voice-ind"), 40);
  Feed("n/ids", protect("n/xvector.npy", "voice-ind"), 15);
  Feed("e/utt2spk", score, 20);
  Feed("e/spk2gender", protect("e", "pool"), 20);
  Feed("pool/xvector.ark", score, 30);
}

TEST_F(MutatedSlow, TrialsAndScores) {
  std::string tsv = "enrol\ttest\tlabel\tscore\tenrol_spk\ttest_spk\tgroup\n", key, scores;
  std::string similarity = "seg_a\tseg_b\tscore\tspk_a\tspk_b\n";
  SeededRng rng(4);
  for (const char a : {'a', 'b', 'c'}) {
    for (const char b : {'a', 'b', 'c'}) {
      for (const int i : {1, 2}) {
        const double score = rng.Gaussian() + (a == b ? 2.0 : 0.0);
        const char* label = a == b ? "target" : "nontarget";
        tsv += fmt::format("{}\t{}{}\t{}\t{:.3f}\t{}\t{}\t{}\n", a, b, i, label, score, a, b,
                           a == 'a' ? 'f' : 'm');
        key += fmt::format("{} {}{} {}\n", a, b, i, label);
        scores += fmt::format("{} {}{} {:.3f}\n", a, b, i, score);
        similarity += fmt::format("{0}{2}\t{1}x{2}\t{3:.3f}\t{0}\t{1}\n", a, b, i, score);
      }
    }
  }
  Write("trials.tsv", tsv);
  Write("key", key);
  Write("scores", scores);
  Write("similarity.tsv", similarity);
  Write("sasv.tsv",
        "attack\tkey\tasv_score\tcm_score\n-\ttarget\t1\t2\n-\ttarget\t2\t1\n-\tnontarget\t0\t2\n"
        "-\tnontarget\t-1\t1\nA\tspoof\t1\t-2\nA\tspoof\t0.5\t-1\n");
  Write("ref", "u1 one two three\nu2 four five\n");
  Write("hyp", "u1 one too three\nu2 four five six\n");
  Write("people.csv", "speaker,sex,age\na,F,40\nb,M,41\nc,F,40\nd,M,41\n");
  const std::vector<std::string> quick = {"--bootstrap", "10", "--jobs", "1"};
  const auto assess = [&](std::vector<std::string> command) {
    command.insert(command.begin(), "assess");
    command.insert(command.end(), quick.begin(), quick.end());
    return command;
  };
  Feed("trials.tsv", assess({"verify", folder_ / "trials.tsv", "--json"}), 40);
  Feed("trials.tsv", assess({"verify", folder_ / "trials.tsv"}), 30);
  Feed("trials.tsv", assess({"fairness", folder_ / "trials.tsv"}), 20);
  Feed("trials.tsv", assess({"legal", folder_ / "trials.tsv", "-N", "2", "-L", "1"}), 20);
  const std::vector<std::string> pair =
      assess({"verify", "--scores", folder_ / "scores", "--key", folder_ / "key"});
  Feed("scores", pair, 25);
  Feed("key", pair, 25);
  const std::string matrix = folder_ / "similarity.tsv";
  Feed("similarity.tsv", assess({"similarity", "--oo", matrix, "--op", matrix, "--pp", matrix}),
       20);
  Feed("sasv.tsv", assess({"tandem", "--sasv", folder_ / "sasv.tsv"}), 20);
  Feed("hyp", assess({"wer", folder_ / "ref", folder_ / "hyp"}), 20);
  Feed("people.csv", {"dp", "kanon", folder_ / "people.csv", "--quasi", "sex,age"}, 20);
}

TEST_F(MutatedSlow, Pools) {
  WriteVoice("a/x.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 0.6);
  WriteVoice("voices/p/x.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1.5);
  ASSERT_EQ(Sotto({"build", "vtln", folder_ / "voices", "-o", folder_ / "pool"}).code, 0);
  Feed("pool", Anonymise("a", "out", {"--pitch", "target", "--pool", folder_ / "pool"}), 30);
  WriteVoice("b/x.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  fs::copy_file(SOTTO_NEURAL_VOICES, folder_ / "voices.safetensors");
  Feed("voices.safetensors",
       {"anonymise", folder_ / "b", folder_ / "out", "--method", "neural", "--target", "pool",
        "--target-pool", folder_ / "voices.safetensors"},
       14);
}

}  // namespace
}  // namespace sotto::testing

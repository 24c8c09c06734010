#include "audio/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "audio/corpus_check.h"
#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"
#include "base/text.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

std::size_t Errors(const std::vector<Problem>& problems) {
  return static_cast<std::size_t>(
      std::count_if(problems.begin(), problems.end(),
                    [](const auto& p) { return p.severity == Problem::Severity::kError; }));
}

bool Mentions(const std::vector<Problem>& problems, const std::string& text) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return (p.where + " " + p.what).find(text) != std::string::npos && !p.fix.empty();
  });
}

KaldiTexts GoodKaldi() {
  KaldiTexts texts;
  texts.wav_scp = "r1 a.wav\nr2 /data/b.flac\n";
  texts.utt2spk = "u1 anna\nu2 ben\nu3 ben\n";
  texts.segments = "u1 r1 0.5 1.5\nu2 r1 1.5 2\nu3 r2 0 -1\n";
  texts.spk2gender = "anna f\nben m\n";
  texts.text = "u1 good morning\nu2 HELLO\nu3\n";
  return texts;
}

TEST(Kaldi, ReadsADataDirWithSegments) {
  const CorpusScan scan = ParseKaldi(GoodKaldi(), "/corpus", {});
  EXPECT_EQ(Errors(scan.problems), 0U);
  ASSERT_EQ(scan.corpus.recordings.size(), 2U);
  EXPECT_EQ(scan.corpus.recordings[0].path, "/corpus/a.wav");
  EXPECT_EQ(scan.corpus.recordings[1].path, "/data/b.flac");
  ASSERT_EQ(scan.corpus.recordings[0].spans.size(), 2U);
  EXPECT_EQ(scan.corpus.recordings[0].spans[1].speaker, "ben");
  EXPECT_EQ(scan.corpus.recordings[1].spans[0].end_s, -1.0);
}

TEST(Kaldi, RefusesPipesUnlessAllowed) {
  KaldiTexts texts = GoodKaldi();
  texts.wav_scp = "r1 a.wav\nr2 flac -dc b.flac |\n";
  EXPECT_TRUE(Mentions(ParseKaldi(texts, "/c", {}).problems, "pipe"));
  const auto scan = ParseKaldi(texts, "/c", {.allow_pipes = true});
  EXPECT_EQ(Errors(scan.problems), 0U);
  EXPECT_EQ(scan.corpus.recordings[1].pipe, "flac -dc b.flac ");
}

TEST(Kaldi, NamesEveryProblem) {
  const auto problems_with = [](void (*change)(KaldiTexts&)) {
    KaldiTexts texts = GoodKaldi();
    change(texts);
    return ParseKaldi(texts, "/c", {}).problems;
  };
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { *t.segments += "u4 r1 2 3\n"; }), "u4"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { *t.utt2spk += "u9 ben\n"; }), "u9"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.wav_scp += "r1 c.wav\n"; }), "twice"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.segments = "u1 r1 0.5\n"; }), "fields"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.segments = "u1 r1 x 2\n"; }), "not a number"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.segments = "u1 r1 2 1\n"; }), "from 2 to 1"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.segments = "u1 r7 0 1\n"; }), "r7"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.wav_scp = "../../r1 a.wav\n"; }), "outside"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.utt2spk.reset(); }), "utt2spk"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.spk2gender = "anna f\n"; }), "ben"));
  EXPECT_TRUE(Mentions(problems_with([](auto& t) { t.spk2utt = "anna u1 u2\nben u3\n"; }), "u2"));
}

TEST(Kaldi, LinesThatAreNoCleanTextAreProblemsInEveryTable) {
  for (const char* bad : {"\xE9", "\x1b[2J", "\xC2\x9B", "\x7f", "\xED\xA0\x80"}) {
    using Get = std::string& (*)(KaldiTexts&);
    for (const Get table : {Get([](KaldiTexts& t) -> std::string& { return t.wav_scp; }),
                            Get([](KaldiTexts& t) -> std::string& { return *t.utt2spk; }),
                            Get([](KaldiTexts& t) -> std::string& { return *t.segments; }),
                            Get([](KaldiTexts& t) -> std::string& { return *t.spk2gender; }),
                            Get([](KaldiTexts& t) -> std::string& { return *t.text; })}) {
      KaldiTexts texts = GoodKaldi();
      texts.text = "u1 hello\nu2 hello\nu3 hello\n";
      table(texts) += std::string("x") + bad + " y\n";
      const auto scan = ParseKaldi(texts, "/c", {});
      EXPECT_TRUE(Mentions(scan.problems, "no UTF-8") ||
                  Mentions(scan.problems, "control character"))
          << bad;
      EXPECT_GE(Errors(scan.problems), 1U);
      for (const Problem& problem : scan.problems) {
        EXPECT_EQ(FindUnclean(problem.where + problem.what), std::string::npos);
      }
    }
  }
}

TEST(Kaldi, OverlappingSegmentsOfTwoSpeakersAreAnError) {
  KaldiTexts texts = GoodKaldi();
  texts.segments = "u1 r1 0.5 1.6\nu2 r1 1.5 2\nu3 r2 0 -1\n";
  EXPECT_TRUE(Mentions(ParseKaldi(texts, "/c", {}).problems, "overlap"));
  texts.utt2spk = "u1 ben\nu2 ben\nu3 ben\n";  // one speaker may overlap with themself
  EXPECT_EQ(Errors(ParseKaldi(texts, "/c", {}).problems), 0U);
  // A long segment reaches over a short one into a third.
  texts.utt2spk = "u1 anna\nu2 anna\nu3 ben\n";
  texts.segments = "u1 r1 0 10\nu2 r1 1 2\nu3 r1 5 6\n";
  EXPECT_TRUE(Mentions(ParseKaldi(texts, "/c", {}).problems, "overlap"));
}

TEST(Manifest, MissingColumnIsAnError) {
  EXPECT_THROW(ParseManifest("utt_id\tpath\nu\ta.wav\n", "m.tsv"), Error);
  try {
    ParseManifest("utt_id\tspeaker\nu\ta\n", "m.tsv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'m.tsv' has no column 'path'"), std::string::npos);
  }
}

TEST(Manifest, NamesEveryProblem) {
  const auto problems = [](const std::string& rows) {
    return ParseManifest("utt_id\tpath\tspeaker\tgender\n" + rows, "m.tsv").problems;
  };
  EXPECT_EQ(problems("u\ta.wav\ts\tF\n").size(), 0U);
  EXPECT_TRUE(Mentions(problems("u\ta.wav\t\tF\n"), "no speaker"));
  EXPECT_TRUE(Mentions(problems("u\t../a.wav\ts\tF\n"), "out of the corpus"));
  EXPECT_TRUE(Mentions(problems("u\t/etc/a.wav\ts\tF\n"), "out of the corpus"));
  EXPECT_TRUE(Mentions(problems("u\ta.wav\ts\tF\nu\tb.wav\ts\tF\n"), "earlier row"));
  EXPECT_TRUE(Mentions(problems("u\ta.wav\ts\t\n"), "gender"));
  EXPECT_TRUE(Mentions(problems(""), "no rows"));
}

TEST(Folder, SpeakerIsTheFolderAFileLiesIn) {
  const TemporaryFolder folder;
  for (const char* name : {"anna/1.wav", "anna/2.wav", "ben/x/1.wav", "top.wav"}) {
    WriteWav(folder / name, SyntheticVowel(0.1, 16000));
  }
  WriteFileAtomically(folder / "anna/notes.txt", "x");
  const Corpus corpus = ScanCorpus(folder.Path()).corpus;
  ASSERT_EQ(corpus.recordings.size(), 4U);
  EXPECT_EQ(corpus.recordings[0].id, "anna/1");
  EXPECT_EQ(corpus.recordings[0].spans[0].speaker, "anna");
  EXPECT_EQ(corpus.recordings[2].spans[0].speaker, "ben/x");
  EXPECT_EQ(corpus.recordings[3].spans[0].speaker, folder.Path().filename());
  EXPECT_EQ(corpus.left_out, std::vector<std::string>{"anna/notes.txt"});
}

TEST(Manifest, PlacesThatAreOneAndTheWorkFolderAreProblems) {
  const TemporaryFolder folder;
  const auto problems = [&](const std::string& rows) {
    WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\n" + rows);
    return ScanCorpus(folder.Path()).problems;
  };
  EXPECT_TRUE(problems("a\tx.wav\ts\nb\ty.wav\ts\n").empty());
  EXPECT_TRUE(Mentions(problems("a\twav/x.wav\ts\nb\twav//x.wav\ts\n"), "to this name"));
  EXPECT_TRUE(Mentions(problems("a\tx.wav\ts\nb\t./x.wav\ts\n"), "to this name"));
  EXPECT_TRUE(Mentions(problems("a\t.sotto-work/x.wav\ts\n"), "state of a run"));
  EXPECT_TRUE(Mentions(problems("a\t./.sotto-work/x.wav\ts\n"), "state of a run"));
}

TEST(Kaldi, IdsThatAreOneAfterNormalisationAreAProblem) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "wav.scp", "a x.wav\n./a y.wav\n");
  WriteFileAtomically(folder / "utt2spk", "a s\n./a s\n");
  EXPECT_TRUE(Mentions(ScanCorpus(folder.Path()).problems, "to this name"));
}

TEST(Folder, FollowsLinksAndEntersEveryFolderOnce) {
  const TemporaryFolder folder;
  WriteWav(folder / "other/deep/1.wav", SyntheticVowel(0.1, 16000));
  WriteWav(folder / "in/a/1.wav", SyntheticVowel(0.1, 16000));
  fs::create_symlink("../other", folder / "in/b");
  CorpusScan scan = ScanCorpus(folder / "in");
  EXPECT_TRUE(scan.problems.empty());
  ASSERT_EQ(scan.corpus.recordings.size(), 2U);
  EXPECT_EQ(scan.corpus.recordings[1].id, "b/deep/1");
  // Ways that lead on to each other would double the corpus with every link.
  for (const char* name : {"x", "y", "z"}) fs::create_symlink("..", folder / "in/a" / name);
  fs::create_symlink("nowhere", folder / "in/c");
  scan = ScanCorpus(folder / "in");
  EXPECT_EQ(scan.corpus.recordings.size(), 2U);
  EXPECT_EQ(Errors(scan.problems), 4U);
  EXPECT_TRUE(Mentions(scan.problems, "leads nowhere"));
}

TEST(Folder, NamesThatAreNoIdsAreProblems) {
  const TemporaryFolder folder;
  WriteWav(folder / "good.wav", SyntheticVowel(0.1, 16000));
  for (const char* bad : {"caf\xE9.wav", "x\x1b[2J.wav", "x\ny.wav", "x\ty.wav"}) {
    WriteWav(folder / bad, SyntheticVowel(0.1, 16000));
    const CorpusScan scan = ScanCorpus(folder.Path());
    EXPECT_EQ(scan.corpus.recordings.size(), 1U);
    EXPECT_EQ(Errors(scan.problems), 1U);
    EXPECT_EQ(FindUnclean(scan.problems.at(0).where), std::string::npos);
    fs::remove(folder / bad);
  }
}

TEST(Folder, TwoFilesThatWouldBecomeOneAreAProblem) {
  const TemporaryFolder folder;
  WriteWav(folder / "a/1.wav", SyntheticVowel(0.1, 16000));
  testing::WriteAny(folder / "a/1.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1,
                    SyntheticVowel(0.1, 16000));
  EXPECT_TRUE(Mentions(ScanCorpus(folder.Path()).problems, "two recordings"));
}

TEST(Folder, WithoutSoundIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THROW(ScanCorpus(folder.Path()), Error);
  EXPECT_THROW(ScanCorpus(folder / "absent"), Error);
}

TEST(OpenCorpus, RefusesErrorsTakesWarningsAndOneFileWhereAsked) {
  const TemporaryFolder folder;
  WriteWav(folder / "x.wav", SyntheticVowel(0.1, 16000));
  WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\tgender\nu\tx.wav\ts\t\n");
  EXPECT_EQ(ScanCorpus(folder.Path()).problems.size(), 1U);
  EXPECT_EQ(OpenCorpus(folder.Path()).recordings.size(), 1U);
  WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\nu\tx.wav\t\n\tx.wav\ts\n");
  try {
    OpenCorpus(folder.Path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no speaker"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("more: sotto check"), std::string::npos);
  }
  EXPECT_THROW(OpenCorpus(folder / "x.wav"), Error);
  const Corpus single = OpenCorpus(folder / "x.wav", {.allow_file = true});
  ASSERT_EQ(single.recordings.size(), 1U);
  EXPECT_EQ(single.recordings[0].spans[0].speaker, "x");
  // Where a file is allowed, whoever reads it finds out.
  for (const char* absent : {"absent", "absent.wav", "absent.tsv"}) {
    EXPECT_THROW(OpenCorpus(folder / absent), Error) << absent;
    EXPECT_EQ(OpenCorpus(folder / absent, {.allow_file = true}).recordings.size(), 1U) << absent;
  }
}

TEST(CheckCorpus, FindsUnreadableSoundAndSegmentsOutside) {
  const TemporaryFolder folder;
  WriteWav(folder / "a/good.wav", SyntheticVowel(0.5, 16000));
  WriteFileAtomically(folder / "a/bad.wav", "RIFFxxxxWAVE");
  const CorpusCheck check = CheckCorpus(folder.Path(), {});
  EXPECT_EQ(check.recordings, 2U);
  EXPECT_NEAR(check.audio_seconds, 0.5, 1e-9);
  EXPECT_EQ(Errors(check.problems), 1U);
  EXPECT_TRUE(Mentions(check.problems, "a/bad"));

  const TemporaryFolder kaldi;
  WriteWav(kaldi / "r.wav", SyntheticVowel(0.5, 16000));
  WriteFileAtomically(kaldi / "wav.scp", "r r.wav\nq gone.wav\n");
  WriteFileAtomically(kaldi / "utt2spk", "u s\nv s\n");
  WriteFileAtomically(kaldi / "segments", "u r 0 5\nv q 0 1\n");
  const auto problems = CheckCorpus(kaldi.Path(), {}).problems;
  EXPECT_TRUE(Mentions(problems, "outside the recording"));
  EXPECT_TRUE(Mentions(problems, "gone.wav"));
}

TEST(WriteCorpusTables, KaldiGoesOutAsItCameIn) {
  const TemporaryFolder folder;
  KaldiTexts texts = GoodKaldi();
  texts.wav_scp = "r1 a.wav\nr2 b.flac\n";
  const CorpusScan scan = ParseKaldi(texts, "/c", {});
  WriteCorpusTables(scan.corpus, folder.Path(), {"wav/r1.wav", "wav/r2.flac"});
  EXPECT_EQ(ReadTextFile(folder / "wav.scp"), "r1 wav/r1.wav\nr2 wav/r2.flac\n");
  EXPECT_EQ(ReadTextFile(folder / "segments"), *texts.segments);
  EXPECT_EQ(ReadTextFile(folder / "utt2spk"), *texts.utt2spk);
  EXPECT_EQ(ReadTextFile(folder / "spk2utt"), "anna u1\nben u2 u3\n");
  EXPECT_EQ(ReadTextFile(folder / "spk2gender"), *texts.spk2gender);
  EXPECT_EQ(ReadTextFile(folder / "text"), *texts.text);
}

TEST(WriteCorpusTables, ManifestKeepsOtherColumnsAsTheyAre) {
  const TemporaryFolder folder;
  const std::string text = "age\tutt_id\tpath\tspeaker\n30\tu1\ta.mp3\ts\n\tu2\tb.wav\tt\n";
  const CorpusScan scan = ParseManifest(text, "/c/m.tsv");
  WriteCorpusTables(scan.corpus, folder.Path(), {"a.flac", "b.wav"});
  EXPECT_EQ(ReadTextFile(folder / "m.tsv"),
            "age\tutt_id\tpath\tspeaker\n30\tu1\ta.flac\ts\n\tu2\tb.wav\tt\n");
}

TEST(RealCorpora, AllManifestsScanWithoutErrors) {
  SOTTO_NEEDS_SHARED("data/speech/libri_eval/manifest.tsv");
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::SharedFolder() / "data/speech")) {
    const CorpusScan scan = ScanCorpus(entry.path());
    EXPECT_EQ(Errors(scan.problems), 0U) << entry.path();
    EXPECT_GT(scan.corpus.recordings.size(), 100U);
  }
}

}  // namespace
}  // namespace sotto

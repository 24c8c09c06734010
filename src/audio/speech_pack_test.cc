#include "audio/speech_pack.h"

#include <gtest/gtest.h>

#include "audio/pack_corpus.h"
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

void MakeCorpus(const fs::path& folder, const std::string& speaker, const std::string& record) {
  WriteWav(folder / speaker / (speaker + "-1.wav"), SyntheticVowel(0.5, 16000, 120.0, {700.0}));
  if (!record.empty()) WriteFileAtomically(folder / "sotto-run.json", record);
}

TEST(SpeechPack, HoldsTheDecodedCorpusForItsOwnerAlone) {
  const TemporaryFolder folder;
  MakeCorpus(folder / "a", "ann", "");
  const SpeechPack made = PackCorpora({folder / "a"}, false, 1);
  ASSERT_EQ(made.utterances.size(), 1u);
  EXPECT_EQ(made.utterances[0].speaker, "ann");
  EXPECT_EQ(made.utterances[0].count, 8000u);
  WriteSpeechPack(folder / "x.pack", made);
  EXPECT_EQ(fs::status(folder / "x.pack").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const SpeechPack read = ReadSpeechPack(folder / "x.pack");
  EXPECT_EQ(read.samples, made.samples);
  EXPECT_EQ(read.utterances[0].id, made.utterances[0].id);
}

TEST(SpeechPack, NeedsNoName) {
  const TemporaryFolder folder;
  SpeechPack made;
  made.utterances.push_back({"u", "ann", Gender::kFemale, 0, 3});
  made.samples = {1, -2, 3};
  const UnnamedFile file(folder.Path());
  WriteSpeechPack(file, made);
  EXPECT_TRUE(fs::is_empty(folder.Path()));
  const SpeechPack read = ReadSpeechPack(file.Path());
  EXPECT_EQ(read.samples, made.samples);
  EXPECT_EQ(read.utterances[0].speaker, "ann");
  EXPECT_EQ(read.utterances[0].gender, Gender::kFemale);
}

TEST(SpeechPack, CutShortOrForeignIsAnError) {
  const TemporaryFolder folder;
  MakeCorpus(folder / "a", "ann", "");
  WriteSpeechPack(folder / "x.pack", PackCorpora({folder / "a"}, false, 1));
  const std::string bytes = ReadTextFile(folder / "x.pack");
  for (const std::size_t n : {std::size_t{0}, std::size_t{12}, std::size_t{40}, bytes.size() - 2}) {
    WriteFileAtomically(folder / "cut.pack", bytes.substr(0, n));
    EXPECT_THROW(ReadSpeechPack(folder / "cut.pack"), Error) << n;
  }
}

TEST(SpeechPack, CorporaProtectedInOtherWaysDoNotMix) {
  const TemporaryFolder folder;
  MakeCorpus(folder / "a", "ann", R"({"method": "mcadams", "counts": {"done": 1}})");
  MakeCorpus(folder / "b", "bob", R"({"method": "mcadams", "counts": {"done": 2}})");
  MakeCorpus(folder / "c", "cid", R"({"method": "vtln", "counts": {"done": 1}})");
  MakeCorpus(folder / "d", "dan", "");
  EXPECT_EQ(PackCorpora({folder / "a", folder / "b"}, false, 1).utterances.size(), 2u);
  EXPECT_THROW(PackCorpora({folder / "a", folder / "c"}, false, 1), Error);
  EXPECT_THROW(PackCorpora({folder / "a", folder / "d"}, false, 1), Error);
}

}  // namespace
}  // namespace sotto

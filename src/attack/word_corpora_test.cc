#include "attack/word_corpora.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attack/word_splits.h"
#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using testing::TemporaryFolder;

TEST(WordCorpora, AgesAreTeenagersOrAdults) {
  for (const char* age : {"teens", "19", "7"}) EXPECT_EQ(ParseAgeGroup(age), 1) << age;
  for (const char* age : {"twenties", "fourties", "20", "88"}) EXPECT_EQ(ParseAgeGroup(age), 0);
  for (const char* age : {"", "old", "-3", "1976", "30 or so"}) EXPECT_EQ(ParseAgeGroup(age), -1);
}

TEST(WordCorpora, ChaptersAreReadFromIdsOfLibriSpeechAlone) {
  EXPECT_EQ(ChapterOf("84-121123-0001", "84"), 121123);
  EXPECT_EQ(ChapterOf("84-121123-0001", "85"), std::nullopt);
  EXPECT_EQ(ChapterOf("anna-12-0001", "anna"), std::nullopt);
  EXPECT_EQ(ChapterOf("84-121123", "84"), std::nullopt);
  EXPECT_EQ(ChapterOf("84-12x-1", "84"), std::nullopt);
  EXPECT_EQ(ChapterOf("common_voice_en_31832758", "cvB0000"), std::nullopt);
}

TEST(WordCorpora, AManifestGivesWordsGendersAndAges) {
  const TemporaryFolder folder;
  std::string manifest = "utt_id\tpath\tspeaker\tgender\ttext\tage\n";
  for (int s = 0; s < 24; ++s) {
    manifest += fmt::format("u{0}\t{0}.wav\ts{0}\t{1}\tGood day, Anna!\t{2}\n", s,
                            s % 2 == 0 ? "F" : "M", s < 3 ? "teens" : "thirties");
  }
  manifest += "silent\tx.wav\tnobody\tF\t\t\n";
  WriteFileAtomically(folder / "manifest.tsv", manifest);
  const WordCorpus corpus = ReadWordCorpus(folder.Path());
  ASSERT_EQ(corpus.speakers.size(), 24U);
  EXPECT_EQ(corpus.speakers[0].sentences,
            (std::vector<std::vector<std::string>>{{"good", "day", "anna"}}));
  ASSERT_EQ(corpus.attributes.size(), 1U);  // three teenagers are too few
  EXPECT_EQ(CountLabelled(corpus, corpus.attributes[0]), (std::array<std::size_t, 2>{12, 12}));
  EXPECT_EQ(corpus.attributes[0].labels[0], 1);
  ASSERT_EQ(corpus.notes.size(), 1U);
  EXPECT_EQ(corpus.notes[0], "age: 21 adult and 3 teenager speakers; 10 of each are needed");
}

TEST(WordCorpora, ACorpusWithoutTranscriptsIsRefused) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "manifest.tsv", "utt_id\tpath\tspeaker\nu\tu.wav\ts\n");
  EXPECT_THROW(ReadWordCorpus(folder.Path()), Error);
}

}  // namespace
}  // namespace sotto

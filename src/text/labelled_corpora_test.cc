#include "text/labelled_corpora.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::TemporaryFolder;

// "PER john | DATE today".
std::string Marked(const LabelledSentence& sentence) {
  std::string marked;
  for (const auto& entity : EntitiesOf(sentence)) {
    if (!marked.empty()) marked += " | ";
    marked += EntityName(entity.type);
    marked += ' ' + sentence.text.substr(entity.begin, entity.end - entity.begin);
  }
  return marked;
}

TEST(LabelledCorpora, BracketsBecomeEntitiesAndAPossessiveStaysOutside) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.tsv",
                      "intent\tannotation\n"
                      "x\twake [person : emma's] [relation : mother] at [time : five am] "
                      "[date : today] in [place_name : new york]\n");
  const auto corpus = ReadNluEval(folder / "a.tsv");
  ASSERT_EQ(corpus.sentences.size(), 1u);
  EXPECT_EQ(corpus.sentences[0].text, "wake emma's mother at five am today in new york");
  EXPECT_EQ(Marked(corpus.sentences[0]), "PER emma | TIME five am | DATE today | LOC new york");
  EXPECT_EQ(corpus.sentences[0].pattern,
            "wake <person> <relation> at <time> <date> in <place_name>");
}

TEST(LabelledCorpora, ABracketThatIsNotClosedIsRefusedWithItsLineAndNoWord) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.tsv", "intent\tannotation\nx\tcall [person : zebedee\n");
  try {
    ReadNluEval(folder / "a.tsv");
    FAIL() << "a bracket is open";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("line 2"), std::string::npos);
    EXPECT_EQ(message.find("zebedee"), std::string::npos);
  }
}

TEST(LabelledCorpora, NamesAreFoundAmongRelationsAndSurrogatesBecomeCharacters) {
  const TemporaryFolder folder;
  WriteFileAtomically(
      folder / "a.json",
      R"({"Book": [{"data": [{"text": "a table for "},)"
      R"({"text": "my mother, betty jones and I", "entity": "party_size_description"},)"
      R"({"text": " in "}, {"text": "Raum )"
      "\xed\xa0\xbc\xed\xbd\x95 \xe4"
      R"(", "entity": "city"}, {"text": " "}, {"text": "at 5 pm", "entity": "timeRange"}]}]})");
  const auto corpus = ReadSnips(folder.Path());
  ASSERT_EQ(corpus.sentences.size(), 1u);
  EXPECT_EQ(Marked(corpus.sentences[0]),
            "PER betty jones | LOC Raum \xf0\x9f\x8d\x95 \xc3\xa4 | TIME at 5 pm");
}

TEST(LabelledCorpora, ColumnsBecomeOrdinaryTextAndLeaveDatesOpen) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a.conll",
                      "Jane\tB-PER\nDoe\tI-PER\n's\tO\nhome\tO\n,\tO\nParis\tB-LOC\n.\tO\n\n"
                      "@\tB-PER\nsomeone\tB-PER\nhey\tO\n");
  const auto corpus = ReadBtc(folder.Path());
  ASSERT_EQ(corpus.sentences.size(), 2u);
  EXPECT_EQ(corpus.sentences[0].text, "Jane Doe's home, Paris.");
  EXPECT_EQ(Marked(corpus.sentences[0]), "PER Jane Doe | LOC Paris");
  EXPECT_FALSE(corpus.sentences[0].annotated[static_cast<std::size_t>(kDate)]);
  EXPECT_TRUE(corpus.sentences[0].annotated[static_cast<std::size_t>(kPerson)]);
  EXPECT_EQ(Marked(corpus.sentences[1]), "PER someone");
}

TEST(LabelledCorpora, ATranscriptHasTheSameEntities) {
  const std::string text = "Call Jane Doe, at 5:30, in Paris!";
  const std::vector<Entity> entities = {{5, 13, kPerson}, {18, 22, kTime}, {27, 32, kLocation}};
  const auto transcript = AsTranscript(MakeSentence(text, entities));
  EXPECT_EQ(transcript.text, "call jane doe at 5 30 in paris");
  EXPECT_EQ(Marked(transcript), "PER jane doe | TIME 5 30 | LOC paris");
}

TEST(LabelledCorpora, WordsTellTimesFromDates) {
  for (const char* time : {"five pm", "06:50:20", "in 16 minutes", "seven", "twelve A.M.", "noon",
                           "1 second from now", "nineteen o'clock", "9"}) {
    EXPECT_EQ(TimeOrDate(time), kTime) << time;
  }
  for (const char* date : {"7/25/2027", "seventies", "1964", "Apr. the seventeenth, 2024",
                           "sep. the second", "Labor Day", "next autumn", "in 2 years", "tues.",
                           "June the 14th", "orthodox good friday", "2001-04-05 10:11:12"}) {
    EXPECT_EQ(TimeOrDate(date), kDate) << date;
  }
}

TEST(LabelledCorpora, NoSentenceAndNoTemplateStandsOnTwoSidesOfTheSplit) {
  SOTTO_NEEDS_SHARED("data/text");
  const auto corpora = ReadLabelledCorpora(testing::SharedFolder() / "data" / "text");
  EXPECT_EQ(corpora.size(), 6u);
  std::map<std::string, CorpusPart> part_of;
  std::map<CorpusPart, std::size_t> entities;
  for (const auto& corpus : corpora) {
    for (const auto& sentence : corpus.sentences) {
      ASSERT_EQ(sentence.tokens.size(), sentence.labels.size());
      const auto words = AsTranscript(sentence).text;
      EXPECT_EQ(part_of.try_emplace("w" + words, sentence.part).first->second, sentence.part);
      EXPECT_EQ(part_of.try_emplace("t" + sentence.pattern, sentence.part).first->second,
                sentence.part);
      entities[sentence.part] += EntitiesOf(sentence).size();
    }
  }
  EXPECT_GT(entities[CorpusPart::kTrain], 20000u);
  EXPECT_GT(entities[CorpusPart::kTune], 1000u);
  EXPECT_GT(entities[CorpusPart::kReport], 4000u);
}

}  // namespace
}  // namespace sotto

#include "text/surrogate_corpus.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

using enum EntityType;

// Words of capitals are persons.
class CapitalFinder : public EntityFinder {
 public:
  std::vector<Entity> Find(std::string_view text) const override {
    std::vector<Entity> found;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", i);
      const std::size_t stop = end == std::string_view::npos ? text.size() : end;
      if (stop > i) found.push_back({i, stop, kPerson});
      i = stop;
    }
    return found;
  }
};

struct SurrogateCorpora : public ::testing::Test {
  std::filesystem::path Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder / name, text);
    return folder / name;
  }
  testing::TemporaryFolder folder;
  CapitalFinder finder;
  SurrogateCounts counts;
};

TEST_F(SurrogateCorpora, OfPlainTextCountLinesThatDiffer) {
  const auto size = CountSurrogates(Write("a.txt", "it is ANNA\nit is ANNA\nANNA again\nand BOB\n"),
                                    finder, counts);
  EXPECT_EQ(size.texts, 4u);
  EXPECT_FALSE(size.labelled);
  EXPECT_FALSE(size.speakers);
  const Surrogates built = counts.Build(2, "test");
  EXPECT_TRUE(built.Find(kPerson, {}, "anna"));
  EXPECT_FALSE(built.Find(kPerson, {}, "bob"));
}

TEST_F(SurrogateCorpora, OfManifestsCountSpeakers) {
  const auto size = CountSurrogates(
      Write("m.tsv",
            "utt_id\tspeaker\ttext\n1\ta\ti am ANNA\n2\ta\tcall me ANNA\n3\tb\tBOB\n"
            "4\tc\tBOB\n"),
      finder, counts);
  EXPECT_TRUE(size.speakers);
  const Surrogates built = counts.Build(2, "test");
  EXPECT_FALSE(built.Find(kPerson, {}, "anna"));  // a says her own name
  EXPECT_TRUE(built.Find(kPerson, {}, "bob"));
}

TEST_F(SurrogateCorpora, WithMarkedEntitiesNeedNoFinder) {
  const auto size = CountSurrogates(
      Write("nlu.tsv", "intent\tannotation\nx\tCall [person : anna] in [place_name : leeds]\n"),
      finder, counts);
  EXPECT_TRUE(size.labelled);
  const Surrogates built = counts.Build(1, "test");
  EXPECT_TRUE(built.Find(kPerson, {}, "anna"));
  EXPECT_TRUE(built.Find(kLocation, {}, "leeds"));
}

TEST_F(SurrogateCorpora, ThatAreNoneAreRefused) {
  EXPECT_THROW(CountSurrogates(folder / "absent", finder, counts), Error);
  EXPECT_THROW(CountSurrogates(Write("empty.txt", ""), finder, counts), Error);
  EXPECT_THROW(CountSurrogates(Write("x.tsv", "a\tb\n1\t2\n"), finder, counts), Error);
  try {
    CountSurrogates(Write("z.tsv",
                          "text\nzelda\nzel\xff"
                          "da\n"),
                    finder, counts);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line 3"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("zel"), std::string::npos);
  }
  EXPECT_THROW(CountSurrogates(Write("y.txt",
                                     "zel\xff"
                                     "da\n"),
                               finder, counts),
               Error);
}

TEST_F(SurrogateCorpora, OfTheSharedDataGiveEveryTaggedClass) {
  SOTTO_NEEDS_SHARED("data/text/nlu_eval/annotated.tsv");
  CountSurrogates(testing::SharedFolder() / "data/text/nlu_eval/annotated.tsv", finder, counts);
  const Surrogates built = counts.Build(kDefaultMinPeople, "nlu_eval", &ProgramSurrogates());
  for (std::size_t i = 0; i < kTaggedTypes; ++i) {
    EXPECT_TRUE(built.Has(static_cast<EntityType>(i))) << i;
  }
}

}  // namespace
}  // namespace sotto

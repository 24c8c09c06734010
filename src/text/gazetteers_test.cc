#include "text/gazetteers.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

std::uint32_t HashOf(std::initializer_list<std::string_view> words) {
  std::uint32_t hash = kNoWords;
  for (const auto word : words) hash = HashOfWords(hash, word);
  return hash;
}

TEST(Gazetteers, APhraseIsOfAllListsInWhichItStands) {
  NameLists lists;
  lists.female = {"Paris"};
  lists.cities = {"Paris", "New York", "St. Moritz"};
  const Gazetteers names(lists);
  EXPECT_EQ(names.Find(HashOf({"paris"})), kFemaleName | kCity);
  EXPECT_EQ(names.Find(HashOf({"new", "york"})), kCity);
  EXPECT_EQ(names.Find(HashOf({"st", "moritz"})), kCity);  // signs count for nothing
  EXPECT_EQ(names.Find(HashOf({"new"})), 0);
  EXPECT_EQ(names.Find(HashOf({"york", "new"})), 0);
  EXPECT_NE(HashOf({"new", "york"}), HashOf({"newyork"}));
}

TEST(Gazetteers, WhatAFileHoldsIsTheSame) {
  NameLists lists;
  for (int i = 0; i < 1000; ++i) lists.first.push_back("name" + std::to_string(i));
  const Gazetteers names(lists);
  const Gazetteers again({names.Hashes().begin(), names.Hashes().end()},
                         {names.Kinds().begin(), names.Kinds().end()}, "here");
  for (int i = 0; i < 2000; ++i) {
    const auto hash = HashOf({"name" + std::to_string(i)});
    ASSERT_EQ(again.Find(hash), names.Find(hash));
    if (i < 1000) {
      ASSERT_EQ(names.Find(hash), kFirstName);
    }
  }
}

TEST(Gazetteers, HashesThatDoNotAscendAreRefused) {
  EXPECT_THROW(Gazetteers({2, 1}, {1, 1}, "here"), Error);
  EXPECT_THROW(Gazetteers({1, 1}, {1, 1}, "here"), Error);
  EXPECT_THROW(Gazetteers({1, 2}, {1}, "here"), Error);
}

TEST(NameLists, AreReadFromTheirFilesAndAFolderWithoutThemIsRefused) {
  const testing::TemporaryFolder folder;
  EXPECT_THROW(ReadNameLists(folder.Path()), Error);
  std::filesystem::create_directories(folder / "first_names");
  WriteFileAtomically(folder / "first_names" / "all.txt",
                      "\xEF\xBB\xBF"
                      "Ada\nBo\n");
  WriteFileAtomically(folder / "world-cities.csv",
                      "name,country,subcountry,geonameid\nLinz,Austria,Upper Austria,1\n");
  const auto lists = ReadNameLists(folder.Path());
  EXPECT_EQ(lists.first, (std::vector<std::string>{"Ada", "Bo"}));
  EXPECT_EQ(lists.cities, std::vector<std::string>{"Linz"});
  EXPECT_EQ(lists.regions, std::vector<std::string>{"Upper Austria"});
  EXPECT_EQ(lists.countries, std::vector<std::string>{"Austria"});
}

}  // namespace
}  // namespace sotto

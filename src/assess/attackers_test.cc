#include "assess/attackers.h"

#include <gtest/gtest.h>

#include <set>

#include "assess/ladder.h"
#include "base/error.h"

namespace sotto {
namespace {

TEST(Attackers, EachHasANameOfItsOwnThatIsReadBack) {
  std::set<std::string> names;
  for (const AttackerInfo& info : AllAttackers()) {
    EXPECT_EQ(ParseAttacker(Name(info.attacker)), info.attacker);
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_TRUE(names.insert(Name(info.attacker)).second) << info.name;
  }
  EXPECT_THROW(ParseAttacker("omniscient"), Error);
}

TEST(Ladder, TheLowestRowIsAmongThoseThatRanAndLinkSpeakers) {
  const auto row = [](Attacker attacker, const char* impostors, double eer) {
    LadderRow made;
    made.attacker = attacker;
    made.impostors = impostors;
    made.ran = eer >= 0.0;
    made.figures.emplace_back().name = "eer";
    made.figures[0].value = eer;
    return made;
  };
  const std::vector<LadderRow> rows = {
      row(Attacker::kIgnorant, "all", 0.4), row(Attacker::kIgnorant, "same_gender", 0.3),
      row(Attacker::kInformed, "all", -1.0), row(Attacker::kGenderOriginal, "none", 0.0),
      row(Attacker::kWords, "all", 0.1)};
  EXPECT_EQ(LowestRow(rows), 1U);
  EXPECT_EQ(LowestRows(rows), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(LowestRows(rows, "all"), (std::vector<std::size_t>{0, 2, 4}));
  // Nor do words stand for a protection of voices.
  EXPECT_EQ(LowestRow({rows[2], rows[3], rows[4]}), LadderResult::kNone);
}

}  // namespace
}  // namespace sotto

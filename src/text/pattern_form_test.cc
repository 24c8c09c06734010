#include "text/pattern_form.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "dp/seeded_bits_testing.h"
#include "text/check_digits.h"

namespace sotto {
namespace {

using enum EntityType;
using testing::SeededBits;

// Each character by its kind.
std::string KindsOf(std::string text) {
  for (char& c : text) {
    if (c >= '0' && c <= '9') c = '0';
    if (c >= 'a' && c <= 'z') c = 'a';
    if (c >= 'A' && c <= 'Z') c = 'A';
  }
  return text;
}

TEST(PatternsOfTheSameForm, KeepKindsOfCharactersAndChecksums) {
  SeededBits bits(1);
  const std::vector<std::pair<EntityType, std::string>> originals = {
      {kPhone, "+44 (0)20 7946-0958"},
      {kCard, "4111 1111 1111 1111"},
      {kCard, "4111 1111 1111 1112"},
      {kIban, "GB82 WEST 1234 5698 7654 32"},
      {kIban, "de89370400440532013000"},
      {kEmail, "John.Smith99@mail.example.co"},
      {kUrl, "https://www.example.org/John?x=1"},
      {kId, "QQ 12 34 56 C"},
      {kNumber, "21st"},
      {kSpelled, "m e y e r"}};
  for (const auto& [type, original] : originals) {
    std::set<std::string> drawn;
    for (int i = 0; i < 50; ++i) {
      const DrawnForm form = DrawSameForm(type, original, bits);
      EXPECT_EQ(KindsOf(form.text), KindsOf(original));
      EXPECT_TRUE(form.original_is_drawn);
      EXPECT_TRUE(type != kCard || !HasLuhn(original) || HasLuhn(form.text)) << form.text;
      EXPECT_TRUE(type != kIban || HasIban(form.text)) << form.text;
      drawn.insert(form.text);
    }
    EXPECT_GT(drawn.size(), 20u) << original;
  }
  EXPECT_EQ(DrawSameForm(kIban, "GB82 WEST 1234 5698 7654 32", bits).text.substr(0, 2), "GB");
  const std::string mail = DrawSameForm(kEmail, "john@mail.example", bits).text;
  EXPECT_EQ(mail.substr(mail.size() - 8), ".example");
  EXPECT_EQ(DrawSameForm(kUrl, "https://a.org/b", bits).text.substr(0, 8), "https://");
}

TEST(PatternsOfTheSameForm, TellNumbersInWords) {
  SeededBits bits(1);
  std::set<std::string> drawn;
  for (int i = 0; i < 2000; ++i) drawn.insert(DrawSameForm(kPhone, "Double SEVEN", bits).text);
  EXPECT_EQ(drawn.size(), 11u);
  EXPECT_TRUE(drawn.contains("Double SEVEN"));
  EXPECT_TRUE(drawn.contains("Double OH"));
  EXPECT_FALSE(drawn.contains("Double TEN"));
}

TEST(PatternsOfTheSameForm, KnowHowManyThereAre) {
  SeededBits bits(1);
  EXPECT_NEAR(DrawSameForm(kPhone, "020 79", bits).log_share, -5 * std::log(10.0), 1e-9);
  EXPECT_NEAR(DrawSameForm(kPhone, "double seven", bits).log_share, -std::log(11.0), 1e-9);
  EXPECT_NEAR(DrawSameForm(kId, "Ab1", bits).log_share, -std::log(6760.0), 1e-9);
  // One digit and two follow from the others.
  EXPECT_NEAR(DrawSameForm(kCard, "79927398713", bits).log_share, -10 * std::log(10.0), 1e-9);
  EXPECT_NEAR(DrawSameForm(kCard, "79927398710", bits).log_share, -11 * std::log(10.0), 1e-9);
  EXPECT_NEAR(DrawSameForm(kIban, "DE89370400440532013000", bits).log_share, -18 * std::log(10.0),
              1e-9);
}

TEST(PatternsOfTheSameForm, EveryOneIsDrawnAlike) {
  SeededBits bits(1);
  std::map<std::string, int> drawn;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++drawn[DrawSameForm(kCard, "034", bits).text];  // Luhn holds
  EXPECT_EQ(drawn.size(), 100u);
  EXPECT_EQ(drawn.count("034"), 1u);
  for (const auto& [text, n] : drawn) EXPECT_LT(std::abs(n - kDraws / 100), 75) << text;
}

TEST(PatternsOfTheSameForm, OfAnIpAreAddresses) {
  SeededBits bits(1);
  for (int i = 0; i < 500; ++i) {
    const std::string ip = DrawSameForm(kIp, "10.200.3.77", bits).text;
    int parts[4];
    ASSERT_EQ(std::sscanf(ip.c_str(), "%d.%d.%d.%d", &parts[0], &parts[1], &parts[2], &parts[3]),
              4);
    for (const int part : parts) EXPECT_LE(part, 255);
    EXPECT_EQ(ip.size(), 11u);
  }
  EXPECT_FALSE(DrawSameForm(kIp, "999.0.0.1", bits).original_is_drawn);
}

TEST(PatternsOfTheSameForm, NeverGiveLettersOfOtherAlphabets) {
  SeededBits bits(1);
  const DrawnForm form = DrawSameForm(kEmail, "jörg@a.de", bits);
  EXPECT_FALSE(form.original_is_drawn);
  EXPECT_EQ(KindsOf(form.text), "aaaa@a.aa");  // and its length is not kept
}

}  // namespace
}  // namespace sotto

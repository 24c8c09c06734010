// Patterns on text that others published: what they find of the synthetic persons of Presidio, and
// how much they mark of what is no entity.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "text/patterns.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

// A text with passages that are entities, in bytes.
struct Marked {
  std::string text;
  std::vector<std::pair<Token, std::string>> entities;
};

std::vector<bool> Covered(std::string_view text) {
  std::vector<bool> covered(text.size());
  for (const auto& entity : PatternFinder().Find(text)) {
    for (std::size_t i = entity.begin; i < entity.end; ++i) covered[i] = true;
  }
  return covered;
}

// The share of the tokens outside entities that are marked.
double FalseAlarms(const std::vector<Marked>& sentences, const char* name) {
  std::size_t tokens = 0, marked = 0;
  for (const auto& sentence : sentences) {
    const auto covered = Covered(sentence.text);
    for (const auto& token : Tokenise(sentence.text)) {
      bool inside = false;
      for (const auto& [passage, type] : sentence.entities) {
        inside = inside || (passage.begin < token.end && token.begin < passage.end);
      }
      if (inside) continue;
      ++tokens;
      marked += covered[token.begin] ? 1 : 0;
    }
  }
  const double share = static_cast<double>(marked) / static_cast<double>(tokens);
  std::printf("%s: %zu of %zu other tokens marked, %.2f %%\n", name, marked, tokens, 100.0 * share);
  return share;
}

// Presidio counts characters.
std::vector<Marked> ReadPresidioSpans() {
  const auto json =
      ParseJson(ReadTextFile(testing::SharedFolder() / "data/text/presidio/generated_large.json"));
  std::vector<Marked> all;
  for (const auto& record : json) {
    Marked marked;
    marked.text = record["full_text"].get<std::string>();
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < marked.text.size(); at += DecodeUtf8(marked.text, at).size) {
      places.push_back(at);
    }
    places.push_back(marked.text.size());
    for (const auto& span : record["spans"]) {
      marked.entities.push_back({{places.at(span["start_position"].get<std::size_t>()),
                                  places.at(span["end_position"].get<std::size_t>())},
                                 span["entity_type"].get<std::string>()});
    }
    all.push_back(std::move(marked));
  }
  return all;
}

// "wake me at [time : five am]"
Marked ReadBrackets(std::string_view annotation) {
  Marked marked;
  while (!annotation.empty()) {
    const std::size_t open = std::min(annotation.find('['), annotation.size());
    marked.text += annotation.substr(0, open);
    annotation.remove_prefix(open);
    const std::size_t colon = annotation.find(" : ");
    const std::size_t close = annotation.find(']');
    if (colon == std::string_view::npos || close == std::string_view::npos || close < colon) {
      marked.text += annotation;
      break;
    }
    const std::size_t begin = marked.text.size();
    marked.text += annotation.substr(colon + 3, close - colon - 3);
    marked.entities.push_back({{begin, marked.text.size()}, ""});
    annotation.remove_prefix(close + 1);
  }
  return marked;
}

TEST(PatternsOnPresidio, EveryClassIsFoundWholeInAnyCaseOfLetters) {
  SOTTO_NEEDS_SHARED("data/text/presidio/generated_large.json");
  const std::map<std::string, EntityType> types = {
      {"PHONE_NUMBER", EntityType::kPhone}, {"EMAIL_ADDRESS", EntityType::kEmail},
      {"CREDIT_CARD", EntityType::kCard},   {"IBAN_CODE", EntityType::kIban},
      {"US_SSN", EntityType::kId},          {"IP_ADDRESS", EntityType::kIp},
      {"DOMAIN_NAME", EntityType::kUrl},    {"US_DRIVER_LICENSE", EntityType::kId},
      {"DATE_TIME", EntityType::kDate}};
  auto sentences = ReadPresidioSpans();
  for (const bool lower : {false, true}) {
    struct Counts {
      int all = 0, covered = 0, typed = 0;
    };
    std::map<std::string, Counts> counts;
    for (auto& sentence : sentences) {
      if (lower) sentence.text = LowerCase(sentence.text);
      const auto covered = Covered(sentence.text);
      const auto found = PatternFinder().Find(sentence.text);
      for (const auto& [passage, type] : sentence.entities) {
        const auto expected = types.find(type);
        if (expected == types.end()) continue;
        bool whole = true, typed = false;
        for (std::size_t i = passage.begin; i < passage.end; ++i) {
          whole = whole && (covered[i] || sentence.text[i] == ' ');
        }
        for (const auto& entity : found) {
          typed = typed || (entity.type == expected->second && entity.begin < passage.end &&
                            passage.begin < entity.end);
        }
        Counts& of = counts[type];
        ++of.all;
        of.covered += whole ? 1 : 0;
        of.typed += typed ? 1 : 0;
      }
    }
    ASSERT_EQ(counts.size(), types.size());
    for (const auto& [type, of] : counts) {
      std::printf("%s %s: %d of %d covered, %d of their type\n", lower ? "lower case" : "written",
                  type.c_str(), of.covered, of.all, of.typed);
      EXPECT_GE(of.covered, 0.98 * of.all) << type;
      EXPECT_GE(of.typed, 0.98 * of.all) << type;
    }
  }
  EXPECT_LT(FalseAlarms(sentences, "Presidio"), 0.01);
}

TEST(PatternsOnAssistantCommands, MarkFewTokensThatAreNoEntity) {
  SOTTO_NEEDS_SHARED("data/text/slurp/devel.jsonl");
  SOTTO_NEEDS_SHARED("data/text/nlu_eval/annotated.tsv");
  const auto lines = [](const char* file) {
    const std::string text = ReadTextFile(testing::SharedFolder() / "data/text" / file);
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return all;
  };
  std::vector<Marked> slurp, nlu_eval;
  for (const auto& line : lines("slurp/devel.jsonl")) {
    slurp.push_back(ReadBrackets(ParseJson(line)["annotation"].get<std::string>()));
  }
  for (const auto& line : lines("nlu_eval/annotated.tsv")) {
    nlu_eval.push_back(ReadBrackets(line.substr(line.find('\t') + 1)));
  }
  std::size_t tokens = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& sentence : nlu_eval) (void)PatternFinder().Find(sentence.text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  for (const auto& sentence : nlu_eval) tokens += Tokenise(sentence.text).size();
  std::printf("%.0f tokens a second\n", static_cast<double>(tokens) / seconds.count());
  EXPECT_LT(FalseAlarms(slurp, "SLURP"), 0.01);
  EXPECT_LT(FalseAlarms(nlu_eval, "NLU-eval"), 0.01);
}

}  // namespace
}  // namespace sotto

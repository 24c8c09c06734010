#include "text/surrogate_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"

namespace sotto {
namespace {

constexpr std::size_t kLongestText = 200;  // of a file of surrogates

// Blanks in runs become one; capitals stay.
std::string WithoutRuns(std::string_view text, std::size_t normalised_size) {
  std::string single;
  bool blank = false;
  for (const char c : text) {
    if (std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos) {
      blank = !single.empty();
      continue;
    }
    if (blank) single += ' ';
    blank = false;
    single += c;
  }
  // White space of more than a byte: then without capitals.
  return single.size() == normalised_size ? single : std::string();
}

// 64 of the digest's bits.
std::uint64_t HashOf(std::string_view who) {
  return std::stoull(ContentDigest(who).substr(0, 16), nullptr, 16);
}

}  // namespace

void SurrogateCounts::Add(EntityType type, std::string_view entity, std::string_view who) {
  const auto i = static_cast<std::size_t>(type);
  std::string normalised = NormalisedEntity(entity);
  if (normalised.empty() || normalised.size() > kLongestText ||
      normalised.find_first_of("\t\r\n") != std::string::npos ||
      FindUnclean(normalised) != std::string_view::npos) {
    ++unfit_[i];
    return;
  }
  std::string writing = WithoutRuns(entity, normalised.size());
  if (writing.empty()) writing = normalised;
  Word& word = words_[i][normalised];
  ++word.count;
  ++word.writings[writing];
  word.people.insert(HashOf(who));
}

std::array<SurrogateCounts::OfType, kEntityTypes> SurrogateCounts::Summary(
    std::uint64_t min_people) const {
  std::array<OfType, kEntityTypes> summary;
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    OfType& of = summary[i];
    of.unfit = unfit_[i];
    for (const auto& [normalised, word] : words_[i]) {
      of.entities += word.count;
      ++of.words;
      if (word.people.size() < min_people) continue;
      of.kept_entities += word.count;
      ++of.kept_words;
    }
  }
  return summary;
}

Surrogates SurrogateCounts::Build(std::uint64_t min_people, const std::string& source,
                                  const Surrogates* genders, const Surrogates* fill) const {
  if (min_people == 0) throw Error("minimum count 0: 1 or more is allowed");
  std::vector<Surrogates::Row> rows;
  std::array<bool, kEntityTypes> has{};
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    const auto type = static_cast<EntityType>(i);
    for (const auto& [normalised, word] : words_[i]) {
      if (word.people.size() < min_people) continue;
      const auto most =
          std::max_element(word.writings.begin(), word.writings.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      Gender gender = Gender::kUnknown;
      if (genders != nullptr && genders->Has(type)) {
        gender = genders->Told(type, normalised, true, false).gender;
      }
      rows.push_back({"word", std::string(EntityName(type)), gender, word.count, most->first});
      has[i] = true;
    }
  }
  if (rows.empty()) {
    throw Error(fmt::format("no entity that {} people or lines have in common: nothing to build",
                            min_people));
  }
  if (fill != nullptr) {
    for (const auto& row : fill->Rows()) {
      if (row.kind == "part" || !has[static_cast<std::size_t>(ParseEntityType(row.name))]) {
        rows.push_back(row);
      }
    }
  }
  return {source, min_people, std::move(rows), "surrogates"};
}

}  // namespace sotto

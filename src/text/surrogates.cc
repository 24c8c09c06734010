#include "text/surrogates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

constexpr std::size_t kLongestText = 200;    // bytes
constexpr std::size_t kMostPieces = 32;      // of a form
constexpr std::size_t kLongestFound = 1000;  // bytes; what is longer counts as no surrogate
constexpr std::uint64_t kLargestCount = 1'000'000'000'000;
constexpr std::size_t kMostRows = 1'000'000;  // so that counts add up to less than 2^60

std::size_t WordsIn(std::string_view normalised) {
  return 1 + static_cast<std::size_t>(std::count(normalised.begin(), normalised.end(), ' '));
}

std::size_t IndexOf(Gender gender) {
  return gender == Gender::kFemale ? 1 : gender == Gender::kMale ? 2 : 0;
}

bool IsListName(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  });
}

std::string WithCheckDigits(std::string text, CheckDigits check) {
  if (check == CheckDigits::kLuhn) return WithLuhn(std::move(text));
  if (check == CheckDigits::kIban) return WithIban(std::move(text));
  return text;
}

bool HasCheckDigits(std::string_view text, CheckDigits check) {
  return check == CheckDigits::kNone ||
         (check == CheckDigits::kLuhn ? HasLuhn(text) : HasIban(text));
}

}  // namespace

std::string NormalisedEntity(std::string_view text) {
  std::string normalised;
  bool blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const Rune rune = DecodeUtf8(text, at);
    if (rune.valid && IsSpace(rune.code)) {
      blank = !normalised.empty();
    } else {
      if (blank) normalised += ' ';
      blank = false;
      normalised += text.substr(at, rune.size);
    }
    at += rune.size;
  }
  return LowerCase(normalised);
}

const Surrogates::List::Choice& Surrogates::List::Of(Gender gender) const {
  return choices[Gendered() ? IndexOf(gender) : 0];
}

std::uint64_t Surrogates::Group::Count(Gender gender) const {
  if (!is_form) return pieces[0].list->choices[IndexOf(gender)].Total();
  if (gender == Gender::kUnknown) return count;
  bool tells = false;
  for (const Piece& piece : pieces) {
    if (piece.list == nullptr || !piece.list->Gendered()) continue;
    if (piece.list->Of(gender).Total() == 0) return 0;
    tells = true;
  }
  return tells ? count : 0;
}

Surrogates::Surrogates(std::string source, std::uint64_t min_count, std::vector<Row> rows,
                       const std::string& where)
    : source_(std::move(source)), min_count_(min_count), rows_(std::move(rows)) {
  if (source_.empty() || source_.find_first_of("\t\r\n") != std::string::npos ||
      FindUnclean(source_) != std::string::npos) {
    throw Error(where + ": source: a line of text without tabs and control characters is allowed");
  }
  if (rows_.size() > kMostRows) {
    throw Error(fmt::format("{}: {} rows; {} are allowed", where, rows_.size(), kMostRows));
  }
  // The rows stand from line 5 on. Forms come last: they name lists.
  const auto place = [&where](std::size_t i) { return fmt::format("{}: line {}", where, i + 5); };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].kind != "form") AddRow(rows_[i], place(i));
  }
  for (auto& [name, list] : lists_) {
    for (std::size_t k = 0; k < list->texts.size(); ++k) {
      for (const std::size_t c : {std::size_t{0}, IndexOf(list->genders[k])}) {
        auto& choice = list->choices[c];
        if (!choice.members.empty() && choice.members.back() == k) continue;  // of no gender
        choice.members.push_back(k);
        choice.cumulative.push_back(choice.Total() + list->counts[k]);
        choice.least =
            choice.least == 0 ? list->counts[k] : std::min(choice.least, list->counts[k]);
      }
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].kind == "form") AddForm(rows_[i], place(i));
  }
  if (std::all_of(classes_.begin(), classes_.end(), [](const auto& c) { return c.empty(); })) {
    throw Error(where + ": no surrogates: a class needs words or forms");
  }
}

void Surrogates::AddRow(const Row& row, const std::string& where) {
  if (row.kind != "word" && row.kind != "part") {
    throw Error(where + ": kind: word, form or part is allowed");
  }
  if (row.count == 0 || row.count > kLargestCount) {
    throw Error(fmt::format("{}: count {}: 1 to {} is allowed", where, row.count, kLargestCount));
  }
  const std::string normalised = NormalisedEntity(row.text);
  // Blanks at an end or in a row would be lost in an entity that is compared with it.
  if (row.text.empty() || row.text.size() > kLongestText || normalised.size() != row.text.size()) {
    throw Error(
        fmt::format("{}: text of {} bytes: 1 to {} bytes without blanks at an end or two "
                    "in a row are allowed",
                    where, row.text.size(), kLongestText));
  }
  std::string name = row.name;
  if (row.kind == "part") {
    if (!IsListName(name)) {
      throw Error(where + ": name: a list has up to 32 of a to z and '_'");
    }
    if (name == "luhn" || name == "iban") {
      throw Error(fmt::format("{}: name {}: means check digits and is no list", where, name));
    }
  } else {
    const EntityType type = ParseEntityType(name);
    const std::size_t words = WordsIn(normalised);
    name += fmt::format(" {}", words);
    if (lists_.find(name) == lists_.end()) {
      lists_[name] = std::make_unique<List>();
      Group group;
      group.words = words;
      group.pieces.push_back({"", lists_[name].get(), CheckDigits::kNone});
      classes_[static_cast<std::size_t>(type)].push_back(std::move(group));
    }
  }
  auto& list = lists_[name];
  if (!list) list = std::make_unique<List>();
  if (!list->by_normalised.emplace(normalised, list->texts.size()).second) {
    throw Error(where + ": text: stands there twice, but for capitals");
  }
  list->texts.push_back(row.text);
  list->genders.push_back(row.gender);
  list->counts.push_back(row.count);
}

void Surrogates::AddForm(const Row& row, const std::string& where) {
  const EntityType type = ParseEntityType(row.name);
  if (row.count == 0 || row.count > kLargestCount) {
    throw Error(fmt::format("{}: count {}: 1 to {} is allowed", where, row.count, kLargestCount));
  }
  if (row.gender != Gender::kUnknown) throw Error(where + ": gender: a form has none");
  if (row.text.size() > kLongestText || NormalisedEntity(row.text).size() != row.text.size()) {
    throw Error(
        fmt::format("{}: text of {} bytes: 1 to {} bytes without blanks at an end or two "
                    "in a row are allowed",
                    where, row.text.size(), kLongestText));
  }
  Group group;
  group.is_form = true;
  group.count = row.count;
  group.words = WordsIn(row.text);
  const std::string& text = row.text;
  bool has_slot = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    if (text.find('}', at) < open) throw Error(where + ": text: '}' without '{'");
    if (open > at) group.pieces.push_back({text.substr(at, open - at), nullptr, {}});
    if (open == text.size()) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) throw Error(where + ": text: '{' without '}'");
    const std::string slot = text.substr(open + 1, close - open - 1);
    at = close + 1;
    if (slot == "luhn" || slot == "iban") {
      const auto check = slot == "luhn" ? CheckDigits::kLuhn : CheckDigits::kIban;
      const auto& pieces = group.pieces;
      if (slot == "luhn" ? at < text.size() : pieces.size() != 1 || pieces[0].literal.size() != 2) {
        throw Error(where + ": text: {luhn} ends a form, {iban} stands after two letters");
      }
      group.pieces.push_back({slot == "luhn" ? "0" : "00", nullptr, check});
      continue;
    }
    const auto list = lists_.find(slot);
    if (!IsListName(slot) || list == lists_.end()) {
      throw Error(where + ": text: a slot names a list that has parts");
    }
    group.pieces.push_back({"", list->second.get(), CheckDigits::kNone});
    has_slot = true;
  }
  if (!has_slot || group.pieces.size() > kMostPieces) {
    throw Error(
        fmt::format("{}: text of {} pieces: a form has a slot of a list and up to {} pieces", where,
                    group.pieces.size(), kMostPieces));
  }
  classes_[static_cast<std::size_t>(type)].push_back(std::move(group));
}

void Surrogates::Require(EntityType type) const {
  if (Has(type)) return;
  throw Error(fmt::format("surrogates of {}: none for type {}; take others, or leave out the type",
                          source_, EntityName(type)));
}

std::vector<std::pair<const Surrogates::Group*, std::uint64_t>> Surrogates::Groups(
    EntityType type, const SurrogateCondition& condition) const {
  const auto& groups = Of(type);
  std::vector<std::pair<const Group*, std::uint64_t>> chosen;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (condition.group && *condition.group != g) continue;
    const std::uint64_t count = groups[g].Count(condition.gender);
    if (count > 0) chosen.emplace_back(&groups[g], count);
  }
  if (chosen.empty()) Require(type);
  if (chosen.empty()) {
    throw Error(fmt::format("surrogates of {}: none of type {} under this condition", source_,
                            EntityName(type)));
  }
  return chosen;
}

std::string Surrogates::Draw(EntityType type, const SurrogateCondition& condition,
                             BitSource& bits) const {
  const auto groups = Groups(type, condition);
  std::uint64_t total = 0;
  for (const auto& [group, count] : groups) total += count;
  std::uint64_t at = bits.Below(total);
  const Group* chosen = nullptr;
  for (const auto& [group, count] : groups) {
    chosen = group;
    if (at < count) break;
    at -= count;
  }
  std::string text;
  CheckDigits check = CheckDigits::kNone;
  for (const Piece& piece : chosen->pieces) {
    if (piece.list == nullptr) {
      text += piece.literal;
      if (piece.check != CheckDigits::kNone) check = piece.check;
      continue;
    }
    const auto& choice = piece.list->Of(condition.gender);
    const std::uint64_t draw = bits.Below(choice.Total());
    const auto place = std::upper_bound(choice.cumulative.begin(), choice.cumulative.end(), draw) -
                       choice.cumulative.begin();
    text += piece.list->texts[choice.members[static_cast<std::size_t>(place)]];
  }
  return WithCheckDigits(std::move(text), check);
}

// A text read as a form: pieces from the first on, each place of each tried once.
struct Surrogates::Matching {
  const Group& group;
  Gender gender;
  std::string_view text;  // normalised
  std::vector<bool> failed{};
  std::vector<std::string> found{};  // of each piece, from the last

  bool From(std::size_t piece, std::size_t at) {
    if (piece == group.pieces.size()) return at == text.size();
    const std::size_t state = piece * (text.size() + 1) + at;
    if (failed[state]) return false;
    const Piece& p = group.pieces[piece];
    if (p.check != CheckDigits::kNone) {
      const std::string_view digits = text.substr(at, p.literal.size());
      if (digits.size() == p.literal.size() &&
          digits.find_first_not_of("0123456789") == std::string_view::npos &&
          From(piece + 1, at + digits.size())) {
        found.emplace_back(digits);
        return true;
      }
    } else if (p.list == nullptr) {
      if (text.substr(at, p.literal.size()) == LowerCase(p.literal) &&
          From(piece + 1, at + p.literal.size())) {
        found.push_back(p.literal);
        return true;
      }
    } else {
      for (std::size_t end = std::min(text.size(), at + kLongestText); end > at; --end) {
        const auto entry = p.list->by_normalised.find(text.substr(at, end - at));
        if (entry == p.list->by_normalised.end()) continue;
        const Gender of = p.list->genders[entry->second];
        if (gender != Gender::kUnknown && p.list->Gendered() && of != gender) continue;
        if (From(piece + 1, end)) {
          found.push_back(p.list->texts[entry->second]);
          return true;
        }
      }
    }
    failed[state] = true;
    return false;
  }

  std::optional<std::string> Result() {
    if (text.empty() || text.size() > kLongestFound) return {};
    failed.assign((group.pieces.size() + 1) * (text.size() + 1), false);
    if (!From(0, 0)) return {};
    std::string whole;
    for (std::size_t i = found.size(); i-- > 0;) whole += found[i];
    for (const Piece& piece : group.pieces) {
      if (!HasCheckDigits(whole, piece.check)) return {};
    }
    return whole;
  }
};

std::optional<std::string> Surrogates::Find(EntityType type, const SurrogateCondition& condition,
                                            std::string_view entity) const {
  const std::string normalised = NormalisedEntity(entity);
  for (const auto& [group, count] : Groups(type, condition)) {
    if (auto found = Matching{*group, condition.gender, normalised}.Result()) return found;
  }
  return std::nullopt;
}

Gender Surrogates::GenderOf(EntityType type, const std::string& normalised) const {
  if (type != EntityType::kPerson) return Gender::kUnknown;
  Gender gender = Gender::kUnknown;
  // All of it among the words of the class, else its first word among whatever tells genders.
  for (const std::string_view text :
       {std::string_view(normalised),
        std::string_view(normalised).substr(0, normalised.find(' '))}) {
    for (const auto& [name, list] : lists_) {
      const auto entry = list->by_normalised.find(text);
      if (entry == list->by_normalised.end()) continue;
      const Gender of = list->genders[entry->second];
      if (of == Gender::kUnknown) continue;
      if (gender != Gender::kUnknown && gender != of) return Gender::kUnknown;
      gender = of;
    }
    if (gender != Gender::kUnknown) break;
  }
  return gender;
}

SurrogateCondition Surrogates::Told(EntityType type, std::string_view entity, bool gender,
                                    bool form) const {
  Require(type);
  SurrogateCondition told;
  const std::string normalised = NormalisedEntity(entity);
  const auto& groups = Of(type);
  if (form) {
    for (std::size_t g = 0; g < groups.size() && !told.group; ++g) {
      if (Matching{groups[g], Gender::kUnknown, normalised}.Result()) told.group = g;
    }
    for (std::size_t g = 0; g < groups.size() && !told.group; ++g) {
      if (groups[g].words == WordsIn(normalised)) told.group = g;
    }
  }
  if (gender) {
    told.gender = GenderOf(type, normalised);
    bool any = false;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      any |= (!told.group || *told.group == g) && groups[g].Count(told.gender) > 0;
    }
    if (!any) told.gender = Gender::kUnknown;
  }
  return told;
}

std::vector<SurrogateCondition> Surrogates::Conditions(EntityType type, bool gender,
                                                       bool form) const {
  Require(type);
  const auto& groups = Of(type);
  std::vector<SurrogateCondition> conditions;
  for (const Gender of : {Gender::kUnknown, Gender::kFemale, Gender::kMale}) {
    if (of != Gender::kUnknown && (!gender || type != EntityType::kPerson)) continue;
    bool any = false;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].Count(of) == 0) continue;
      any = true;
      if (form) conditions.push_back({of, g});
    }
    if (any) conditions.push_back({of, std::nullopt});
  }
  return conditions;
}

double Surrogates::LogLeastShare(EntityType type, const SurrogateCondition& condition) const {
  const auto groups = Groups(type, condition);
  double total = 0.0;
  for (const auto& [group, count] : groups) total += static_cast<double>(count);
  double least = 0.0;
  for (const auto& [group, count] : groups) {
    double share = std::log(static_cast<double>(count) / total);
    for (const Piece& piece : group->pieces) {
      if (piece.list == nullptr) continue;
      const auto& choice = piece.list->Of(condition.gender);
      share += std::log(static_cast<double>(choice.least) / static_cast<double>(choice.Total()));
    }
    least = std::min(least, share);
  }
  return least;
}

std::map<std::string, double> Surrogates::Shares(EntityType type,
                                                 const SurrogateCondition& condition) const {
  constexpr std::size_t kMost = 100'000;
  const auto groups = Groups(type, condition);
  double total = 0.0;
  for (const auto& [group, count] : groups) total += static_cast<double>(count);
  std::map<std::string, double> shares;
  for (const auto& [group, count] : groups) {
    std::vector<std::pair<std::string, double>> texts = {{"", static_cast<double>(count) / total}};
    CheckDigits check = CheckDigits::kNone;
    for (const Piece& piece : group->pieces) {
      if (piece.list == nullptr) {
        for (auto& [text, share] : texts) text += piece.literal;
        if (piece.check != CheckDigits::kNone) check = piece.check;
        continue;
      }
      const auto& choice = piece.list->Of(condition.gender);
      if (texts.size() * choice.members.size() > kMost) {
        throw Error(fmt::format("type {}: more than {} surrogates; only fewer are listed",
                                EntityName(type), kMost));
      }
      std::vector<std::pair<std::string, double>> longer;
      for (const auto& [text, share] : texts) {
        for (const std::size_t k : choice.members) {
          longer.emplace_back(text + piece.list->texts[k],
                              share * static_cast<double>(piece.list->counts[k]) /
                                  static_cast<double>(choice.Total()));
        }
      }
      texts = std::move(longer);
    }
    for (auto& [text, share] : texts) shares[WithCheckDigits(text, check)] += share;
  }
  return shares;
}

}  // namespace sotto

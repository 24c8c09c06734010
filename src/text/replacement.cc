#include "text/replacement.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "text/letter_case.h"
#include "text/pattern_form.h"
#include "text/replacement_epsilon.h"
#include "text/utf8.h"

namespace sotto {
namespace {

constexpr std::string_view kDomain = "sotto text replacement 1";
constexpr std::size_t kMostDigits = 15;  // of a chance

bool IsPattern(EntityType type) { return static_cast<std::size_t>(type) >= kTaggedTypes; }

// Eight bytes of a number, as a field of a hash.
struct NumberField {
  explicit NumberField(std::uint64_t number) { std::memcpy(bytes.data(), &number, sizeof number); }
  operator std::string_view() const { return {bytes.data(), bytes.size()}; }  // NOLINT

  std::array<char, 8> bytes{};
};

std::string_view View(const std::array<std::uint8_t, 32>& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// A whole number of up to kMostDigits digits.
std::optional<std::uint64_t> Digits(std::string_view text) {
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

std::optional<Chance> ParsedChance(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto above = Digits(text.substr(0, slash)), below = Digits(text.substr(slash + 1));
    if (!above || !below) return std::nullopt;
    return Chance{*above, *below};
  }
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  if (whole.size() + rest.size() > kMostDigits) return std::nullopt;
  const auto number = Digits(std::string(whole).append(rest));
  if (!number) return std::nullopt;
  Chance chance{*number, 1};
  for (std::size_t i = 0; i < rest.size(); ++i) chance.denominator *= 10;
  return chance;
}

// The next thing in a text may begin with a capital.
bool BeginsSentence(std::string_view before) {
  while (!before.empty() && (before.back() == ' ' || before.back() == '\t'))
    before.remove_suffix(1);
  return before.empty() ||
         std::string_view(".!?\n\r").find(before.back()) != std::string_view::npos;
}

void CheckOrder(std::string_view text, const std::vector<Entity>& entities) {
  std::size_t end = 0;
  for (const Entity& entity : entities) {
    if (entity.begin < end || entity.end <= entity.begin || entity.end > text.size()) {
      throw Error(
          fmt::format("entity of type {} at bytes {} to {}: entities stand in order and "
                      "without overlap within the {} bytes of the text",
                      EntityName(entity.type), entity.begin, entity.end, text.size()));
    }
    end = entity.end;
  }
}

}  // namespace

Chance Chance::Parse(std::string_view text, const std::string& name) {
  auto chance = ParsedChance(text);
  if (!chance || chance->denominator == 0 || chance->numerator > chance->denominator) {
    throw Error(
        fmt::format("{} '{}': a probability from 0 to 1 of up to {} digits is allowed, as "
                    "0.9 or 9/10",
                    name, text, kMostDigits));
  }
  const std::uint64_t common = std::gcd(chance->numerator, chance->denominator);
  chance->numerator /= common;
  chance->denominator /= common;
  return *chance;
}

Replacer::Replacer(const Surrogates& surrogates, const ReplacementOptions& options, const Key& key)
    : surrogates_(surrogates), options_(options), key_(key) {
  if (options.p.denominator == 0 || options.p.numerator > options.p.denominator) {
    throw Error(fmt::format("p {}/{}: a probability from 0 to 1 is allowed", options.p.numerator,
                            options.p.denominator));
  }
  if (options.with == ReplaceWith::kPlaceholder) return;
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    const auto type = static_cast<EntityType>(i);
    if (options.types[i] && !(IsPattern(type) && options.keep_format)) surrogates.Require(type);
  }
}

// What stands for one entity.
struct Replacer::Substitute {
  std::string text;
  double eps = 0.0;
};

Replacer::Substitute Replacer::Draw(EntityType type, std::string_view original, BitSource& bits,
                                    const Letters& letters) const {
  const Chance p = options_.ChanceOf(type);
  const bool replace = bits.Below(p.denominator) < p.numerator;
  if (options_.with == ReplaceWith::kPlaceholder) {
    // Nobody else's entity looks like one that stayed.
    const double eps = p.IsOne() ? 0.0 : std::numeric_limits<double>::infinity();
    return {replace ? fmt::format("[{}]", EntityName(type)) : std::string(original), eps};
  }
  if (p.numerator == 0) return {std::string(original), std::numeric_limits<double>::infinity()};
  if (options_.keep_format && IsPattern(type)) {
    DrawnForm drawn = DrawSameForm(type, original, bits);
    const double eps = ReplacementEpsilon(p.Value(), drawn.log_share);
    if (!replace && drawn.original_is_drawn) return {std::string(original), eps};
    return {std::move(drawn.text), eps};
  }
  SurrogateCondition told;
  if (options_.keep_gender || options_.keep_format) {
    told = surrogates_.Told(type, original, options_.keep_gender, options_.keep_format);
  }
  std::optional<std::string> text;
  if (!replace) text = surrogates_.Find(type, told, original);
  if (!text) text = surrogates_.Draw(type, told, bits);
  const double eps =
      p.IsOne() ? 0.0 : ReplacementEpsilon(p.Value(), surrogates_.LogLeastShare(type, told));
  LetterCase written = letters.rest;
  if (options_.keep_format) {
    written = CaseOfEntity(original);
  } else if (written == LetterCase::kAsItIs && letters.begins_sentence) {
    written = LetterCase::kCapital;
  }
  return {InCase(*text, written), eps};
}

ReplacedText Replacer::Replace(std::string_view text, const std::vector<Entity>& entities,
                               const TextPlace& place) const {
  CheckOrder(text, entities);
  ReplacedText replaced;
  // Surrogates are written like the words around them, which are told anyway.
  LettersSeen rest;
  std::size_t at = 0;
  for (const Entity& entity : entities) {
    rest.Look(text.substr(at, entity.begin - at));
    at = entity.end;
  }
  rest.Look(text.substr(at));
  std::array<std::uint8_t, 32> of_text{};
  if (!options_.consistent && !entities.empty()) {
    of_text = key_.Hash({kDomain, "text", place.dialogue, NumberField(place.part), text});
  }
  at = 0;
  for (const Entity& entity : entities) {
    if (!options_.types[static_cast<std::size_t>(entity.type)]) continue;
    const std::string_view before = text.substr(at, entity.begin - at);
    const std::string_view original = text.substr(entity.begin, entity.end - entity.begin);
    replaced.text += before;
    at = entity.end;
    const std::string_view name = EntityName(entity.type);
    const auto of_draw =
        options_.consistent
            ? key_.Hash({kDomain, "entity", place.dialogue, name, NormalisedEntity(original)})
            : key_.Hash({kDomain, "mention", View(of_text), NumberField(entity.begin),
                         NumberField(entity.end), name});
    KeyedStreamBits bits(key_, {kDomain, "draw", View(of_draw)});
    const auto public_name = key_.Hash({kDomain, "id", View(of_draw)});
    ReplacedText::Draw draw;
    std::memcpy(&draw.id, public_name.data(), sizeof draw.id);
    draw.type = entity.type;
    const Letters letters{rest.Case(), BeginsSentence(text.substr(0, entity.begin))};
    Substitute substitute = Draw(entity.type, original, bits, letters);
    draw.eps = substitute.eps;
    Entity stands = entity;
    stands.begin = replaced.text.size();
    replaced.text += substitute.text;
    stands.end = replaced.text.size();
    replaced.entities.push_back(stands);
    replaced.draws.push_back(draw);
    ++replaced.counts[static_cast<std::size_t>(entity.type)];
  }
  replaced.text += text.substr(at);
  return replaced;
}

}  // namespace sotto

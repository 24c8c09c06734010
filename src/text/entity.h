// What in a text tells of somebody: names of persons, places and organisations, dates and times,
// and what can be recognised by its form. The classes are those of the COMPRISE text transformer
// (D2.2, § 2.4: PER, LOC, ORG, DATE, TIME) and patterns beside them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sotto {

enum class EntityType : std::uint8_t {
  kPerson,
  kLocation,
  kOrganisation,
  kDate,
  kTime,
  // Patterns: found by their form, and where there is one, by their checksum.
  kEmail,
  kPhone,
  kIban,
  kCard,
  kId,  // of a person by an office: social security, driving licence, passport
  kUrl,
  kIp,
  kNumber,   // any other that is long or exact enough to single somebody out
  kSpelled,  // letters one by one: "m e y e r", "double l"
};

inline constexpr std::size_t kEntityTypes = 14;
// In the order of the enumeration.
inline constexpr std::array<std::string_view, kEntityTypes> kEntityNames = {
    "PER",  "LOC",  "ORG", "DATE", "TIME", "EMAIL",  "PHONE",
    "IBAN", "CARD", "ID",  "URL",  "IP",   "NUMBER", "SPELLED"};
// Those whose finder is trained; the rest are patterns.
inline constexpr std::size_t kTaggedTypes = 5;

inline std::string_view EntityName(EntityType type) {
  return kEntityNames[static_cast<std::size_t>(type)];
}
// Throws Error that lists the names; they are read in any case of letters.
EntityType ParseEntityType(std::string_view name);

// A passage of a text, in bytes.
struct Entity {
  std::size_t begin = 0, end = 0;
  EntityType type = EntityType::kPerson;
  double confidence = 1.0;  // of the finder, 0 … 1; patterns with a checksum have 1

  friend bool operator==(const Entity&, const Entity&) = default;
};

// In order and without overlap: of overlapping ones the longest stays, of those the most confident,
// of those the first type; what of the others sticks out is kept as a piece of its own, since what
// is dropped would stay in the text.
std::vector<Entity> WithoutOverlap(std::vector<Entity> entities);

}  // namespace sotto

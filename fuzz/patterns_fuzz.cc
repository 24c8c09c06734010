// Any bytes as a text: tokens, lexemes, numbers and patterns lie within it, in order and without
// overlap, and lower case changes no place.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/patterns.h"
#include "text/spoken_numbers.h"
#include "text/tokens.h"

namespace {

template <typename Passages>
void RequireInOrder(const Passages& passages, std::size_t size) {
  std::size_t at = 0;
  for (const auto& passage : passages) {
    if (passage.begin < at || passage.begin >= passage.end || passage.end > size) std::abort();
    at = passage.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokens = sotto::Tokenise(text);
  RequireInOrder(tokens, size);
  const std::string lower = sotto::LowerCase(text);
  if (lower.size() != size || sotto::LowerCase(lower) != lower) std::abort();
  if (sotto::Tokenise(lower) != tokens) std::abort();
  RequireInOrder(sotto::FindNumbers(text), size);
  const auto found = sotto::PatternFinder().Find(text);
  RequireInOrder(found, size);
  for (const auto& entity : found) {
    if (!(entity.confidence > 0.0 && entity.confidence <= 1.0)) std::abort();
  }
  return 0;
}

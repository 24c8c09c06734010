// Any bytes as text: a place or none, and nothing a terminal would obey in what is printed of them,
// whatever the pieces they come in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t at = sotto::FindUnclean(text);
  if (at != std::string_view::npos &&
      sotto::FindUnclean(text.substr(0, at)) != std::string_view::npos)
    std::abort();
  if (sotto::FindUnclean(sotto::Printable(text)) != std::string_view::npos) std::abort();
  sotto::Escaper whole, pieces;
  const std::string shown = whole.Push(text) + whole.Finish();
  if (sotto::FindUnclean(shown) != std::string_view::npos) std::abort();
  std::string joined;
  const std::size_t step = size % 5 + 1;
  for (std::size_t i = 0; i < size; i += step) joined += pieces.Push(text.substr(i, step));
  if (joined + pieces.Finish() != shown) std::abort();
  return 0;
}

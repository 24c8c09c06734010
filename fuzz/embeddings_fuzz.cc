// The readers of embeddings on any bytes: they return a valid set or throw Error. The first byte
// chooses the reader; two texts are parted by the first zero byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "speaker/embeddings.h"
#include "speaker/kaldi_io.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view first = text.substr(0, end);
  const std::string_view second = text.substr(std::min(end + 1, text.size()));
  using namespace sotto;
  try {
    EmbeddingSet set;
    switch (data[0] % 5) {
      case 0:
        set = ParseArk(text, "fuzz");
        break;
      case 1:
        set = ParseNpyEmbeddings(second, first, "fuzz");
        break;
      case 2:
        set = ParseArk(first, "fuzz");
        AddSpeakers(set, second, "fuzz");
        AddGenders(set, second, "fuzz");
        break;
      case 3:
        ParseKaldiVector(text, "fuzz");
        return 0;
      default:
        ParseKaldiMatrix(text, "fuzz");
        return 0;
    }
    if (set.ids.empty() || !set.vectors.allFinite()) std::abort();
    ValidateEmbeddings(set, "fuzz");
  } catch (const Error&) {
    // Refusing is allowed; crashing, looping and undefined behaviour are not.
  }
  return 0;
}

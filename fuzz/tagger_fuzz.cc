// Any bytes as a tagger's model: an Error, or one that is written as it was read and tags a text.
// As the description of a foreign tagger: an Error, or types for all its labels.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/foreign_tagger.h"
#include "text/tagger.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto description = sotto::ParseForeignTagger(bytes, "fuzz");
    if (description.types.size() != description.begins.size()) std::abort();
  } catch (const sotto::Error&) {
  }
  try {
    const auto model = sotto::ParseTaggerModel(bytes, "fuzz");
    const auto written = model.Serialise();
    if (sotto::ParseTaggerModel(written, "again").features != model.features) std::abort();
    const sotto::Tagger tagger(model);
    const auto tagged = tagger.Tag("call Anna at 5 pm in \xff new york");
    if (tagged.labels.size() != tagged.tokens.size()) std::abort();
    for (const auto& row : tagged.marginals) {
      if (!(std::abs(sotto::EntityProbability(row) + row[0] - 1.0) < 1e-6)) std::abort();
    }
  } catch (const sotto::Error&) {
  }
  return 0;
}

// Any bytes as a file of surrogates: an Error, or one that is written as it was read, whose draws
// are found again, and which replaces whatever text comes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dp/bits.h"
#include "text/replacement.h"
#include "text/replacement_epsilon.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const sotto::Key key = sotto::Key::ForExperiment(sotto::ExperimentKey(1));
  try {
    const sotto::Surrogates surrogates = sotto::ParseSurrogates(text, "fuzz");
    const std::string written = sotto::SurrogatesText(surrogates);
    if (sotto::SurrogatesText(sotto::ParseSurrogates(written, "again")) != written) std::abort();
    sotto::ReplacementOptions options;
    options.keep_gender = options.keep_format = true;
    options.p = {1, 2};
    for (std::size_t i = 0; i < sotto::kEntityTypes; ++i) {
      const auto type = static_cast<sotto::EntityType>(i);
      options.types[i] = surrogates.Has(type);
      if (!options.types[i]) continue;
      for (const auto& condition : surrogates.Conditions(type, true, true)) {
        sotto::KeyedStreamBits bits(key, {"fuzz"});
        const std::string drawn = surrogates.Draw(type, condition, bits);
        // Check digits of what is no account number cannot be made right.
        if (type != sotto::EntityType::kIban && text.find("{iban}") == std::string_view::npos &&
            text.find("{luhn}") == std::string_view::npos && drawn.size() <= 1000 &&
            !surrogates.Find(type, condition, drawn)) {
          std::abort();
        }
        if (!(surrogates.LogLeastShare(type, condition) <= 0.0)) std::abort();
      }
    }
    const sotto::Replacer replacer(surrogates, options, key);
    const std::size_t half = size / 2, end = size - size / 4;
    for (std::size_t i = 0; i < sotto::kEntityTypes; ++i) {
      if (!options.types[i] || half >= end) continue;
      const auto replaced =
          replacer.Replace(text, {{half, end, static_cast<sotto::EntityType>(i)}}, {});
      if (replaced.text.substr(0, half) != text.substr(0, half)) std::abort();
    }
    sotto::StateEpsilon(replacer);
  } catch (const sotto::Error&) {
  }
  return 0;
}

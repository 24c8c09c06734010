#include "report/surrogate_figures.h"

#include <fmt/format.h>

#include <cmath>

#include "report/json_values.h"

namespace sotto {

std::string PrintedSurrogates(const BuiltSurrogates& built, const Surrogates& surrogates,
                              std::size_t bytes, const std::string& file, bool json) {
  const char* people = built.size.speakers ? "speakers" : "texts that differ";
  JsonFields f;
  f("file", file)("corpora", built.corpora)("texts", built.size.texts);
  f("labelled", built.size.labelled)("counted_by", std::string(people));
  f("min_count", built.min_people)("bytes", bytes);
  std::string text = fmt::format(
      "{}: {} texts; what at least {} {} share ({} kB)\n"
      "type      entities    words  surrogates  least share\n",
      file, built.size.texts, built.min_people, people, (bytes + 999) / 1000);
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    const auto type = static_cast<EntityType>(i);
    const auto& of = built.types[i];
    const std::string from = of.kept_words > 0      ? "corpus"
                             : surrogates.Has(type) ? "program"
                                                    : "none";
    JsonFields row = f("types")(std::string(EntityName(type)));
    row("entities", of.entities)("words", of.words)("kept_entities", of.kept_entities);
    row("kept_words", of.kept_words)("from", from);
    if (from == "none") {
      if (of.entities > 0) {
        text +=
            fmt::format("{:8} {:9} {:8}        none\n", EntityName(type), of.entities, of.words);
      }
      continue;
    }
    const double least = std::exp(surrogates.LogLeastShare(type, {}));
    row("least_share", least);
    text +=
        fmt::format("{:8} {:9} {:8}  {:>10}  {:11.3g}\n", EntityName(type), of.entities, of.words,
                    from == "corpus" ? fmt::format("{}", of.kept_words) : "program's", least);
  }
  return json ? f.Text() : text;
}

}  // namespace sotto

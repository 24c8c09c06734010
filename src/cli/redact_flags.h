// What the verbs that search text for entities share: what is looked for and what takes its place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "report/redact_figures.h"
#include "text/redact.h"

namespace sotto::cli {

// All that a Redactor stands on.
struct RedactParts {
  std::unique_ptr<EntityFinder> finder;
  std::unique_ptr<OwnWords> words;             // null: none
  std::unique_ptr<Surrogates> own_surrogates;  // null: the program's
  std::unique_ptr<Replacer> replacer;
  RedactReport report;  // all but what is known at the end: format, totals, notes of the format

  Redactor Made() const { return {*finder, *replacer, words.get()}; }
};

struct RedactFlags {
  std::vector<std::string> types, keep_types;
  std::string words, model, surrogates;
  std::optional<double> recall;
  std::string with = "placeholder", p = "1";
  bool keep_gender = false, keep_format = false, dialogue = false, trust_models = false;

  void Add(CLI::App& verb);
  // Throws Error for what is wrong with a flag or the file it names. `key` draws surrogates.
  RedactParts Parts(const Key& key) const;

 private:
  ReplacementOptions Options() const;
};

}  // namespace sotto::cli

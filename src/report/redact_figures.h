// What `sotto redact` says of a text that it has changed: types, counts and epsilons, never a word
// or a place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/redact.h"
#include "text/replacement_epsilon.h"

namespace sotto {

struct RedactReport {
  std::string version;
  TextFormat format = TextFormat::kPlain;
  ReplacementOptions options;
  bool has_own_words = false;
  RedactTotals totals;
  EpsilonStatement epsilon;
  // Of the finder: its name, the BLAKE2b of its model, the recall that was asked for.
  std::string finder, model_fingerprint;
  std::optional<double> recall;
  std::string surrogates, surrogates_fingerprint;  // empty: none were used
  bool experiment = false;                         // --seed
  std::vector<std::string> notes;
};

// One JSON document, indented or as one line. The honest reading of epsilon stands first: what the
// finder misses is unprotected.
std::string RedactRecord(const RedactReport& report, bool one_line = false);

// Two lines: what was found, and what is not protected.
std::string RedactSummary(const RedactReport& report);

}  // namespace sotto

// What a tagger misses, by its own table: the share of the entities' tokens, in sentences that it
// was not trained on, whose probability lies below a threshold. An entity that is missed stands in
// the text as it was said, so this share stands beside every epsilon (replacement_epsilon.h).
#pragma once

#include <optional>

#include "text/replacement_epsilon.h"
#include "text/tagger.h"

namespace sotto {

// With the wanted recall, 1 − the recall of the first row of the table that reaches it. Without one
// the most probable labels are taken, which hold nearly every token that is more probably of an
// entity than not: 1 − the recall of the last row with a threshold of at least 1/2, an upper bound
// but for the few that they do not hold. The table is of all types together, so the types that are
// tagged have one figure, unless the model's card has one of their own, measured on sentences that
// did not choose the thresholds ("missed PER", "missed PER at 0.99"); patterns have none. Absent
// where the table says nothing.
MissedShares MissedBy(const TaggerModel& model, const std::optional<double>& recall);

}  // namespace sotto

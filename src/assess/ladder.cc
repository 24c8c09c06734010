#include "assess/ladder.h"

#include <algorithm>
#include <limits>

namespace sotto {

const Figure* LadderRow::Find(std::string_view name) const {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [name](const Figure& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

double LadderRow::Value(std::string_view name) const {
  const Figure* figure = Find(name);
  return figure != nullptr ? figure->value : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::size_t> LowestRows(const std::vector<LadderRow>& rows,
                                    std::string_view impostors) {
  std::vector<std::size_t> lowest;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LadderRow& row = rows[i];
    if (!row.links_speakers) continue;
    const auto same = std::find_if(lowest.begin(), lowest.end(),
                                   [&](std::size_t k) { return rows[k].attacker == row.attacker; });
    const bool counts = row.ran && row.impostors == impostors;
    if (same == lowest.end()) {
      lowest.push_back(i);
      continue;
    }
    const LadderRow& best = rows[*same];
    const bool best_counts = best.ran && best.impostors == impostors;
    if (counts && (!best_counts || row.Value("eer") < best.Value("eer"))) *same = i;
  }
  return lowest;
}

std::size_t SiblingRow(const std::vector<LadderRow>& rows, std::size_t row,
                       std::string_view impostors) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].attacker == rows[row].attacker && rows[i].backend == rows[row].backend &&
        rows[i].l == rows[row].l && rows[i].impostors == impostors) {
      return i;
    }
  }
  return LadderResult::kNone;
}

}  // namespace sotto

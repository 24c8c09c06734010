#include "assess/ladder.h"

#include <algorithm>
#include <limits>

namespace sotto {

const Figure* LadderRow::Find(std::string_view name) const { return FindFigure(figures, name); }

double LadderRow::Value(std::string_view name) const {
  const Figure* figure = Find(name);
  return figure != nullptr ? figure->value : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::size_t> LowestRows(const std::vector<LadderRow>& rows,
                                    std::string_view impostors) {
  const auto among = [&](const LadderRow& row) {
    return row.ran && (impostors.empty() || row.impostors == impostors);
  };
  std::vector<std::size_t> lowest;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LadderRow& row = rows[i];
    if (!row.LinksSpeakers()) continue;
    const auto same = std::find_if(lowest.begin(), lowest.end(),
                                   [&](std::size_t k) { return rows[k].attacker == row.attacker; });
    if (same == lowest.end()) {
      lowest.push_back(i);
      continue;
    }
    const LadderRow& best = rows[*same];
    if (among(row) && (!among(best) || row.Value("eer") < best.Value("eer"))) *same = i;
  }
  return lowest;
}

std::size_t LowestRow(const std::vector<LadderRow>& rows) {
  std::size_t lowest = LadderResult::kNone;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ran || !rows[i].LinksVoices()) continue;
    if (lowest == LadderResult::kNone || rows[i].Value("eer") < rows[lowest].Value("eer")) {
      lowest = i;
    }
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

#include "text/missed_shares.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

namespace sotto {
namespace {

constexpr double kAsProbableAsNot = 0.5;

// 0.15, not 0.15000000000000002.
double Left(double recall) { return std::round((1.0 - recall) * 1e9) / 1e9; }

// The first row that reaches it; null: there is none.
const RecallPoint* RowOf(const TaggerModel& model, double recall) {
  for (const RecallPoint& row : model.recalls) {  // recalls ascend, thresholds do not
    if (row.recall >= recall) return &row;
  }
  return nullptr;
}

std::optional<double> ByTable(const TaggerModel& model, const std::optional<double>& recall) {
  if (recall) {
    const RecallPoint* row = RowOf(model, *recall);
    return row == nullptr ? std::nullopt : std::optional(Left(row->recall));
  }
  std::optional<double> missed;
  for (const RecallPoint& row : model.recalls) {
    if (row.threshold >= kAsProbableAsNot) missed = Left(row.recall);
  }
  return missed;
}

std::optional<double> ByCard(const TaggerModel& model, const std::string& type,
                             const std::optional<double>& recall) {
  std::string name = "missed " + type;
  if (recall) {
    const RecallPoint* row = RowOf(model, *recall);
    if (row == nullptr) return std::nullopt;
    name += fmt::format(" at {}", row->recall);
  }
  const auto entry = model.card.find(name);
  if (entry == model.card.end()) return std::nullopt;
  const std::string& text = entry->second;
  double share = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(share >= 0.0 && share <= 1.0)) return std::nullopt;
  return share;
}

}  // namespace

MissedShares MissedBy(const TaggerModel& model, const std::optional<double>& recall) {
  const std::optional<double> all = ByTable(model, recall);
  MissedShares missed{};
  for (std::size_t i = 0; i < kTaggedTypes; ++i) {
    const auto own = ByCard(model, std::string(kEntityNames[i]), recall);
    missed[i] = own ? own : all;
  }
  return missed;
}

}  // namespace sotto

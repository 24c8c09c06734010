#include "text/missed_shares.h"

#include <charconv>
#include <cmath>
#include <string>

namespace sotto {
namespace {

constexpr double kAsProbableAsNot = 0.5;

// 0.15, not 0.15000000000000002.
double Left(double recall) { return std::round((1.0 - recall) * 1e9) / 1e9; }

std::optional<double> ByTable(const TaggerModel& model, const std::optional<double>& recall) {
  std::optional<double> missed;
  for (const RecallPoint& row : model.recalls) {  // recalls ascend, thresholds do not
    if (recall && row.recall >= *recall) return Left(row.recall);
    if (!recall && row.threshold >= kAsProbableAsNot) missed = Left(row.recall);
  }
  return missed;
}

std::optional<double> ByCard(const TaggerModel& model, const std::string& type) {
  const auto entry = model.card.find("missed " + type);
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
    const auto own = recall ? std::nullopt : ByCard(model, std::string(kEntityNames[i]));
    missed[i] = own ? own : all;
  }
  return missed;
}

}  // namespace sotto

#include "report/privasp_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "report/json_values.h"
#include "report/text_tables.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOneHost =
    "Four roles on one host protect nobody: whoever has this machine has all shares. Deploy each\n"
    "server, the dealer and the provider where no one else has access (docs/mpc.md).";

double ToScore(std::int64_t score) { return std::ldexp(static_cast<double>(score), -39); }
const char* Decision(bool genuine) { return genuine ? "genuine" : "spoof"; }

ordered_json JsonCost(const QueryCost& cost) {
  return {{"ms", cost.query_ms},
          {"reserve_ms", cost.reserve_ms},
          {"bytes_client", std::max(cost.bytes_first, cost.bytes_second)},
          {"bytes_back", cost.bytes_back},
          {"bytes_servers", cost.bytes_servers},
          {"rounds", cost.rounds}};
}

double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::nan("");
  const auto at = static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)));
  return sorted[at];
}

}  // namespace

std::string PrivaspDemoJson(const DemoResult& result) {
  ordered_json json;
  json["queries"] = ordered_json::array();
  for (const DemoQuery& query : result.queries) {
    ordered_json row = {{"recording", query.recording},
                        {"genuine", query.genuine},
                        {"scenario", query.scenario},
                        {"model", query.model},
                        {"units", query.units}};
    row["secure_score"] =
        query.secure_score ? ordered_json(ToScore(*query.secure_score)) : ordered_json(nullptr);
    row["secure_decision"] = Decision(query.secure_genuine);
    row["plain_score"] = ToScore(query.plain_score);
    row["plain_decision"] = Decision(query.plain_genuine);
    row["equal"] = query.equal;
    row.update(JsonCost(query.cost));
    json["queries"].push_back(row);
  }
  json["start_s"] = result.start_s;
  json["notes"] = result.notes;
  std::string warning = kOneHost;
  std::replace(warning.begin(), warning.end(), '\n', ' ');
  json["warning"] = warning;
  return JsonText(json);
}

std::string PrivaspDemoText(const DemoResult& result) {
  PageTable table;
  table.header = {"recording", "is", "scenario", "units",         "secure",  "plain",
                  "equal",     "ms", "reserve",  "bytes, client", "servers", "rounds"};
  for (const DemoQuery& query : result.queries) {
    table.rows.push_back(
        {query.recording, Decision(query.genuine), std::to_string(query.scenario),
         std::to_string(query.units),
         query.secure_score ? fmt::format("{:+.4f} {}", ToScore(*query.secure_score),
                                          Decision(query.secure_genuine))
                            : std::string(Decision(query.secure_genuine)),
         fmt::format("{:+.4f} {}", ToScore(query.plain_score), Decision(query.plain_genuine)),
         query.equal ? "yes" : "NO", fmt::format("{:.2f}", query.cost.query_ms),
         fmt::format("{:.2f}", query.cost.reserve_ms),
         std::to_string(std::max(query.cost.bytes_first, query.cost.bytes_second)),
         std::to_string(query.cost.bytes_servers), std::to_string(query.cost.rounds)});
  }
  std::string text = TableText(table);
  text += fmt::format(
      "Two servers, the dealer and the provider started as processes in {:.1f} s. Times are those "
      "of\nsingle queries, from the first byte of the input to the decision; bytes to each server "
      "and from\none server to the other.\n",
      result.start_s);
  std::size_t right = 0;
  for (const DemoQuery& query : result.queries) right += query.secure_genuine == query.genuine;
  text += fmt::format(
      "{} of {} decisions are right: the nets in the program are small, and heard one corpus of\n"
      "people (docs/models.md). That is theirs; the service computes what they do.\n",
      right, result.queries.size());
  for (const std::string& note : result.notes) text += "note: " + note + "\n";
  return text + "\n" + kOneHost + "\n";
}

std::string ClassifiedJson(const Classified& classified) {
  const OfferMessage& offer = classified.offer;
  ordered_json json = {{"model", offer.name},
                       {"scenario", static_cast<int>(offer.card.scenario)},
                       {"units", offer.card.units},
                       {"policy", offer.card.decision_only ? "decision" : "score"},
                       {"features", offer.fingerprint},
                       {"connect_ms", classified.connect_ms},
                       {"features_ms", JsonNumber(classified.features_ms)},
                       {"refused", ordered_json::array()},
                       {"queries", ordered_json::array()}};
  for (const ClassifiedRecording& row : classified.rows) {
    if (!row.refused.empty()) {
      json["refused"].push_back({{"utterance", row.utterance}, {"reason", row.refused}});
      continue;
    }
    ordered_json query = {{"utterance", row.utterance}};
    query["score"] =
        row.answer.score ? ordered_json(ToScore(*row.answer.score)) : ordered_json(nullptr);
    query["decision"] = Decision(row.answer.genuine);
    query.update(JsonCost(row.cost));
    json["queries"].push_back(query);
  }
  return JsonText(json);
}

std::string ClassifiedText(const Classified& classified) {
  PageTable table;
  table.header = {"utterance", "decision", "score", "ms"};
  for (const ClassifiedRecording& row : classified.rows) {
    if (!row.refused.empty()) continue;
    table.rows.push_back(
        {row.utterance, Decision(row.answer.genuine),
         row.answer.score ? fmt::format("{:+.6f}", ToScore(*row.answer.score)) : "not told",
         fmt::format("{:.2f}", row.cost.query_ms)});
  }
  return TableText(table) +
         fmt::format("{} utterances by model '{}' ({} units, scenario {}), {} refused\n",
                     classified.rows.size(), classified.offer.name, classified.offer.card.units,
                     static_cast<int>(classified.offer.card.scenario), classified.Refused());
}

std::string LoadJson(const LoadResult& result, const LoadOptions& options) {
  ordered_json json = {{"queries", options.queries},  {"concurrency", options.concurrency},
                       {"batch", options.batch},      {"answered", result.answered},
                       {"wrong", result.wrong},       {"compared_utterances", result.compared},
                       {"refused", result.refused},   {"reserved_utterances", result.reserved},
                       {"reused_ids", result.reused}, {"seconds", result.seconds}};
  for (const auto& [name, q] : {std::pair("median", 0.5), std::pair("p95", 0.95)}) {
    json["query_ms"][name] = JsonNumber(Quantile(result.query_ms, q));
    json["reserve_ms"][name] = JsonNumber(Quantile(result.reserve_ms, q));
  }
  return JsonText(json);
}

std::string LoadText(const LoadResult& result, const LoadOptions& options) {
  std::string text = fmt::format(
      "{} queries of {} at concurrency {} in {:.1f} s: {} answered, {} wrong of {} utterances "
      "compared,\n{} refused, {} ids given out twice\n",
      options.queries, options.batch, options.concurrency, result.seconds, result.answered,
      result.wrong, result.compared, result.Refused(), result.reused);
  for (const auto& [reason, count] : result.refused) {
    text += fmt::format("  refused ({}): {}\n", reason, count);
  }
  if (result.query_ms.empty()) return text;
  return text +
         fmt::format("query {:.2f} ms (95 %: {:.2f}), reservation {:.2f} ms (95 %: {:.2f})\n",
                     Quantile(result.query_ms, 0.5), Quantile(result.query_ms, 0.95),
                     Quantile(result.reserve_ms, 0.5), Quantile(result.reserve_ms, 0.95));
}

std::string ServiceStatusJson(const std::vector<ServerStatus>& servers) {
  ordered_json json;
  for (const ServerStatus& server : servers) {
    json[server.server] = server.trouble.empty() ? ParseOrderedJson(FormatStatus(server.status))
                                                 : ordered_json{{"trouble", server.trouble}};
  }
  return JsonText(json);
}

std::string ServiceStatusText(const std::vector<ServerStatus>& servers) {
  std::string text;
  PageTable table;
  table.header = {"server", "model",  "state", "scenario", "units",
                  "policy", "stored", "ready", "reserved", "running"};
  for (const auto& [server, status, trouble] : servers) {
    if (!trouble.empty()) {
      text += fmt::format("{}: not there: {}\n", server, Printable(trouble));
      continue;
    }
    text += fmt::format("{}: up {} s, the other server {}, the dealer {}\n", server,
                        std::lround(status.up_s), status.link ? "is there" : "is NOT there",
                        status.dealer_seen_s_ago
                            ? fmt::format("asked {:.1f} s ago", *status.dealer_seen_s_ago)
                            : std::string("has not asked yet"));
    for (const auto& [name, count] : status.counts) {
      text += fmt::format("  {}: {}\n", Printable(name), count);
    }
    for (const ServiceModelStatus& model : status.models) {
      table.rows.push_back({server, Printable(model.name), Printable(model.state),
                            std::to_string(model.scenario), std::to_string(model.units),
                            Printable(model.policy), std::to_string(model.stored),
                            std::to_string(model.ready), std::to_string(model.reserved),
                            std::to_string(model.running)});
    }
  }
  return text + "\n" + TableText(table);
}

}  // namespace sotto

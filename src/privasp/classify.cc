#include "privasp/classify.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "spoof/spoof_corpus.h"
#include "spoof/spoof_features.h"

namespace sotto {
namespace {

using Clock = std::chrono::steady_clock;

double MsSince(Clock::time_point then) {
  return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
}

}  // namespace

std::size_t Classified::Refused() const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const auto& row) { return !row.refused.empty(); }));
}

Classified ClassifyAtService(const PartyConfig& config, const std::string& model,
                             const std::vector<std::filesystem::path>& recordings, int jobs) {
  const SpoofCorpora corpora = ListSpoofCorpora({}, {}, recordings);
  Classified classified;
  auto start = Clock::now();
  SecureClient client(config, model);
  classified.connect_ms = MsSince(start);
  classified.offer = client.Offer();

  const auto& utterances = corpora.list.utterances;
  std::vector<std::size_t> all(utterances.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::vector<std::int32_t>> inputs(all.size());
  std::vector<double> ms(all.size());
  const auto trouble =
      HearUtterances(corpora.list, all, jobs, [&](std::size_t i, std::span<const float> samples) {
        const auto began = Clock::now();
        inputs[i] = classified.offer.front_end.Quantise(SpoofFeatures(samples));
        ms[i] = MsSince(began);
      });
  classified.features_ms = std::accumulate(ms.begin(), ms.end(), 0.0) / double(ms.size());
  bool answered = false, lost = false;
  for (const std::size_t i : all) {
    ClassifiedRecording& row = classified.rows.emplace_back();
    row.utterance = utterances[i].id;
    row.refused = trouble[i];
    if (!row.refused.empty()) continue;
    if (lost) {
      row.refused = "the connection was lost before";
      continue;
    }
    try {
      row.answer = client.Ask(inputs[i])[0];
      row.cost = client.LastCost();
      answered = true;
    } catch (const Refused& refused) {
      if (!answered) throw;
      row.refused = refused.what();
    } catch (const Error& error) {
      if (!answered) throw;
      row.refused = error.what();
      lost = true;
    }
  }
  return classified;
}

}  // namespace sotto

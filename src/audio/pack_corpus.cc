#include "audio/pack_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "audio/utterances.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

constexpr std::size_t kAtOnce = 4096;  // utterances that are in memory beside the pack

std::int16_t ToInteger(float v) {
  return static_cast<std::int16_t>(std::lround(std::clamp(v * 32768.0f, -32768.0f, 32767.0f)));
}

// What was done to a protected corpus: its record without what differs between corpora.
std::string Protection(const std::string& run, const std::filesystem::path& corpus) {
  if (run.empty()) return "";
  auto json = TryParseJson(run);
  if (!json.is_object()) {
    throw Error(fmt::format("'{}': sotto-run.json is not a JSON object", corpus.string()));
  }
  for (const char* own : {"counts", "complete", "fitted", "ids", "context_given"}) json.erase(own);
  return DumpJson(json);
}

}  // namespace

SpeechPack PackCorpora(const std::vector<std::filesystem::path>& corpora, bool merge_speakers,
                       int jobs) {
  SpeechPack pack;
  pack.rate_hz = kEncoderRateHz;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    const auto record = corpora[c] / "sotto-run.json";
    const std::string run = std::filesystem::exists(record) ? ReadTextFile(record) : "";
    if (c > 0 && Protection(run, corpora[c]) != Protection(pack.run, corpora[c - 1])) {
      throw Error(fmt::format("'{}' and '{}' were not protected in the same way: one pack for each",
                              corpora[c - 1].string(), corpora[c].string()));
    }
    pack.run = run;
  }
  const UtteranceList list = ListUtterances(
      corpora, merge_speakers, merge_speakers ? Repeats::kCountOnce : Repeats::kRefuse);
  const std::size_t n = list.utterances.size();
  for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
    std::vector<std::size_t> some(std::min(kAtOnce, n - begin));
    std::iota(some.begin(), some.end(), begin);
    std::vector<std::vector<std::int16_t>> decoded(some.size());
    ForEachUtterance(list, some, jobs, [&](std::size_t i, std::span<const float> x) {
      for (const float v : x) decoded[i - begin].push_back(ToInteger(v));
    });
    for (const std::size_t i : some) {
      const Utterance& one = list.utterances[i];
      const auto gender = list.genders.find(one.speaker);
      const std::vector<std::int16_t>& samples = decoded[i - begin];
      pack.utterances.push_back({one.id, one.speaker,
                                 gender == list.genders.end() ? Gender::kUnknown : gender->second,
                                 pack.samples.size(), samples.size()});
      pack.samples.insert(pack.samples.end(), samples.begin(), samples.end());
    }
  }
  return pack;
}

}  // namespace sotto

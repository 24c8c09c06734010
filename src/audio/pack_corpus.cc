#include "audio/pack_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "audio/corpus.h"
#include "audio/resampler.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"

namespace sotto {
namespace {

constexpr int kRateHz = 16000;

std::vector<std::int16_t> Decode(const Recording& recording, const Span& span) {
  const Sound sound = ReadSound(recording.path);
  const std::vector<float>& all = sound.channels.front();
  const double rate = sound.format.rate_hz;
  const auto begin = std::min(all.size(), static_cast<std::size_t>(span.begin_s * rate));
  constexpr double kEndToleranceS = 0.5;  // as tables round their times
  const double last_s = static_cast<double>(all.size()) / rate;
  const auto end = span.end_s < 0
                       ? all.size()
                       : std::min(all.size(), static_cast<std::size_t>(span.end_s * rate));
  if (end <= begin || span.end_s > last_s + kEndToleranceS) {
    throw Error(fmt::format("utterance '{}' is empty or ends after its recording", span.utterance));
  }
  const std::vector<float> x = Resample(std::span(all).subspan(begin, end - begin), rate, kRateHz);
  std::vector<std::int16_t> samples(x.size());
  std::transform(x.begin(), x.end(), samples.begin(), [](float v) {
    return static_cast<std::int16_t>(std::lround(std::clamp(v * 32768.0f, -32768.0f, 32767.0f)));
  });
  return samples;
}

// What was done to a protected corpus: its record without what differs between corpora.
std::string Protection(const std::string& run, const std::filesystem::path& corpus) {
  if (run.empty()) return "";
  auto json = TryParseJson(run);
  if (!json.is_object()) {
    throw Error(fmt::format("'{}': sotto-run.json is no JSON object", corpus.string()));
  }
  for (const char* own : {"counts", "complete", "fitted", "ids", "context_given"}) json.erase(own);
  return DumpJson(json);
}

}  // namespace

SpeechPack PackCorpora(const std::vector<std::filesystem::path>& corpora, bool merge_speakers,
                       int jobs) {
  SpeechPack pack;
  pack.rate_hz = kRateHz;
  std::map<std::string, std::size_t> corpus_of_speaker;
  std::set<std::string> ids;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    const CorpusScan scan = ScanCorpus(corpora[c]);
    RefuseBadCorpus(scan.problems, corpora[c]);
    const auto record = corpora[c] / "sotto-run.json";
    const std::string run = std::filesystem::exists(record) ? ReadTextFile(record) : "";
    if (c > 0 && Protection(run, corpora[c]) != Protection(pack.run, corpora[c - 1])) {
      throw Error(fmt::format("'{}' and '{}' were not protected alike: one pack for each",
                              corpora[c - 1].string(), corpora[c].string()));
    }
    pack.run = run;
    auto genders = SpeakerGenders(scan.corpus);
    struct Item {
      const Recording* recording;
      const Span* span;
    };
    std::vector<Item> items;
    for (const Recording& recording : scan.corpus.recordings) {
      for (const Span& span : recording.spans) {
        const auto [found, fresh] = corpus_of_speaker.emplace(span.speaker, c);
        if (!fresh && found->second != c && !merge_speakers) {
          throw Error(
              fmt::format("speaker '{}' is in '{}' and in '{}': the same person? "
                          "(--merge-speakers)",
                          span.speaker, corpora[found->second].string(), corpora[c].string()));
        }
        // The same recording in two corpora counts once.
        if (!ids.insert(span.utterance).second) {
          if (merge_speakers) continue;
          throw Error(fmt::format("utterance '{}' of '{}' was there before", span.utterance,
                                  corpora[c].string()));
        }
        items.push_back({&recording, &span});
      }
    }
    std::vector<std::vector<std::int16_t>> decoded(items.size());
    ParallelFor(items.size(), jobs,
                [&](std::size_t i) { decoded[i] = Decode(*items[i].recording, *items[i].span); });
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Span& span = *items[i].span;
      pack.utterances.push_back({span.utterance, span.speaker, genders[span.speaker],
                                 pack.samples.size(), decoded[i].size()});
      pack.samples.insert(pack.samples.end(), decoded[i].begin(), decoded[i].end());
      decoded[i] = {};
    }
  }
  return pack;
}

}  // namespace sotto

#include "spoof/spoof_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "spoof/spoof_features.h"

namespace sotto {
namespace {

// The column of a manifest that names the attack; its end where there is none.
std::size_t AttackColumn(const Corpus& corpus) {
  for (const char* column : {"attack", "engine"}) {
    const auto found = std::find(corpus.header.begin(), corpus.header.end(), column);
    if (found != corpus.header.end()) {
      return static_cast<std::size_t>(found - corpus.header.begin());
    }
  }
  return corpus.header.size();
}

void Append(const std::filesystem::path& path, std::optional<bool> bona_fide,
            std::set<std::string>& known, SpoofCorpora& to) {
  Corpus corpus = OpenCorpus(path, {.allow_file = true});
  const std::size_t column = AttackColumn(corpus);
  for (std::size_t r = 0; r < corpus.recordings.size(); ++r) {
    std::string attack = kNoAttack;
    if (bona_fide == false) {
      attack = column < corpus.header.size() ? corpus.rows[r].at(column) : "";
      if (attack.empty()) attack = "spoof";
    }
    for (const Span& span : corpus.recordings[r].spans) {
      if (!known.insert(span.utterance).second) {
        throw Error(
            fmt::format("utterance '{}' of '{}' was there before", span.utterance, path.string()));
      }
      to.list.utterances.push_back(
          {span.utterance, span.speaker, to.list.recordings.size(), span.begin_s, span.end_s});
      to.bona_fide.push_back(bona_fide);
      to.attacks.push_back(attack);
    }
    to.list.recordings.push_back(std::move(corpus.recordings[r]));
  }
}

void RequireOneChannel(const Recording& recording) {
  if (!recording.pipe.empty()) return;  // refused by whoever reads it
  const SoundFormat format = SoundReader(recording.path).Format();
  if (format.channels != 1) {
    throw Error(fmt::format("{} channels: one is wanted", format.channels));
  }
  if (format.rate_hz != kSpoofRateHz) {
    throw Error(fmt::format("{} Hz: {} is wanted", format.rate_hz, kSpoofRateHz));
  }
}

}  // namespace

SpoofCorpora ListSpoofCorpora(const std::vector<std::filesystem::path>& bona_fide,
                              const std::vector<std::filesystem::path>& spoof,
                              const std::vector<std::filesystem::path>& unknown) {
  SpoofCorpora corpora;
  std::set<std::string> known;
  for (const auto& path : bona_fide) Append(path, true, known, corpora);
  for (const auto& path : spoof) Append(path, false, known, corpora);
  for (const auto& path : unknown) Append(path, std::nullopt, known, corpora);
  if (corpora.list.utterances.empty()) throw Error("no utterances");
  return corpora;
}

std::vector<std::string> HearUtterances(
    const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
    const std::function<void(std::size_t, std::span<const float>)>& use) {
  const auto groups = GroupByRecording(list, wanted);
  std::vector<std::string> trouble(list.utterances.size());
  Progress progress("hear", groups.size(), static_cast<double>(wanted.size()));
  ParallelFor(groups.size(), jobs, [&](std::size_t g) {
    std::vector<std::size_t> left = groups[g];
    double seconds = 0.0;
    try {
      RequireOneChannel(list.recordings[list.utterances[left.front()].recording]);
      ForEachUtterance(
          list, groups[g], 1,
          [&](std::size_t i, std::span<const float> x) {
            std::erase(left, i);
            seconds += static_cast<double>(x.size()) / kSpoofRateHz;
            try {
              use(i, x);
            } catch (const Error& error) {
              trouble[i] = error.what();
            }
          },
          kSpoofLongestS);
    } catch (const Error& error) {
      for (const std::size_t i : left) trouble[i] = error.what();
    }
    progress.Done(static_cast<double>(groups[g].size()), seconds);
  });
  return trouble;
}

}  // namespace sotto

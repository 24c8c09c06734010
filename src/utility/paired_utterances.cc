#include "utility/paired_utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audio/pairing.h"
#include "audio/utterances.h"
#include "base/error.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// One side, in its own order; `released` is not set.
std::vector<PairedUtterance> List(const Corpus& corpus) {
  const std::map<std::string, Gender> genders = SpeakerGenders(corpus);
  std::map<std::string, std::string> text_of(corpus.text.begin(), corpus.text.end());
  const auto column = static_cast<std::size_t>(
      std::find(corpus.header.begin(), corpus.header.end(), "text") - corpus.header.begin());
  std::vector<PairedUtterance> list;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    const Recording& recording = corpus.recordings[i];
    for (const Span& span : recording.spans) {
      PairedUtterance one;
      one.id = span.utterance;
      one.speaker = span.speaker;
      one.original = {recording.path, span.begin_s, span.end_s};
      if (column < corpus.header.size()) text_of[span.utterance] = corpus.rows[i][column];
      const auto words = text_of.find(one.id);
      if (words != text_of.end()) one.text = words->second;
      const auto known = genders.find(one.speaker);
      if (known != genders.end()) one.gender = known->second;
      list.push_back(std::move(one));
    }
  }
  return list;
}

}  // namespace

std::vector<std::size_t> SpreadOverSpeakers(const std::vector<PairedUtterance>& utterances,
                                            std::size_t limit) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // place among the speaker's own, index
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    order.emplace_back(seen[utterances[i].speaker]++, i);
  }
  std::sort(order.begin(), order.end());
  if (limit > 0 && limit < order.size()) order.resize(limit);
  std::vector<std::size_t> chosen;
  chosen.reserve(order.size());
  for (const auto& [place, index] : order) chosen.push_back(index);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::vector<std::size_t>> GroupByRecording(
    const std::vector<PairedUtterance>& utterances) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    const bool same = i > 0 && utterances[i].original.path == utterances[i - 1].original.path;
    if (!same) groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

std::vector<PairedUtterance> PairUtterances(const fs::path& original, const fs::path& released,
                                            std::size_t limit) {
  const CorpusPair pair = OpenPair(original, released);
  std::vector<PairedUtterance> list = List(pair.original);
  const std::vector<PairedUtterance> copies = List(pair.released);
  std::size_t without_text = 0;
  for (const IdPair& both :
       PairById(IdsOf(list), IdsOf(copies), {original.string(), released.string()})) {
    list[both.original].released = copies[both.released].original;
    if (!list[both.original].text) ++without_text;
  }
  if (list.empty()) throw Error(fmt::format("'{}': no utterances", original.string()));
  if (without_text > 0 && without_text < list.size()) {
    throw Error(fmt::format("'{}': {} of {} utterances have no transcript", original.string(),
                            without_text, list.size()));
  }
  std::vector<PairedUtterance> chosen;
  for (const std::size_t i : SpreadOverSpeakers(list, limit)) chosen.push_back(std::move(list[i]));
  return chosen;
}

std::vector<std::vector<float>> ReadUtterances(const std::vector<PairedUtterance>& utterances,
                                               std::span<const std::size_t> wanted,
                                               PairedUtterance::Place PairedUtterance::*side) {
  UtteranceList list;
  for (const std::size_t i : wanted) {
    const PairedUtterance& one = utterances[i];
    const PairedUtterance::Place& place = one.*side;
    if (list.recordings.empty() || list.recordings.back().path != place.path) {
      list.recordings.push_back({one.id, place.path, {}, {}, {}});
    }
    list.utterances.push_back(
        {one.id, one.speaker, list.recordings.size() - 1, place.begin_s, place.end_s});
  }
  std::vector<std::vector<float>> sounds(wanted.size());
  ForEachUtterance(list, AllOf(list), 1, [&](std::size_t k, std::span<const float> x) {
    sounds[k].assign(x.begin(), x.end());
  });
  return sounds;
}

}  // namespace sotto

#include "utility/paired_utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "speaker/utterances.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr int kRateHz = 16000;

std::string Gender(const std::string& text) {
  if (text == "F" || text == "f") return "F";
  if (text == "M" || text == "m") return "M";
  return "unknown";
}

// One side, in its own order; `released` is not set.
std::vector<PairedUtterance> List(const fs::path& path) {
  CorpusScan scan = ScanCorpus(path);
  RefuseBadCorpus(scan.problems, path);
  const Corpus& corpus = scan.corpus;
  std::map<std::string, std::string> gender_of, text_of;
  for (const auto& [speaker, gender] : corpus.spk2gender) gender_of[speaker] = Gender(gender);
  for (const auto& [utterance, text] : corpus.text) text_of[utterance] = text;
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(corpus.header.begin(), corpus.header.end(), name) -
                                    corpus.header.begin());
  };
  const std::size_t gender = column("gender"), text = column("text");
  std::vector<PairedUtterance> list;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    const Recording& recording = corpus.recordings[i];
    for (const Span& span : recording.spans) {
      PairedUtterance one;
      one.id = span.utterance;
      one.speaker = span.speaker;
      one.original = {recording.path, span.begin_s, span.end_s};
      if (i < corpus.rows.size()) {
        if (gender < corpus.header.size()) gender_of[span.speaker] = Gender(corpus.rows[i][gender]);
        if (text < corpus.header.size()) text_of[span.utterance] = corpus.rows[i][text];
      }
      const auto words = text_of.find(one.id);
      if (words != text_of.end()) one.text = words->second;
      const auto known = gender_of.find(one.speaker);
      one.gender = known == gender_of.end() ? "unknown" : known->second;
      list.push_back(std::move(one));
    }
  }
  return list;
}

std::vector<PairedUtterance> ListFile(const fs::path& path) {
  PairedUtterance one;
  one.id = one.speaker = path.stem().string();
  one.gender = "unknown";
  one.original.path = path;
  return {one};
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
  const bool files = fs::is_regular_file(original) && HasSoundExtension(original);
  std::vector<PairedUtterance> list = files ? ListFile(original) : List(original);
  std::map<std::string, PairedUtterance::Place> copies;
  for (PairedUtterance& one : files ? ListFile(released) : List(released)) {
    copies[files ? list[0].id : one.id] = one.original;
  }
  std::vector<std::string> missing;
  std::size_t without_text = 0;
  for (PairedUtterance& one : list) {
    const auto found = copies.find(one.id);
    if (found == copies.end()) {
      missing.push_back(one.id);
      continue;
    }
    one.released = found->second;
    copies.erase(found);
    if (!one.text) ++without_text;
  }
  if (!missing.empty() || !copies.empty()) {
    throw Error(fmt::format(
        "'{}' and '{}' do not hold the same utterances: {} only in the first{}, {} only in the "
        "second{}",
        original.string(), released.string(), missing.size(),
        missing.empty() ? "" : fmt::format(" ('{}')", missing[0]), copies.size(),
        copies.empty() ? "" : fmt::format(" ('{}')", copies.begin()->first)));
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

std::vector<float> UtteranceReader::Read(const PairedUtterance::Place& place) {
  if (place.path.empty()) throw Error("utterances that come from a pipe cannot be measured");
  if (place.path != path_) {
    x_ = ReadMono(place.path, kRateHz);
    path_ = place.path;
  }
  const auto sample = [&](double seconds) {
    return std::min(static_cast<std::size_t>(std::lround(seconds * kRateHz)), x_.size());
  };
  const std::size_t begin = sample(place.begin_s);
  const std::size_t end = place.end_s < 0.0 ? x_.size() : std::max(begin, sample(place.end_s));
  return {x_.begin() + static_cast<std::ptrdiff_t>(begin),
          x_.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace sotto

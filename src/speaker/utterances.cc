#include "speaker/utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "audio/resampler.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace {

constexpr double kEndTolerance = 0.5;  // seconds

}  // namespace

UtteranceList ListUtterances(const std::vector<std::filesystem::path>& corpora,
                             bool merge_speakers) {
  UtteranceList list;
  std::map<std::string, std::size_t> corpus_of_speaker;
  std::set<std::string> ids;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    CorpusScan scan = ScanCorpus(corpora[c]);
    RefuseBadCorpus(scan.problems, corpora[c]);
    for (const auto& [speaker, gender] : SpeakerGenders(scan.corpus)) {
      list.genders[speaker] = gender.front();
    }
    for (Recording& recording : scan.corpus.recordings) {
      for (const Span& span : recording.spans) {
        const auto [found, fresh] = corpus_of_speaker.emplace(span.speaker, c);
        if (!fresh && found->second != c && !merge_speakers) {
          throw Error(fmt::format("speaker '{}' is in '{}' and in '{}': the same person?",
                                  span.speaker, corpora[found->second].string(),
                                  corpora[c].string()));
        }
        if (!ids.insert(span.utterance).second) {
          throw Error(fmt::format("utterance '{}' of '{}' was there before", span.utterance,
                                  corpora[c].string()));
        }
        list.utterances.push_back(
            {span.utterance, span.speaker, list.recordings.size(), span.begin_s, span.end_s});
      }
      list.recordings.push_back(std::move(recording));
    }
  }
  if (list.utterances.empty()) throw Error("no utterances");
  return list;
}

std::vector<float> ReadMono(const std::filesystem::path& path, int rate_hz) {
  SoundReader reader(path);
  const auto channels = static_cast<std::size_t>(reader.Format().channels);
  std::vector<float> mono, block(16384 * channels);
  while (const std::size_t frames = reader.Read(block)) {
    for (std::size_t i = 0; i < frames; ++i) mono.push_back(block[i * channels]);
  }
  const int from = reader.Format().rate_hz;
  return from == rate_hz ? mono : Resample(mono, from, rate_hz);
}

void ForEachUtterance(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      const std::function<void(std::size_t, std::span<const float>)>& use) {
  std::map<std::size_t, std::vector<std::size_t>> by_recording;
  for (const std::size_t i : wanted) by_recording[list.utterances.at(i).recording].push_back(i);
  const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> work(by_recording.begin(),
                                                                           by_recording.end());
  ParallelFor(work.size(), jobs, [&](std::size_t w) {
    const Recording& recording = list.recordings[work[w].first];
    if (!recording.pipe.empty()) {
      throw Error(fmt::format("'{}' comes from a pipe: files are wanted", recording.id));
    }
    const std::vector<float> all = ReadMono(recording.path);
    const auto samples = [](double s) {
      return static_cast<std::size_t>(std::llround(s * kEncoderRateHz));
    };
    for (const std::size_t i : work[w].second) {
      const Utterance& utterance = list.utterances[i];
      const std::size_t begin = samples(utterance.begin_s);
      const std::size_t end = utterance.end_s < 0.0 ? all.size() : samples(utterance.end_s);
      if (end > all.size() + samples(kEndTolerance) || begin >= std::min(end, all.size())) {
        throw Error(fmt::format("utterance '{}' is empty or ends after its recording ({:.3f} s)",
                                utterance.id, static_cast<double>(all.size()) / kEncoderRateHz));
      }
      use(i, std::span(all).subspan(begin, std::min(end, all.size()) - begin));
    }
  });
}

}  // namespace sotto

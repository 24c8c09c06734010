#include "audio/utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "audio/resampler.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace {

// An utterance at another rate than its recording's.
class AtRate : public UtteranceSink {
 public:
  AtRate(int from_hz, int to_hz, std::unique_ptr<UtteranceSink> sink)
      : resampler_(from_hz, to_hz), sink_(std::move(sink)) {}
  void Push(std::span<const float> x) override {
    ready_.clear();
    resampler_.Push(x, ready_);
    sink_->Push(ready_);
  }
  void Finish() override {
    ready_.clear();
    resampler_.Finish(ready_);
    sink_->Push(ready_);
    sink_->Finish();
  }

 private:
  ResampleStream resampler_;
  const std::unique_ptr<UtteranceSink> sink_;
  std::vector<float> ready_;
};

// The first samples of an utterance, as soon as they are there.
class Gather : public UtteranceSink {
 public:
  Gather(double most, std::function<void(std::span<const float>)> use)
      : most_(most < 1e15 ? static_cast<std::size_t>(most) : SIZE_MAX), use_(std::move(use)) {}
  void Push(std::span<const float> x) override {
    const auto some = x.first(std::min(x.size(), most_ - x_.size()));
    x_.insert(x_.end(), some.begin(), some.end());
    if (x_.size() == most_) Finish();
  }
  void Finish() override {
    if (use_) std::exchange(use_, nullptr)(x_);
  }

 private:
  const std::size_t most_;
  std::function<void(std::span<const float>)> use_;
  std::vector<float> x_;
};

const std::filesystem::path& SoundFileOf(const Recording& recording) {
  if (recording.pipe.empty()) return recording.path;
  throw Error(fmt::format("'{}' comes from a pipe: a file is needed (for a fit, a profile will do)",
                          recording.id));
}

}  // namespace

UtteranceList ListUtterances(const std::vector<std::filesystem::path>& corpora, bool merge_speakers,
                             Repeats repeats) {
  UtteranceList list;
  std::map<std::string, std::size_t> corpus_of_speaker;
  std::set<std::string> ids;
  for (std::size_t c = 0; c < corpora.size(); ++c) {
    Corpus corpus = OpenCorpus(corpora[c]);
    for (const auto& [speaker, gender] : SpeakerGenders(corpus)) list.genders[speaker] = gender;
    for (Recording& recording : corpus.recordings) {
      for (const Span& span : recording.spans) {
        const auto [found, fresh] = corpus_of_speaker.emplace(span.speaker, c);
        if (!fresh && found->second != c && !merge_speakers) {
          throw Error(
              fmt::format("speaker '{}' is in '{}' and in '{}': the same person? "
                          "(--merge-speakers)",
                          span.speaker, corpora[found->second].string(), corpora[c].string()));
        }
        if (!ids.insert(span.utterance).second) {
          if (repeats == Repeats::kCountOnce) continue;
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

Mono ReadUtterance(const Recording& recording, const Span& span, double most_s) {
  SoundReader reader(SoundFileOf(recording));
  Mono mono{{}, reader.Format().rate_hz};
  bool done = false;
  Cutter cutter(reader, Cutter::Channels::kFirst);
  cutter.Add(span.utterance, CutOf(span.utterance, span.begin_s, span.end_s, mono.rate_hz), [&] {
    return std::make_unique<Gather>(std::round(most_s * mono.rate_hz),
                                    [&](std::span<const float> x) {
                                      mono.x.assign(x.begin(), x.end());
                                      done = true;
                                    });
  });
  cutter.Run([&] { return done; });
  return mono;
}

std::vector<std::size_t> AllOf(const UtteranceList& list) {
  std::vector<std::size_t> all(list.utterances.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::vector<std::size_t>> GroupByRecording(const UtteranceList& list,
                                                       std::span<const std::size_t> wanted) {
  std::map<std::size_t, std::vector<std::size_t>> by_recording;
  for (const std::size_t i : wanted) by_recording[list.utterances.at(i).recording].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(by_recording.size());
  for (auto& [recording, utterances] : by_recording) groups.push_back(std::move(utterances));
  return groups;
}

void StreamRecording(const UtteranceList& list, std::span<const std::size_t> wanted, int rate_hz,
                     const MakeSink& make) {
  if (wanted.empty()) return;
  const auto& file = SoundFileOf(list.recordings[list.utterances[wanted.front()].recording]);
  std::vector<std::size_t> left(wanted.begin(), wanted.end());
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return list.utterances[a].begin_s < list.utterances[b].begin_s;
  });
  while (!left.empty()) {
    SoundReader reader(file);
    const int own_hz = reader.Format().rate_hz;
    const int wanted_hz = rate_hz == kOwnRate ? own_hz : rate_hz;
    Cutter cutter(reader, Cutter::Channels::kFirst);
    std::vector<std::size_t> later;
    for (const std::size_t i : left) {
      const Utterance& one = list.utterances[i];
      const auto heard = [&make, i, own_hz, wanted_hz]() -> std::unique_ptr<UtteranceSink> {
        auto sink = make(i, wanted_hz);
        if (own_hz == wanted_hz) return sink;
        return std::make_unique<AtRate>(own_hz, wanted_hz, std::move(sink));
      };
      if (!cutter.Add(one.id, CutOf(one.id, one.begin_s, one.end_s, own_hz), heard)) {
        later.push_back(i);
      }
    }
    cutter.Run();
    left = std::move(later);
  }
}

void StreamUtterances(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      int rate_hz, const MakeSink& make) {
  const auto groups = GroupByRecording(list, wanted);
  ParallelFor(groups.size(), jobs,
              [&](std::size_t g) { StreamRecording(list, groups[g], rate_hz, make); });
}

void ForEachUtterance(const UtteranceList& list, std::span<const std::size_t> wanted, int jobs,
                      const std::function<void(std::size_t, std::span<const float>)>& use,
                      double most_s) {
  StreamUtterances(list, wanted, jobs, kEncoderRateHz, [&](std::size_t i, int) {
    return std::make_unique<Gather>(most_s * kEncoderRateHz,
                                    [&use, i](std::span<const float> x) { use(i, x); });
  });
}

}  // namespace sotto

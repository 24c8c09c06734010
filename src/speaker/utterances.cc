#include "speaker/utterances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "audio/resampler.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace {

constexpr double kEndTolerance = 0.5;  // seconds
constexpr std::size_t kTogether = 8;   // utterances that are heard at a time

// One reading of a recording.
class RecordingPass {
 public:
  RecordingPass(const std::filesystem::path& path, int rate_hz, const MakeSink& make)
      : reader_(path),
        rate_hz_(rate_hz == kOwnRate ? reader_.Format().rate_hz : rate_hz),
        resampler_(reader_.Format().rate_hz, rate_hz_),
        make_(make) {}

  // In the order in which utterances begin. False: too many lie over each other here.
  bool Take(const Utterance& utterance, std::size_t i) {
    const std::size_t begin = Samples(utterance.begin_s);
    std::erase_if(ends_, [&](std::size_t end) { return end <= begin; });
    if (ends_.size() == kTogether) return false;
    ends_.push_back(utterance.end_s < 0.0 ? SIZE_MAX : Samples(utterance.end_s));
    hearings_.push_back({utterance.id, i, begin, ends_.back(), {}});
    return true;
  }

  void Run() {
    const auto channels = static_cast<std::size_t>(reader_.Format().channels);
    std::vector<float> block(16384 * channels), mono;
    while (const std::size_t frames = reader_.Read(block)) {
      mono.resize(frames);
      for (std::size_t i = 0; i < frames; ++i) mono[i] = block[i * channels];
      ready_.clear();
      resampler_.Push(mono, ready_);
      Hand();
    }
    ready_.clear();
    resampler_.Finish(ready_);
    Hand();
    for (std::size_t k = next_; k < hearings_.size(); ++k) {
      Hearing& one = hearings_[k];
      if (one.done) continue;
      if (one.begin >= std::min(one.end, at_) ||
          (one.end != SIZE_MAX && one.end > at_ + Samples(kEndTolerance))) {
        throw Error(fmt::format("utterance '{}' is empty or ends after its recording ({:.3f} s)",
                                one.id, static_cast<double>(at_) / rate_hz_));
      }
      one.sink->Finish();
      one.sink.reset();
    }
  }

 private:
  struct Hearing {
    std::string id;
    std::size_t i, begin, end;  // samples
    std::unique_ptr<UtteranceSink> sink;
    bool done = false;
  };

  std::size_t Samples(double s) const {
    return static_cast<std::size_t>(std::llround(s * rate_hz_));
  }

  // ready_ to all that hear it.
  void Hand() {
    const std::size_t until = at_ + ready_.size();
    for (std::size_t k = next_; k < hearings_.size() && hearings_[k].begin < until; ++k) {
      Hearing& one = hearings_[k];
      if (one.done || one.end <= one.begin) continue;  // an empty one is told of at the end
      if (!one.sink) one.sink = make_(one.i, rate_hz_);
      const std::size_t from = std::max(one.begin, at_) - at_, to = std::min(one.end, until) - at_;
      one.sink->Push(std::span<const float>(ready_).subspan(from, to - from));
      if (one.end > until) continue;
      one.sink->Finish();
      one.sink.reset();
      one.done = true;
    }
    while (next_ < hearings_.size() && hearings_[next_].done) ++next_;
    at_ = until;
  }

  SoundReader reader_;
  const int rate_hz_;
  ResampleStream resampler_;
  const MakeSink& make_;
  std::vector<Hearing> hearings_;  // by their begin
  std::vector<std::size_t> ends_;  // of those that lie over the last one's begin
  std::size_t next_ = 0;           // all before it are done
  std::vector<float> ready_;
  std::size_t at_ = 0;  // of ready_, in the recording
};

// The first samples of an utterance.
class Gather : public UtteranceSink {
 public:
  Gather(std::size_t most, std::function<void(std::span<const float>)> use)
      : most_(most), use_(std::move(use)) {}
  void Push(std::span<const float> x) override {
    const auto some = x.first(std::min(x.size(), most_ - x_.size()));
    x_.insert(x_.end(), some.begin(), some.end());
  }
  void Finish() override { use_(x_); }

 private:
  const std::size_t most_;
  const std::function<void(std::span<const float>)> use_;
  std::vector<float> x_;
};

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
  ResampleStream resampler(reader.Format().rate_hz, rate_hz);
  std::vector<float> all, mono, block(16384 * channels);
  while (const std::size_t frames = reader.Read(block)) {
    mono.resize(frames);
    for (std::size_t i = 0; i < frames; ++i) mono[i] = block[i * channels];
    resampler.Push(mono, all);
  }
  resampler.Finish(all);
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
  const Recording& recording = list.recordings[list.utterances[wanted.front()].recording];
  if (!recording.pipe.empty()) {
    throw Error(fmt::format("'{}' comes from a pipe: files are wanted", recording.id));
  }
  std::vector<std::size_t> left(wanted.begin(), wanted.end());
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return list.utterances[a].begin_s < list.utterances[b].begin_s;
  });
  while (!left.empty()) {
    RecordingPass pass(recording.path, rate_hz, make);
    std::vector<std::size_t> later;
    for (const std::size_t i : left) {
      if (!pass.Take(list.utterances[i], i)) later.push_back(i);
    }
    pass.Run();
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
  const double most = most_s * kEncoderRateHz;
  const auto samples = most < 1e15 ? static_cast<std::size_t>(most) : SIZE_MAX;
  StreamUtterances(list, wanted, jobs, kEncoderRateHz, [&](std::size_t i, int) {
    return std::make_unique<Gather>(samples, [&use, i](std::span<const float> x) { use(i, x); });
  });
}

}  // namespace sotto

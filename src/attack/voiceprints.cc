#include "attack/voiceprints.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "audio/pairing.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/private_folder.h"
#include "base/progress.h"
#include "speaker/embed_corpus.h"
#include "speaker/embedding_stream.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// One utterance, changed or as it is, to all who listen.
class Listeners : public UtteranceSink {
 public:
  using Heard = std::function<void(std::size_t listener, const std::vector<float>& embedding)>;
  Listeners(const std::vector<const SpeakerEncoder*>& encoders, int rate_hz,
            std::unique_ptr<StreamTransformer> change, Heard heard, double& seconds)
      : rate_hz_(rate_hz), change_(std::move(change)), heard_(std::move(heard)), seconds_(seconds) {
    for (const SpeakerEncoder* encoder : encoders) {
      streams_.push_back(std::make_unique<EmbeddingStream>(
          rate_hz, [encoder](std::span<const float> x) { return encoder->EmbedWindow(x); }));
    }
  }

  void Push(std::span<const float> x) override {
    seconds_ += static_cast<double>(x.size()) / rate_hz_;
    if (!change_) return Hand(x);
    changed_.clear();
    change_->Push(x, changed_);
    Hand(changed_);
  }
  void Finish() override {
    if (change_) {
      changed_.clear();
      change_->Finish(changed_);
      change_.reset();  // what it holds is not needed beside the encoders
      Hand(changed_);
    }
    for (std::size_t l = 0; l < streams_.size(); ++l) heard_(l, streams_[l]->Finish());
  }

 private:
  void Hand(std::span<const float> x) {
    for (const auto& stream : streams_) stream->Push(x);
  }

  const int rate_hz_;
  std::unique_ptr<StreamTransformer> change_;
  const Heard heard_;
  double& seconds_;
  std::vector<std::unique_ptr<EmbeddingStream>> streams_;
  std::vector<float> changed_;
};

// Whether the set's vectors are there.
bool ReadKept(const fs::path& file, EmbeddingSet& set) {
  if (file.empty() || !fs::exists(file)) return false;
  EmbeddingSet kept = ParseArk(ReadTextFile(file, kLargestFile), file.string());
  if (static_cast<std::size_t>(kept.vectors.cols()) != set.ids.size()) {
    throw Error(fmt::format("{}: {} embeddings, {} were expected; delete the file", file.string(),
                            kept.vectors.cols(), set.ids.size()));
  }
  set.vectors = std::move(kept.vectors);
  return true;
}

}  // namespace

Voiceprinter::Voiceprinter(std::vector<const SpeakerEncoder*> encoders, VoiceprintOptions options)
    : encoders_(std::move(encoders)), options_(std::move(options)) {
  if (options_.cache.empty()) return;
  MakePrivateFolder(options_.cache, ".ark");
}

fs::path Voiceprinter::CacheFile(const SpeakerEncoder& encoder, const UtteranceList& list,
                                 const VoiceprintJob& job) const {
  if (options_.cache.empty()) return {};
  std::string text =
      fmt::format("sotto voiceprints 2\n{}\n{}\n{}\n{}\n", kEmbeddingRule, encoder.Fingerprint(),
                  job.change ? "changed" : "as it is", job.change_text);
  for (const std::size_t i : job.wanted) {
    const Utterance& utterance = list.utterances[i];
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", utterance.id, utterance.speaker,
                        FileStamp(list.recordings[utterance.recording].path), utterance.begin_s,
                        utterance.end_s);
  }
  return options_.cache / (ContentDigest(text).substr(0, 40) + ".ark");
}

std::vector<EmbeddingSet> Voiceprinter::Embed(const UtteranceList& list,
                                              const VoiceprintJob& job) const {
  std::vector<EmbeddingSet> sets(encoders_.size(), LabelsOf(list, job.wanted));
  const auto n = static_cast<Eigen::Index>(job.wanted.size());
  struct Missing {
    const SpeakerEncoder& encoder;
    EmbeddingSet& set;
    fs::path file;
  };
  std::vector<Missing> missing;
  for (std::size_t e = 0; e < encoders_.size(); ++e) {
    fs::path file = CacheFile(*encoders_[e], list, job);
    if (ReadKept(file, sets[e])) continue;
    sets[e].vectors.resize(static_cast<Eigen::Index>(encoders_[e]->Dimension()), n);
    missing.push_back({*encoders_[e], sets[e], std::move(file)});
  }
  if (missing.empty()) return sets;
  std::vector<const SpeakerEncoder*> listening;
  listening.reserve(missing.size());
  for (const Missing& m : missing) listening.push_back(&m.encoder);
  std::map<std::size_t, std::vector<Eigen::Index>> places;  // of an utterance in the job
  for (Eigen::Index k = 0; k < n; ++k) places[job.wanted[static_cast<std::size_t>(k)]].push_back(k);
  std::vector<std::size_t> heard;
  heard.reserve(places.size());
  for (const auto& [i, columns] : places) heard.push_back(i);
  // A recording is decoded once for all its utterances.
  const auto work = GroupByRecording(list, heard);
  std::mutex mutex;
  std::map<std::size_t, std::string> failures;
  Progress progress(job.label, work.size(), static_cast<double>(work.size()));
  ParallelFor(work.size(), options_.jobs, [&](std::size_t w) {
    double seconds = 0.0;
    std::size_t at = work[w].front();
    try {
      StreamRecording(list, work[w], kOwnRate, [&](std::size_t i, int rate_hz) {
        at = i;
        return std::make_unique<Listeners>(
            listening, rate_hz, job.change ? job.change(rate_hz, list.utterances[i]) : nullptr,
            [&, i](std::size_t l, const std::vector<float>& embedding) {
              const Eigen::Map<const Eigen::VectorXf> column(
                  embedding.data(), static_cast<Eigen::Index>(embedding.size()));
              for (const Eigen::Index k : places.at(i)) missing[l].set.vectors.col(k) = column;
            },
            seconds);
      });
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      failures[at] = error.what();
    }
    progress.Done(1.0, seconds);
  });
  if (!failures.empty()) {
    throw Error(fmt::format("{}: {} of {} recordings could not be embedded; the first, '{}': {}",
                            job.label, failures.size(), work.size(),
                            list.utterances[failures.begin()->first].id, failures.begin()->second));
  }
  for (const Missing& m : missing) {
    if (m.file.empty()) continue;
    EmbeddingSet nameless;  // the cache needs no ids
    for (Eigen::Index i = 0; i < n; ++i) nameless.ids.push_back(fmt::to_string(i));
    nameless.vectors = m.set.vectors;
    WriteInPrivateFolder(m.file, SerialiseArk(nameless));
  }
  return sets;
}

std::vector<std::size_t> FindUtterances(const UtteranceList& list, std::span<const std::string> ids,
                                        const std::string& what) {
  std::vector<std::size_t> found;
  const PairingRule rule{.original = "plan", .released = what, .may_lack_originals = true};
  for (const IdPair& pair : PairById(ids, IdsOf(list.utterances), rule)) {
    found.push_back(pair.released);
  }
  return found;
}

}  // namespace sotto

#include "attack/voiceprints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "audio/sound_file.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr double kEndToleranceS = 0.5;

struct Mono {
  std::vector<float> x;
  int rate_hz = 0;
};

Mono ReadFirstChannel(const fs::path& path) {
  SoundReader reader(path);
  const auto channels = static_cast<std::size_t>(reader.Format().channels);
  Mono mono{{}, reader.Format().rate_hz};
  std::vector<float> block(16384 * channels);
  while (const std::size_t frames = reader.Read(block)) {
    for (std::size_t i = 0; i < frames; ++i) mono.x.push_back(block[i * channels]);
  }
  return mono;
}

std::vector<float> Cut(const Mono& mono, const Utterance& utterance) {
  const auto samples = [&](double s) {
    return static_cast<std::size_t>(std::llround(s * mono.rate_hz));
  };
  const std::size_t n = mono.x.size(), begin = samples(utterance.begin_s);
  const std::size_t end = utterance.end_s < 0.0 ? n : samples(utterance.end_s);
  if (begin >= std::min(end, n) || end > n + samples(kEndToleranceS)) {
    throw Error(fmt::format("utterance '{}' is empty or ends after its recording", utterance.id));
  }
  return {mono.x.begin() + static_cast<std::ptrdiff_t>(begin),
          mono.x.begin() + static_cast<std::ptrdiff_t>(std::min(end, n))};
}

EmbeddingSet Describe(const UtteranceList& list, const std::vector<std::size_t>& wanted) {
  EmbeddingSet set;
  for (const std::size_t i : wanted) {
    const Utterance& utterance = list.utterances[i];
    set.ids.push_back(utterance.id);
    set.speakers.push_back(utterance.speaker);
    const auto gender = list.genders.find(utterance.speaker);
    if (gender != list.genders.end()) set.genders.insert(*gender);
  }
  return set;
}

// Whether the set's vectors are there.
bool ReadKept(const fs::path& file, EmbeddingSet& set) {
  if (file.empty() || !fs::exists(file)) return false;
  EmbeddingSet kept = ParseArk(ReadTextFile(file), file.string());
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
  MakeFolder(options_.cache);
  fs::permissions(options_.cache, fs::perms::owner_all);
}

fs::path Voiceprinter::CacheFile(const SpeakerEncoder& encoder, const UtteranceList& list,
                                 const VoiceprintJob& job) const {
  if (options_.cache.empty()) return {};
  std::string text = fmt::format("sotto voiceprints 1\n{}\n{}\n{}\n", encoder.Fingerprint(),
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
  std::vector<EmbeddingSet> sets(encoders_.size(), Describe(list, job.wanted));
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
  // A recording is decoded once for all its utterances.
  std::map<std::size_t, std::vector<std::size_t>> by_recording;
  for (std::size_t k = 0; k < job.wanted.size(); ++k) {
    by_recording[list.utterances.at(job.wanted[k]).recording].push_back(k);
  }
  const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> work(by_recording.begin(),
                                                                           by_recording.end());
  std::mutex mutex;
  std::map<std::size_t, std::string> failures;
  Progress progress(job.label, work.size(), static_cast<double>(work.size()));
  ParallelFor(work.size(), options_.jobs, [&](std::size_t w) {
    const Recording& recording = list.recordings[work[w].first];
    double seconds = 0.0;
    std::size_t at = work[w].second.front();
    try {
      if (!recording.pipe.empty()) {
        throw Error(fmt::format("'{}' comes from a pipe: files are wanted", recording.id));
      }
      const Mono mono = ReadFirstChannel(recording.path);
      for (const std::size_t k : work[w].second) {
        at = k;
        const Utterance& utterance = list.utterances[job.wanted[k]];
        std::vector<float> x = Cut(mono, utterance);
        seconds += static_cast<double>(x.size()) / mono.rate_hz;
        if (job.change) x = job.change(std::move(x), mono.rate_hz, utterance);
        for (const Missing& m : missing) {
          const std::vector<float> embedding = m.encoder.Embed(x, mono.rate_hz);
          m.set.vectors.col(static_cast<Eigen::Index>(k)) = Eigen::Map<const Eigen::VectorXf>(
              embedding.data(), static_cast<Eigen::Index>(embedding.size()));
        }
      }
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      failures[at] = error.what();
    }
    progress.Done(1.0, seconds);
  });
  if (!failures.empty()) {
    throw Error(fmt::format("{}: {} of {} recordings could not be embedded; the first, '{}': {}",
                            job.label, failures.size(), work.size(),
                            sets.front().ids[failures.begin()->first], failures.begin()->second));
  }
  for (const Missing& m : missing) {
    if (m.file.empty()) continue;
    EmbeddingSet nameless;  // the cache needs no ids
    for (Eigen::Index i = 0; i < n; ++i) nameless.ids.push_back(fmt::to_string(i));
    nameless.vectors = m.set.vectors;
    WriteFileAtomically(m.file, SerialiseArk(nameless));
  }
  return sets;
}

std::vector<std::size_t> FindUtterances(const UtteranceList& list, std::span<const std::string> ids,
                                        const std::string& what) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < list.utterances.size(); ++i) index[list.utterances[i].id] = i;
  std::vector<std::size_t> found;
  std::vector<std::string> missing;
  for (const std::string& id : ids) {
    const auto place = index.find(id);
    if (place == index.end()) {
      missing.push_back(id);
    } else {
      found.push_back(place->second);
    }
  }
  if (!missing.empty()) {
    throw Error(fmt::format("{}: {} of {} utterances are missing (the first: '{}')", what,
                            missing.size(), ids.size(), missing.front()));
  }
  return found;
}

}  // namespace sotto

#include "speaker/embed_corpus.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/private_folder.h"
#include "base/progress.h"
#include "speaker/embedding_stream.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::string SoundDigest(std::span<const float> x) {
  return ContentDigest({reinterpret_cast<const char*>(x.data()), x.size_bytes()}).substr(0, 40);
}

// One ark for each encoder and rule, the ids being digests of windows of sound.
class Cache {
 public:
  Cache(const fs::path& folder, const SpeakerEncoder& encoder) {
    if (folder.empty()) return;
    MakePrivateFolder(folder, ".ark");
    file_ = folder / (ContentDigest(encoder.Fingerprint() + kEmbeddingRule).substr(0, 32) + ".ark");
    if (!fs::exists(file_)) return;
    const EmbeddingSet set = ParseArk(ReadTextFile(file_, kLargestFile), file_.string());
    if (static_cast<std::size_t>(set.Dimension()) != encoder.Dimension()) {
      throw Error(fmt::format("{}: {} dimensions, the encoder has {}; delete the file",
                              file_.string(), set.Dimension(), encoder.Dimension()));
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      const auto column = set.vectors.col(static_cast<Eigen::Index>(i));
      known_[set.ids[i]] = {column.begin(), column.end()};
    }
  }
  bool Used() const { return !file_.empty(); }
  const std::vector<float>* Find(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(digest);
    return found == known_.end() ? nullptr : &found->second;  // nodes of a map stay where they are
  }
  void Add(const std::string& digest, const std::vector<float>& embedding) {
    const std::lock_guard lock(mutex_);
    changed_ = known_.emplace(digest, embedding).second || changed_;
  }
  void Save() {
    if (!changed_) return;
    EmbeddingSet set;
    set.vectors.resize(static_cast<Eigen::Index>(known_.begin()->second.size()),
                       static_cast<Eigen::Index>(known_.size()));
    for (const auto& [digest, embedding] : known_) {
      set.vectors.col(static_cast<Eigen::Index>(set.ids.size())) =
          Eigen::Map<const Eigen::VectorXf>(embedding.data(),
                                            static_cast<Eigen::Index>(embedding.size()));
      set.ids.push_back(digest);
    }
    WriteInPrivateFolder(file_, SerialiseArk(set));
  }

 private:
  fs::path file_;
  std::map<std::string, std::vector<float>> known_;
  std::mutex mutex_;
  bool changed_ = false;
};

// One utterance, window by window, by the cache where it knows them.
class Embedder : public UtteranceSink {
 public:
  using Done = std::function<void(const Embedder&, std::vector<float>, const std::string& failure)>;
  Embedder(const SpeakerEncoder& encoder, Cache& cache, Done done)
      : encoder_(encoder),
        cache_(cache),
        done_(std::move(done)),
        stream_(kEncoderRateHz, [this](std::span<const float> x) { return Window(x); }) {}

  void Push(std::span<const float> x) override {
    samples_ += x.size();
    stream_.Push(x);
  }
  void Finish() override {
    std::vector<float> embedding;
    std::string failure;
    try {
      embedding = stream_.Finish();
    } catch (const Error& error) {
      failure = error.what();
    }
    done_(*this, std::move(embedding), failure);
  }

  double Seconds() const { return static_cast<double>(samples_) / kEncoderRateHz; }
  bool FromCache() const { return windows_ > 0 && known_ == windows_; }

 private:
  std::vector<float> Window(std::span<const float> x) {
    ++windows_;
    if (!cache_.Used()) return encoder_.EmbedWindow(x);
    const std::string digest = SoundDigest(x);
    if (const std::vector<float>* known = cache_.Find(digest)) {
      ++known_;
      return *known;
    }
    std::vector<float> embedding = encoder_.EmbedWindow(x);
    cache_.Add(digest, embedding);
    return embedding;
  }

  const SpeakerEncoder& encoder_;
  Cache& cache_;
  const Done done_;
  EmbeddingStream stream_;
  std::size_t samples_ = 0, windows_ = 0, known_ = 0;
};

}  // namespace

std::vector<float> EmbedFile(const SpeakerEncoder& encoder, const fs::path& path) {
  UtteranceList list;
  list.recordings = SingleFileCorpus(path).recordings;
  list.utterances = {{path.string(), path.string()}};
  const EmbeddingSet set = EmbedCorpus(encoder, list).set;
  return {set.vectors.data(), set.vectors.data() + set.vectors.size()};
}

Verification VerifyFiles(const SpeakerEncoder& encoder, const fs::path& a, const fs::path& b) {
  const auto embed = [&](const fs::path& path) {
    const std::vector<float> x = EmbedFile(encoder, path);
    return Eigen::VectorXf(
        Eigen::Map<const Eigen::VectorXf>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  Verification verification{CosineScores(embed(a), embed(b))(0, 0), {}};
  if (const auto& calibration = encoder.Calibration()) {
    verification.llr = calibration->scale * verification.cosine + calibration->offset;
  }
  return verification;
}

EmbeddingSet LabelsOf(const UtteranceList& list, std::span<const std::size_t> wanted) {
  EmbeddingSet set;
  for (const std::size_t i : wanted) {
    const Utterance& utterance = list.utterances[i];
    set.ids.push_back(utterance.id);
    set.speakers.push_back(utterance.speaker);
    const auto gender = list.genders.find(utterance.speaker);
    if (gender != list.genders.end()) set.genders.insert(*gender);
  }
  set.vectors.resize(0, static_cast<Eigen::Index>(set.ids.size()));
  return set;
}

EmbeddedCorpus EmbedCorpus(const SpeakerEncoder& encoder, const UtteranceList& list,
                           const EmbedOptions& options) {
  Cache cache(options.cache, encoder);
  const std::size_t n = list.utterances.size();
  const std::vector<std::size_t> all = AllOf(list);
  EmbeddedCorpus result;
  EmbeddingSet& set = result.set = LabelsOf(list, all);
  set.vectors.resize(static_cast<Eigen::Index>(encoder.Dimension()), static_cast<Eigen::Index>(n));
  std::mutex mutex;
  std::map<std::size_t, std::string> failures;
  Progress progress("embed", n, static_cast<double>(n));
  const auto finish = [&](std::size_t i, const Embedder& embedder, std::vector<float> embedding,
                          const std::string& failure) {
    if (!embedding.empty()) {
      set.vectors.col(static_cast<Eigen::Index>(i)) = Eigen::Map<const Eigen::VectorXf>(
          embedding.data(), static_cast<Eigen::Index>(embedding.size()));
    }
    progress.Done(1.0, embedder.Seconds());
    const std::lock_guard lock(mutex);
    if (!failure.empty()) failures[i] = failure;
    result.audio_seconds += embedder.Seconds();
    result.from_cache += embedder.FromCache() ? 1 : 0;
  };
  try {
    StreamUtterances(list, all, options.jobs, kEncoderRateHz, [&](std::size_t i, int) {
      return std::make_unique<Embedder>(encoder, cache, [&finish, i](auto&&... heard) {
        finish(i, std::forward<decltype(heard)>(heard)...);
      });
    });
  } catch (const Cancelled&) {
    cache.Save();
    throw;
  }
  cache.Save();
  if (!failures.empty()) {
    throw Error(fmt::format("{} of {} utterances could not be embedded; the first, '{}': {}",
                            failures.size(), n, list.utterances[failures.begin()->first].id,
                            failures.begin()->second));
  }
  ValidateEmbeddings(set, "embeddings");
  return result;
}

void WriteEncoderRecord(const SpeakerEncoder& encoder, const EmbeddingSet& set,
                        const fs::path& folder, IfExists if_exists) {
  const nlohmann::ordered_json json = {{"encoder", encoder.Name()},
                                       {"fingerprint", encoder.Fingerprint()},
                                       {"rule", kEmbeddingRule},
                                       {"dimension", encoder.Dimension()},
                                       {"utterances", set.size()},
                                       {"speakers", set.BySpeaker().size()},
                                       {"speakers_without_gender", set.WithoutGender().size()}};
  WriteFileAtomically(folder / "encoder.json", DumpJson(json, 2) + "\n", {.if_exists = if_exists});
}

std::optional<EncoderRecord> ReadEncoderRecord(const fs::path& folder) {
  const fs::path path = folder / "encoder.json";
  if (!fs::exists(path)) return std::nullopt;
  const nlohmann::json json = TryParseJson(ReadTextFile(path));
  const auto text = [&](const char* name) {
    const bool there = json.is_object() && json.contains(name) && json[name].is_string();
    if (!there) throw Error(fmt::format("{}: no text '{}'", path.string(), name));
    return json[name].get<std::string>();
  };
  return EncoderRecord{text("encoder"), text("fingerprint")};
}

void RequireSameEncoder(const fs::path& a, const fs::path& b) {
  const auto first = ReadEncoderRecord(a), second = ReadEncoderRecord(b);
  if (!first || !second || first->fingerprint == second->fingerprint) return;
  throw Error(
      fmt::format("'{}' and '{}' were made by different encoders ({} {} and {} {}): their "
                  "embeddings cannot be compared",
                  a.string(), b.string(), first->encoder, first->fingerprint.substr(0, 8),
                  second->encoder, second->fingerprint.substr(0, 8)));
}

}  // namespace sotto

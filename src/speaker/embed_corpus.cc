#include "speaker/embed_corpus.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

std::string SoundDigest(std::span<const float> x) {
  return ContentDigest({reinterpret_cast<const char*>(x.data()), x.size_bytes()}).substr(0, 40);
}

// One ark for each encoder, the ids being digests of sound.
class Cache {
 public:
  Cache(const fs::path& folder, const SpeakerEncoder& encoder) {
    if (folder.empty()) return;
    MakeFolder(folder);
    file_ = folder / (encoder.Fingerprint() + ".ark");
    if (!fs::exists(file_)) return;
    const EmbeddingSet set = ParseArk(ReadTextFile(file_), file_.string());
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
    WriteFileAtomically(file_, SerialiseArk(set));
  }

 private:
  fs::path file_;
  std::map<std::string, std::vector<float>> known_;
  std::mutex mutex_;
  bool changed_ = false;
};

}  // namespace

EmbeddedCorpus EmbedCorpus(const SpeakerEncoder& encoder, const UtteranceList& list,
                           const EmbedOptions& options) {
  Cache cache(options.cache, encoder);
  EmbeddedCorpus result;
  EmbeddingSet& set = result.set;
  const std::size_t n = list.utterances.size();
  set.vectors.resize(static_cast<Eigen::Index>(encoder.Dimension()), static_cast<Eigen::Index>(n));
  for (const Utterance& utterance : list.utterances) {
    set.ids.push_back(utterance.id);
    set.speakers.push_back(utterance.speaker);
    const auto gender = list.genders.find(utterance.speaker);
    if (gender != list.genders.end()) set.genders.insert(*gender);
  }
  std::mutex mutex;
  std::map<std::size_t, std::string> failures;
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  ForEachUtterance(list, all, options.jobs, [&](std::size_t i, std::span<const float> x) {
    const double seconds = static_cast<double>(x.size()) / kEncoderRateHz;
    std::vector<float> embedding;
    bool cached = false;
    try {
      const std::string digest = cache.Used() ? SoundDigest(x) : "";
      const std::vector<float>* known = cache.Used() ? cache.Find(digest) : nullptr;
      cached = known != nullptr;
      embedding = cached ? *known : encoder.Embed(x, kEncoderRateHz);
      if (cache.Used() && !cached) cache.Add(digest, embedding);
      set.vectors.col(static_cast<Eigen::Index>(i)) = Eigen::Map<const Eigen::VectorXf>(
          embedding.data(), static_cast<Eigen::Index>(embedding.size()));
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      failures[i] = error.what();
    }
    if (options.done) options.done(seconds);
    const std::lock_guard lock(mutex);
    result.audio_seconds += seconds;
    result.from_cache += cached ? 1 : 0;
  });
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
                        const fs::path& folder) {
  const nlohmann::ordered_json json = {{"encoder", encoder.Name()},
                                       {"fingerprint", encoder.Fingerprint()},
                                       {"dimension", encoder.Dimension()},
                                       {"utterances", set.size()},
                                       {"speakers", set.BySpeaker().size()},
                                       {"speakers_without_gender", set.WithoutGender().size()}};
  WriteFileAtomically(folder / "encoder.json", json.dump(2) + "\n");
}

std::optional<EncoderRecord> ReadEncoderRecord(const fs::path& folder) {
  const fs::path path = folder / "encoder.json";
  if (!fs::exists(path)) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(ReadTextFile(path), nullptr, false);
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

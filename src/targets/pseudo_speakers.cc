#include "targets/pseudo_speakers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "base/json.h"

namespace sotto {
namespace {

constexpr std::size_t kFewestVoices = 10;
constexpr int kMostDraws = 100;
constexpr double kMinPitchDeviation = 0.05, kMaxPitchDeviation = 0.5;
const double kMinLogF0 = std::log(70.0), kMaxLogF0 = std::log(350.0);

// Standard normal numbers that only the holder of the key can draw again.
Eigen::VectorXd Normals(const TargetDraws& draws, const std::string& name, Eigen::Index count,
                        const std::string& speaker, const std::string& utterance) {
  Eigen::VectorXd values(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto uniform = [&](const char* part) {
      return draws.Uniform(fmt::format("{} {} {}", name, i, part), 0.0, 1.0, speaker, utterance);
    };
    values[i] = std::sqrt(-2.0 * std::log(1.0 - uniform("radius"))) *
                std::cos(2.0 * std::numbers::pi * uniform("angle"));
  }
  return values;
}

}  // namespace

SpeakerPool ReadSpeakerPool(const TensorFile& file) {
  if (file.Meta("sotto.kind") != "voices") {
    throw Error(fmt::format("{}: a file of kind '{}', expected 'voices'", file.where,
                            file.Meta("sotto.kind")));
  }
  try {
    const auto names = ParseJson(file.Meta("sotto.names"));
    const auto genders = ParseJson(file.Meta("sotto.genders"));
    const auto n = static_cast<std::int64_t>(names.size());
    if (genders.size() != names.size()) {
      throw Error(fmt::format("{}: {} names and {} genders", file.where, n, genders.size()));
    }
    const NamedTensor& embeddings = file.Get("embeddings", {n, -1});
    const NamedTensor& pitch = file.Get("pitch", {n, 2});
    const auto size = static_cast<std::size_t>(embeddings.shape[1]);
    SpeakerPool pool;
    pool.encoder = file.Meta("sotto.encoder");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string gender = genders[i];
      SpeakerVoice voice;
      voice.name = names[i];
      voice.gender = ParseGender(gender);
      if (gender != Name(voice.gender)) {
        throw Error(
            fmt::format("{}: gender '{}' of voice {}: F or M is allowed", file.where, gender, i));
      }
      const auto begin = embeddings.values.begin() + static_cast<std::ptrdiff_t>(i * size);
      voice.embedding.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
      voice.log_f0_mean = pitch.values[2 * i];
      voice.log_f0_deviation = pitch.values[2 * i + 1];
      pool.voices.push_back(std::move(voice));
    }
    return pool;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: names or genders: {}", file.where, error.what()));
  }
}

TensorFile WriteSpeakerPool(const SpeakerPool& pool) {
  TensorFile file;
  nlohmann::json names = nlohmann::json::array(), genders = nlohmann::json::array();
  NamedTensor& embeddings = file.tensors["embeddings"];
  NamedTensor& pitch = file.tensors["pitch"];
  const std::size_t size = pool.voices.empty() ? 0 : pool.voices[0].embedding.size();
  for (const SpeakerVoice& voice : pool.voices) {
    if (voice.embedding.size() != size) {
      throw Error(fmt::format("voice '{}': an embedding of {}, others have {}", voice.name,
                              voice.embedding.size(), size));
    }
    names.push_back(voice.name);
    genders.push_back(Name(voice.gender, "?"));
    embeddings.values.insert(embeddings.values.end(), voice.embedding.begin(),
                             voice.embedding.end());
    pitch.values.push_back(static_cast<float>(voice.log_f0_mean));
    pitch.values.push_back(static_cast<float>(voice.log_f0_deviation));
  }
  const auto n = static_cast<std::int64_t>(pool.voices.size());
  embeddings.shape = {n, static_cast<std::int64_t>(size)};
  pitch.shape = {n, 2};
  file.metadata = {{"sotto.kind", "voices"},
                   {"sotto.names", DumpJson(names)},
                   {"sotto.genders", DumpJson(genders)},
                   {"sotto.encoder", pool.encoder}};
  return file;
}

SpeakerPool MakeSpeakerPool(const SpeechPack& pack, const FeaturePack& features) {
  RequireMatch(pack, features);
  struct Sums {
    SpeakerVoice voice;
    Eigen::VectorXd embedding;
    double count = 0.0, sum = 0.0, square = 0.0;
  };
  std::map<std::string, Sums> speakers;
  for (std::size_t i = 0; i < pack.utterances.size(); ++i) {
    Sums& s = speakers[pack.utterances[i].speaker];
    const UtteranceFeatures& u = features.utterances[i];
    const Gender gender = pack.utterances[i].gender;
    if (gender != Gender::kUnknown) s.voice.gender = gender;
    const Eigen::VectorXd e = Eigen::Map<const Eigen::VectorXf>(
                                  u.embedding.data(), static_cast<Eigen::Index>(u.embedding.size()))
                                  .cast<double>();
    if (s.embedding.size() == 0) s.embedding = Eigen::VectorXd::Zero(e.size());
    s.embedding += e / std::max(e.norm(), 1e-12);
    for (const float hz : u.f0_hz) {
      if (hz <= 0.0f) continue;
      const double x = std::log(static_cast<double>(hz));
      s.count += 1.0;
      s.sum += x;
      s.square += x * x;
    }
  }
  SpeakerPool pool;
  pool.encoder = features.encoder;
  std::size_t no_gender = 0, no_voice = 0;
  for (auto& [name, s] : speakers) {
    no_gender += s.voice.gender == Gender::kUnknown;
    no_voice += s.count < 2.0;
    if (s.count < 2.0) continue;
    s.voice.name = name;
    s.voice.log_f0_mean = s.sum / s.count;
    s.voice.log_f0_deviation =
        std::sqrt(std::max(0.0, s.square / s.count - s.voice.log_f0_mean * s.voice.log_f0_mean));
    const Eigen::VectorXf e = s.embedding.normalized().cast<float>();
    s.voice.embedding.assign(e.data(), e.data() + e.size());
    pool.voices.push_back(std::move(s.voice));
  }
  if (no_gender + no_voice > 0) {
    throw Error(
        fmt::format("a pool of voices: of {} speakers {} have no gender, {} no voiced frame",
                    speakers.size(), no_gender, no_voice));
  }
  return pool;
}

double UsualNearest(const SpeakerPool& pool) {
  std::vector<Eigen::VectorXf> voices;
  for (const SpeakerVoice& voice : pool.voices) {
    voices.emplace_back(
        Eigen::Map<const Eigen::VectorXf>(voice.embedding.data(),
                                          static_cast<Eigen::Index>(voice.embedding.size()))
            .normalized());
  }
  if (voices.size() < 2) throw Error("a pool of fewer than two voices");
  std::vector<double> nearest(voices.size(), -1.0);
  for (std::size_t i = 0; i < voices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double cosine = voices[i].dot(voices[j]);
      nearest[i] = std::max(nearest[i], cosine);
      nearest[j] = std::max(nearest[j], cosine);
    }
  }
  const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
  std::nth_element(nearest.begin(), middle, nearest.end());
  return *middle;
}

PseudoSpeakers::Group PseudoSpeakers::Fit(const Eigen::MatrixXd& embeddings,
                                          const Eigen::MatrixXd& pitch) {
  Group group;
  const auto n = static_cast<double>(embeddings.cols());
  const auto p = static_cast<double>(embeddings.rows());
  group.mean = embeddings.rowwise().mean();
  group.centred = embeddings.colwise() - group.mean;
  group.pitch_mean = pitch.rowwise().mean();
  group.pitch_centred = pitch.colwise() - group.pitch_mean;
  // With S = X·Xᵀ/n: ‖S‖² = ‖Xᵀ·X‖²/n², and Σ‖x·xᵀ − S‖² = Σ|x|⁴ − n·‖S‖².
  const Eigen::MatrixXd gram = group.centred.transpose() * group.centred / n;
  const double square = gram.squaredNorm(), trace = gram.trace();
  group.isotropic = trace / p;
  const double distance = square - trace * trace / p;  // of S and its mean variance
  const double fourth = group.centred.colwise().squaredNorm().array().square().sum();
  const double error = (fourth - n * square) / (n * n);
  group.shrinkage = distance > 0.0 ? std::clamp(error / distance, 0.0, 1.0) : 1.0;
  return group;
}

PseudoSpeakers::PseudoSpeakers(const SpeakerPool& pool, double nearest) : nearest_(nearest) {
  if (pool.voices.empty()) throw Error("a pool without voices");
  const auto size = static_cast<Eigen::Index>(pool.voices[0].embedding.size());
  pool_.resize(size, static_cast<Eigen::Index>(pool.voices.size()));
  std::map<Gender, std::vector<Eigen::Index>> of;
  for (std::size_t i = 0; i < pool.voices.size(); ++i) {
    const SpeakerVoice& voice = pool.voices[i];
    const auto column = static_cast<Eigen::Index>(i);
    if (static_cast<Eigen::Index>(voice.embedding.size()) != size) {
      throw Error(fmt::format("voice '{}': an embedding of {}, others have {}", voice.name,
                              voice.embedding.size(), size));
    }
    for (Eigen::Index k = 0; k < size; ++k) {
      pool_(k, column) = voice.embedding[static_cast<std::size_t>(k)];
    }
    const double length = pool_.col(column).norm();
    if (!(length > 0.0) || !std::isfinite(length) || !(voice.log_f0_mean > 0.0) ||
        !(voice.log_f0_deviation >= 0.0)) {
      throw Error(fmt::format("voice '{}' has no direction or no pitch", voice.name));
    }
    pool_.col(column) /= length;
    of[voice.gender].push_back(column);
  }
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    const std::vector<Eigen::Index>& columns = of[gender];
    if (columns.size() < kFewestVoices) {
      throw Error(fmt::format("{} voices of gender {} in the pool, at least {} are needed",
                              columns.size(), Name(gender), kFewestVoices));
    }
    Eigen::MatrixXd embeddings(size, static_cast<Eigen::Index>(columns.size()));
    Eigen::MatrixXd pitch(2, static_cast<Eigen::Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      const SpeakerVoice& voice = pool.voices[static_cast<std::size_t>(columns[i])];
      embeddings.col(k) = pool_.col(columns[i]);
      pitch.col(k) << voice.log_f0_mean, voice.log_f0_deviation;
    }
    groups_[gender] = Fit(embeddings, pitch);
  }
}

SpeakerVoice PseudoSpeakers::Draw(const TargetDraws& draws, Gender gender,
                                  const std::string& speaker, const std::string& utterance) const {
  const auto found = groups_.find(gender);
  if (found == groups_.end()) throw Error("a generated voice is female or male");
  const Group& group = found->second;
  const double n = static_cast<double>(group.centred.cols());
  for (int attempt = 0; attempt < kMostDraws; ++attempt) {
    const std::string name = fmt::format("generated {} {}", Name(gender), attempt);
    const Eigen::VectorXd g =
        Normals(draws, name + " pool", group.centred.cols(), speaker, utterance) / std::sqrt(n);
    const Eigen::VectorXd h = Normals(draws, name + " own", group.mean.size(), speaker, utterance);
    Eigen::VectorXd x = group.mean + std::sqrt(1.0 - group.shrinkage) * (group.centred * g) +
                        std::sqrt(group.shrinkage * group.isotropic) * h;
    x.normalize();
    if ((pool_.transpose() * x).maxCoeff() > nearest_) continue;
    const Eigen::VectorXd pitch = group.pitch_mean + group.pitch_centred * g;
    SpeakerVoice voice;
    voice.name = "generated";
    voice.gender = gender;
    voice.embedding.resize(static_cast<std::size_t>(x.size()));
    for (Eigen::Index k = 0; k < x.size(); ++k) {
      voice.embedding[static_cast<std::size_t>(k)] = static_cast<float>(x[k]);
    }
    voice.log_f0_mean = std::clamp(pitch[0], kMinLogF0, kMaxLogF0);
    voice.log_f0_deviation = std::clamp(pitch[1], kMinPitchDeviation, kMaxPitchDeviation);
    return voice;
  }
  throw Error(
      fmt::format("{} generated voices in a row are too near a voice of the pool (cosine "
                  "above {})",
                  kMostDraws, nearest_));
}

Gender TargetGenderFor(const TargetDraws& draws, TargetGender rule, Gender source,
                       const std::string& speaker, const std::string& utterance) {
  if (rule == TargetGender::kRandom) {
    return draws.Uniform("target gender", 0.0, 1.0, speaker, utterance) < 0.5 ? Gender::kFemale
                                                                              : Gender::kMale;
  }
  if (source == Gender::kUnknown) {
    throw Error(
        fmt::format("target gender '{}': the gender of '{}' is not known", Name(rule), speaker));
  }
  return rule == TargetGender::kSame ? source : OtherThan(source);
}

}  // namespace sotto

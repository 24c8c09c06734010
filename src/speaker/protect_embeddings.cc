#include "speaker/protect_embeddings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "dp/allows.h"
#include "dp/parameters.h"
#include "speaker/embed_corpus.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

void EachIdIsASpeaker(EmbeddingSet& set) { set.speakers = set.ids; }

Key ChooseKey(const ProtectOptions& options) {
  if (options.experiment_seed) return Key::FromExperimentSeed(*options.experiment_seed);
  return options.key_file.empty() ? Key::FromSystem() : Key::FromFile(options.key_file);
}

std::string Randomness(const ProtectOptions& options) {
  if (options.experiment_seed) return "seeded experiment: protects nobody";
  return options.key_file.empty() ? "fresh key from the operating system" : "key file";
}

ordered_json VoiceIndRecord(const VoiceIndRelease& release, const VoiceIndOptions& options) {
  const bool assignment = release.overlapping > 0;
  const double spent = release.budget.SequentialEpsilon(0.0);
  ordered_json json = {{"epsilon", options.eps},
                       {"exponent", 0.5 * options.eps},
                       {"distance", "angular, arccos(cos)/pi"},
                       {"per", options.per == ProtectPer::kSpeaker ? "speaker" : "utterance"},
                       {"candidates", release.check.candidates}};
  json["guarantee"] = {
      {"definition", "Pr(y|x)/Pr(y|x') <= exp(epsilon * d(x, x'))"},
      {"protects", assignment
                       ? "the assignment alone: the candidates are protected speakers, whose "
                         "voiceprints the release shows"
                       : "the voiceprint of each speaker"},
      {"candidates_among_protected", release.overlapping},
      {"draws_per_speaker_at_most", release.draws_most},
      {"epsilon_per_speaker", spent},
      {"covers",
       "the choice of voiceprint alone; ids, labels and anything else released are not "
       "covered"}};
  json["verified"] = {{"holds", release.check.holds},
                      {"inputs", release.check.inputs},
                      {"outputs", release.check.candidates},
                      {"largest_ratio_to_bound", release.check.largest_ratio},
                      {"largest_excess", release.check.largest_excess},
                      {"note",
                       "ratio, excess and expected distance are computed from the protected "
                       "voiceprints and not themselves protected"}};
  json["expected_distance"] = release.expected_distance;
  json["allows"] = {{"eer_floor", EerFloor(spent, 0.0)}, {"auc_ceiling", AucCeiling(spent, 0.0)}};
  return json;
}

ordered_json PoolRecord(const PoolRelease& release, const PoolOptions& options, bool plda) {
  return {{"region", Name(options.region)},
          {"gender", Name(options.gender)},
          {"distance", plda ? "plda" : "cosine"},
          {"per", options.per == ProtectPer::kSpeaker ? "speaker" : "utterance"},
          {"candidates_at_least", release.candidates_least},
          {"N", release.n},
          {"N_star", release.n_star},
          {"depends_on_source", release.depends_on_source},
          {"guarantee", "none that is formal: measure it with an attacker"}};
}

void RefuseOutput(const fs::path& out) {
  if (fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out))) {
    throw Error(fmt::format("'{}' is not empty: choose a new folder for the output", out.string()));
  }
}

}  // namespace

EmbeddingSet ReadSource(const fs::path& path) {
  EmbeddingSet set = ReadEmbeddings(path);
  if (!set.HasSpeakers()) EachIdIsASpeaker(set);
  if (set.size() == 0) throw Error(fmt::format("'{}': no embeddings", path.string()));
  return set;
}

EmbeddingSet ReadPoolEmbeddings(const fs::path& path) {
  fs::path file = path;
  if (fs::is_directory(path) && fs::exists(path / "spk_xvector.ark")) file /= "spk_xvector.ark";
  EmbeddingSet set = ReadEmbeddings(file);
  if (!set.HasSpeakers()) {
    EachIdIsASpeaker(set);
    const fs::path genders = file.parent_path() / "spk2gender";
    if (fs::exists(genders)) AddGenders(set, ReadTextFile(genders), genders.string());
  }
  if (set.size() == 0) throw Error(fmt::format("'{}': no embeddings", path.string()));
  return set;
}

ProtectReport ProtectEmbeddings(const ProtectOptions& options, const std::string& version) {
  RefuseOutput(options.out);
  const EmbeddingSet source = ReadSource(options.in);
  const bool own_pool = options.pool.empty();
  if (own_pool &&
      !(options.method == ProtectMethod::kVoiceInd && options.voice_ind.assignment_only)) {
    throw Error("no pool: give public voices to draw from");
  }
  if (!own_pool && fs::is_directory(options.in) && fs::is_directory(options.pool)) {
    RequireSameEncoder(options.in, options.pool);
  }
  const EmbeddingSet pool = own_pool ? source : ReadPoolEmbeddings(options.pool);
  const Key key = ChooseKey(options);
  ProtectReport report;
  report.utterances = source.size();
  report.speakers = source.BySpeaker().size();
  report.candidates = pool.BySpeaker().size();
  ordered_json record = {{"sotto", version}, {"verb", "protect-embedding"}};
  EmbeddingSet released;
  if (options.method == ProtectMethod::kVoiceInd) {
    VoiceIndRelease release = ReleaseVoiceInd(source, pool, options.voice_ind, key);
    record["method"] = "voice-ind";
    record["voice_ind"] = VoiceIndRecord(release, options.voice_ind);
    const double spent = release.budget.SequentialEpsilon(0.0);
    const std::string warning = EpsilonWarning(spent);
    if (!warning.empty()) report.notes.push_back(warning);
    if (release.draws_most > 1) {
      report.notes.push_back(fmt::format(
          "{} draws for one speaker at epsilon {:g} each: epsilon {:g} for that speaker",
          release.draws_most, options.voice_ind.eps, spent));
    }
    if (release.overlapping > 0) {
      report.notes.emplace_back(
          "candidates are protected speakers: only the assignment is protected, the voiceprints "
          "themselves are shown");
    }
    released = std::move(release.set);
  } else {
    std::optional<PldaBackend> plda;
    if (!options.plda.empty()) plda = ReadPldaBackend(options.plda);
    PoolRelease release =
        ReleasePool(source, pool, options.pool_options, key, plda ? &*plda : nullptr);
    record["method"] = "pool";
    record["pool"] = PoolRecord(release, options.pool_options, plda.has_value());
    if (options.pool_options.region == PoolRegion::kFarthest ||
        options.pool_options.region == PoolRegion::kNearest) {
      report.notes.push_back(
          fmt::format("region {} depends on the source and gives it away: for reproducing B1, not "
                      "for protection",
                      Name(options.pool_options.region)));
    }
    released = std::move(release.set);
  }
  record["randomness"] = Randomness(options);
  const std::string& context = options.method == ProtectMethod::kVoiceInd
                                   ? options.voice_ind.context
                                   : options.pool_options.context;
  record["context_given"] = !context.empty();
  record["ids"] = "kept";
  record["counts"] = {{"utterances", report.utterances},
                      {"speakers", report.speakers},
                      {"pool_voices", report.candidates}};
  record["complete"] = true;
  if (options.experiment_seed) {
    report.notes.emplace_back("drawn from a public number: an experiment, it protects nobody");
  }
  report.record = record.dump(2) + "\n";
  MakeFolder(options.out);
  WriteEmbeddings(released, options.out, options.files);
  // Whoever scores the release must know which encoder's space it lies in.
  if (fs::is_directory(options.in) && fs::exists(options.in / "encoder.json")) {
    WriteFileAtomically(options.out / "encoder.json", ReadTextFile(options.in / "encoder.json"));
  }
  WriteFileAtomically(options.out / "sotto-run.json", report.record);
  return report;
}

std::vector<CurvePoint> VoiceIndCurve(const EmbeddingSet& source, const EmbeddingSet& pool,
                                      const CurveOptions& options, const Key& key) {
  const SpeakerModels voices = MakeModels(pool, ModelOf::kSpeaker, Averaging::kPlain);
  const SpeakerModels inputs = MakeModels(source, ModelOf::kSpeaker, Averaging::kPlain);
  if (inputs.ids.size() < 2) throw Error("curves need two speakers or more");
  if (options.repeats == 0) throw Error("curves need one repeat or more");
  std::optional<PldaBackend> plda;
  if (!options.plda.empty()) plda = ReadPldaBackend(options.plda);
  const Eigen::MatrixXd distances = AngularDistances(inputs.vectors, voices.vectors);
  const Eigen::MatrixXd between = AngularDistances(inputs.vectors, inputs.vectors);
  // Scores of every original voiceprint with every pool voice; a release picks columns of it.
  const Eigen::MatrixXf scores =
      plda ? plda->Scores(inputs, voices.vectors) : CosineScores(inputs.vectors, voices.vectors);
  const auto speakers = static_cast<Eigen::Index>(inputs.ids.size());
  std::vector<CurvePoint> curve;
  for (const std::size_t n : options.n) {
    if (n == 0 || n > voices.ids.size()) {
      throw Error(fmt::format("curve: n = {} of {} pool voices", n, voices.ids.size()));
    }
    KeyedBits choice(key, {"sotto voice-ind curve 1", std::to_string(n)});
    std::vector<Eigen::Index> places(voices.ids.size());
    std::iota(places.begin(), places.end(), Eigen::Index{0});
    for (std::size_t i = 0; i < n; ++i) {
      std::swap(places[i], places[i + choice.Below(places.size() - i)]);
    }
    places.resize(n);
    Eigen::MatrixXd d(speakers, static_cast<Eigen::Index>(n));
    for (std::size_t j = 0; j < n; ++j) {
      d.col(static_cast<Eigen::Index>(j)) = distances.col(places[j]);
    }
    for (const double eps : options.eps) {
      const VoiceIndMechanism mechanism(eps);
      CurvePoint point{n, eps, 0.0, 0.0, 0.0, {}, {}};
      point.largest_ratio = CheckVoiceInd(mechanism, between, d, options.jobs).largest_ratio;
      KeyedBits bits(
          key, {"sotto voice-ind curve draws 1", std::to_string(n), fmt::format("{:a}", eps)});
      for (Eigen::Index i = 0; i < speakers; ++i) {
        const Eigen::VectorXd row = d.row(i).transpose();
        const std::span<const double> own(row.data(), n);
        point.expected_distance += mechanism.ExpectedDistance(own) / static_cast<double>(speakers);
        for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
          Budget budget;
          const Eigen::Index voice = places[mechanism.Release(own, budget, bits)];
          point.mse +=
              (inputs.vectors.col(i) - voices.vectors.col(voice)).cast<double>().squaredNorm() /
              static_cast<double>(inputs.vectors.rows()) / static_cast<double>(speakers) /
              static_cast<double>(options.repeats);
          for (Eigen::Index other = 0; other < speakers; ++other) {
            (other == i ? point.tar : point.non).push_back(scores(other, voice));
          }
        }
      }
      curve.push_back(std::move(point));
    }
  }
  return curve;
}

}  // namespace sotto

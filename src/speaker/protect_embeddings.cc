#include "speaker/protect_embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "dp/parameters.h"
#include "speaker/embed_corpus.h"
#include "speaker/protect_record.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

void EachIdIsASpeaker(EmbeddingSet& set) { set.speakers = set.ids; }

void RefuseOutput(const fs::path& out) {
  if (fs::exists(out) && (!fs::is_directory(out) || !fs::is_empty(out))) {
    throw Error(fmt::format("'{}' is not empty: choose a new folder for the output", out.string()));
  }
}

// The private report must not come to lie in the release, nor replace anything.
void RefusePrivateReport(const fs::path& file, const fs::path& out) {
  if (file.empty()) return;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file));
  const fs::path folder =
      fs::weakly_canonical(fs::absolute(out) / "x").parent_path();  // no slash at its end
  if (std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first ==
      folder.end()) {
    throw Error(fmt::format("'{}' lies in the release '{}': the private report is not part of it",
                            file.string(), out.string()));
  }
  if (fs::exists(fs::symlink_status(file))) {
    throw Error(
        fmt::format("'{}' exists: choose another file for the private report", file.string()));
  }
}

// Whoever scores the release must know which space it lies in, and no more of the input.
std::string SpaceText(const EncoderRecord& space, Eigen::Index dimension) {
  const nlohmann::ordered_json json = {
      {"encoder", space.encoder}, {"fingerprint", space.fingerprint}, {"dimension", dimension}};
  return DumpJson(json, 2) + "\n";
}

// What was read, whoever protects it.
struct Input {
  const fs::path& path;
  const EmbeddingSet& source;
  const std::optional<EncoderRecord>& encoder;  // of the source; none: its files do not say
  const Key& key;
};

// What was drawn, what may be told of it, and what may not.
struct Drawn {
  EmbeddingSet set;
  std::optional<EncoderRecord> space;  // that it lies in
  ProtectReport report;                // all but the record and the counts of the source
};

void NoteSpending(std::size_t draws, double eps, double spent, std::vector<std::string>& notes) {
  if (const std::string warning = EpsilonWarning(spent); !warning.empty()) notes.push_back(warning);
  if (draws > 1) {
    notes.push_back(
        fmt::format("{} draws for one speaker at epsilon {:g} each: epsilon {:g} for that speaker",
                    draws, eps, spent));
  }
}

EmbeddingSet ReadPoolFor(const Input& input, const fs::path& pool) {
  if (pool.empty()) throw Error("no pool: give public voices to draw from");
  if (fs::is_directory(input.path) && fs::is_directory(pool)) RequireSameEncoder(input.path, pool);
  return ReadPoolEmbeddings(pool);
}

Drawn Draw(const Input& input, const VoiceIndProtection& by, ProtectCounts& counts) {
  const VoiceIndOptions& options = by.options;
  const bool own_pool = by.pool.empty() && options.assignment_only;
  const EmbeddingSet pool = own_pool ? input.source : ReadPoolFor(input, by.pool);
  CountPool(pool, counts);
  VoiceIndRelease release = ReleaseVoiceInd(input.source, pool, options, input.key);
  Drawn drawn{std::move(release.set), input.encoder, {}};
  NoteSpending(release.draws_most, options.eps, release.budget.SequentialEpsilon(0.0),
               drawn.report.notes);
  if (!input.source.genders.empty()) {
    drawn.report.notes.emplace_back("spk2gender is copied from the input: outside epsilon");
  }
  drawn.report.measured = release.measured;
  drawn.report.eps_per_speaker = EpsilonPerSpeaker(options, counts);
  return drawn;
}

Drawn Draw(const Input& input, const PoolProtection& by, ProtectCounts& counts) {
  const EmbeddingSet pool = ReadPoolFor(input, by.pool);
  CountPool(pool, counts);
  std::optional<PldaBackend> plda;
  if (!by.plda.empty()) plda = ReadPldaBackend(by.plda);
  PoolRelease release =
      ReleasePool(input.source, pool, by.options, input.key, plda ? &*plda : nullptr);
  Drawn drawn{std::move(release.set), input.encoder, {}};
  if (by.options.region->Rule() != PoolRule::kIndependent) {
    drawn.report.notes.push_back(
        fmt::format("region {} depends on the source and gives it away: for reproducing B1, not "
                    "for protection",
                    by.options.region->Name()));
  }
  drawn.report.measured = release.measured;
  return drawn;
}

Drawn Draw(const Input& input, const HiderProtection& by, ProtectCounts& /*counts*/) {
  Hiding hiding = HideInEmbeddings(input.source, input.encoder, by, input.key);
  Drawn drawn{std::move(hiding.set), std::move(hiding.space), {}};
  const HidingFacts& facts = hiding.facts;
  std::vector<std::string>& notes = drawn.report.notes;
  if (facts.eps) {
    NoteSpending(facts.draws, *facts.eps, facts.eps_speaker, notes);
  } else if (facts.noised > 0) {
    notes.emplace_back(
        "no --eps, so no noise (its epsilon is infinite): there is no guarantee, whatever noise "
        "the model was trained with");
  }
  if (drawn.set.genders.size() < input.source.genders.size()) {
    notes.emplace_back("spk2gender is left out: it tells what the release hides");
  } else if (!drawn.set.genders.empty()) {
    notes.emplace_back("spk2gender is copied from the input: nothing hides it");
  }
  drawn.report.hiding = facts;
  return drawn;
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
  RefusePrivateReport(options.private_report, options.out);
  if (!options.private_report.empty() && std::holds_alternative<HiderProtection>(options.by)) {
    throw Error("a defence measures nothing on the voiceprints: there is no private report");
  }
  const EmbeddingSet source = ReadSource(options.in);
  const auto encoder = fs::is_directory(options.in) ? ReadEncoderRecord(options.in) : std::nullopt;
  const Key key = ChooseKey(options.experiment_seed, options.key_file);
  ProtectCounts counts = CountProtect(source);
  Drawn drawn = std::visit(
      [&](const auto& by) {
        return Draw(Input{options.in, source, encoder, key}, by, counts);
      },
      options.by);
  ProtectReport& report = drawn.report;
  report.utterances = counts.utterances;
  report.speakers = counts.speakers;
  report.candidates = counts.pool_voices;
  report.record = ProtectRecord(options, counts, report.hiding, version);
  if (options.experiment_seed) {
    report.notes.emplace_back("drawn from a public number: an experiment, it protects nobody");
  }
  MakeFolder(options.out);
  if (!options.private_report.empty()) {
    WritePrivateFile(options.private_report, options.private_text(report));
  }
  EmbeddingFiles files = options.files;
  files.if_exists = IfExists::kRefuse;  // another run may have come meanwhile
  WriteEmbeddings(drawn.set, options.out, files);
  if (drawn.space) {
    WriteFileAtomically(options.out / "encoder.json",
                        SpaceText(*drawn.space, drawn.set.Dimension()));
  }
  WriteFileAtomically(options.out / "sotto-run.json", report.record);
  return std::move(report);
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

// `sotto protect-embedding`: a folder (or file) of embeddings in, a folder of protected ones out,
// with a run record; and the curves of voice-indistinguishability.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "speaker/embeddings.h"
#include "speaker/pool_pseudonyms.h"
#include "speaker/protect_hiding.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {

// Embeddings to be protected. A single file says nothing of speakers: each id is then a speaker.
EmbeddingSet ReadSource(const std::filesystem::path& path);

// A pool: a folder of embeddings as sotto embed writes it, or one vector per speaker (an .ark, .scp
// or .npy file, or a folder with spk_xvector.ark), with spk2gender beside it where there is one.
EmbeddingSet ReadPoolEmbeddings(const std::filesystem::path& path);

struct VoiceIndProtection {
  std::filesystem::path pool;  // may be left out with assignment_only
  VoiceIndOptions options;
};
struct PoolProtection {
  std::filesystem::path pool;
  PoolOptions options;
  std::filesystem::path plda;  // a folder of Kaldi's files; empty: cosine
};
// The method, and what it is asked for.
using Protection = std::variant<VoiceIndProtection, PoolProtection, HiderProtection>;

// Computed from the protected voiceprints: not to be released. Nothing, of a defence.
using ProtectMeasured = std::variant<std::monostate, VoiceIndMeasured, PoolMeasured>;

struct ProtectReport {
  std::string record;  // the run record, JSON, as written to OUT/sotto-run.json
  std::vector<std::string> notes;
  ProtectMeasured measured;
  std::size_t utterances = 0, speakers = 0, candidates = 0;
  std::optional<double> eps_per_speaker = {};  // of voice-ind
  std::optional<HidingFacts> hiding = {};      // of a defence
};

struct ProtectOptions {
  std::filesystem::path in;
  std::filesystem::path out;  // a new folder
  Protection by;

  // Where the key comes from: the operating system unless one of these is given.
  std::filesystem::path key_file;
  std::optional<std::uint64_t> experiment_seed;
  EmbeddingFiles files;
  // What was measured, a new file of mode 0600 outside OUT; empty: none. And what stands in it.
  std::filesystem::path private_report;
  std::function<std::string(const ProtectReport&)> private_text;
};

// Throws Error when OUT exists and is not empty, when the private report exists or lies in OUT,
// when source and pool or model name different encoders, and whatever the method refuses (a bound
// that fails its check, too); nothing is written then.
ProtectReport ProtectEmbeddings(const ProtectOptions& options, const std::string& version);

// One point of the curves: n candidates drawn from the pool, one draw for each speaker and repeat.
// The attacker compares the original voiceprint of everybody with every released one.
struct CurvePoint {
  std::size_t n = 0;
  double eps = 0.0;
  double expected_distance = 0.0;  // E d(x, x̃), exact for the candidates drawn
  double mse = 0.0;                // mean squared difference per coordinate, of the draws
  double largest_ratio = 0.0;      // of the bound; at most 1
  std::vector<double> tar, non;    // scores of the attacker
};
struct CurveOptions {
  std::vector<double> eps;
  std::vector<std::size_t> n;
  std::size_t repeats = 10;
  std::filesystem::path plda;  // scores by PLDA; empty: cosine
  int jobs = 1;
};
// Every n with every eps. `key` draws candidates and voiceprints.
std::vector<CurvePoint> VoiceIndCurve(const EmbeddingSet& source, const EmbeddingSet& pool,
                                      const CurveOptions& options, const Key& key);

}  // namespace sotto

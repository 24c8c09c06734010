#include "report/evidence.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "report/json_values.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Key MakeKey(const fs::path& file) {
  if (file.empty()) return Key::FromSystem();
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    const Key key = Key::FromSystem();
    key.WriteFile(file);
    return key;
  }
  if ((info.st_mode & 077U) != 0) {
    throw Error(fmt::format("'{}': mode {:o}, others may read this key; mode 600 is needed",
                            file.string(), info.st_mode & 0777U));
  }
  return Key::FromFile(file);
}

// Sorted by fingerprint, so that the order of the originals is not told.
Json Sorted(Json list, const char* by) {
  std::sort(list.begin(), list.end(), [by](const Json& a, const Json& b) {
    return a.at(by).get<std::string>() < b.at(by).get<std::string>();
  });
  return list;
}

Json Originals(const Evaluation& evaluation, const EvidenceKey& key, const fs::path& original) {
  const Corpus corpus = OpenCorpus(original);
  const Json files = JsonList(corpus.recordings, [&](const Recording& recording) {
    return JsonFields()("id", key.RecordingId(recording.id))("keyed_blake2b",
                                                             key.Fingerprint(recording.path));
  });
  JsonFields f;
  f("recordings", evaluation.recordings)("utterances", evaluation.utterances);
  f("speakers", evaluation.speakers);
  f("fingerprints", "BLAKE2b-256 of each file under a secret key");
  f("key", key.IsKept() ? "kept by whoever ran this (--evidence-key-out); who has it can tell "
                          "whether a recording was among the originals"
                        : "drawn for this run and thrown away: ids and fingerprints of originals "
                          "cannot be checked by anybody, and differ in every run");
  return f("files", Sorted(files, "keyed_blake2b")).json();
}

Json Protections(const Evaluation& evaluation, const EvidenceKey& key, bool names) {
  return JsonList(evaluation.cells, [&](const EvaluatedCell& cell) {
    Json one = CellJson(cell, key.Naming(names), Unprotected(evaluation));
    // The method's text may name a file of this machine (a pool): its parameters say enough.
    one["method"] = cell.record.voice.MethodName();
    const Json files = JsonList(cell.protection.files, [&](const ProtectionResult::File& file) {
      return JsonFields()("id", key.RecordingId(file.id))("sha256", file.sha256);
    });
    JsonFields made;
    made("recordings", cell.protection.recordings)("utterances", cell.protection.utterances);
    made("complete", true);  // otherwise there is no evaluation
    made("ids", cell.record.new_ids ? "replaced" : "kept")("files", Sorted(files, "sha256"));
    one["protected"] = made.json();
    one["key_use"] =
        evaluation.seed
            ? fmt::format(
                  "seeded experiment (seed {}): the draws are public, these copies protect "
                  "nobody and must not be released",
                  *evaluation.seed)
            : "fresh key from the operating system; kept in the working folder for the informed "
              "attacker, to be deleted with it";
    return one;
  });
}

}  // namespace

EvidenceKey::EvidenceKey(const fs::path& file) : key_(MakeKey(file)), kept_(!file.empty()) {}

std::string EvidenceKey::SpeakerId(const std::string& speaker) const {
  return "speaker-" + key_.Name({"sotto evidence 1", "speaker", speaker}, 16);
}

SpeakerNaming EvidenceKey::Naming(bool names) const {
  return [this, names](const std::string& speaker) { return names ? speaker : SpeakerId(speaker); };
}

std::string EvidenceKey::RecordingId(const std::string& recording) const {
  return "recording-" + key_.Name({"sotto evidence 1", "recording", recording}, 16);
}

std::string EvidenceKey::Fingerprint(const fs::path& original) const {
  return key_.Name({"sotto evidence 1", "content", ReadTextFile(original, kLargestFile)}, 64);
}

std::string EvidenceJson(const Evaluation& evaluation, const EvidenceKey& key,
                         const fs::path& original, bool names) {
  JsonFields f;
  f("schema", "sotto-evidence-1")("sotto", evaluation.version);
  f("purpose",
    "Measured evidence for a data-protection impact assessment (GDPR, Art. 35). It says what the "
    "attackers named here reached on the files named here, and nothing about other attackers or "
    "files.");
  f("measured", kMeasured)("originals", Originals(evaluation, key, original));
  f("speakers_named", names);
  JsonFields attacker = f("attacker_model")("ladder", evaluation.quick ? "quick" : "full");
  attacker("encoder")("name", evaluation.encoder)("fingerprint", evaluation.encoder_fingerprint);
  attacker("background_speech", evaluation.background);
  attacker("intervals", fmt::format("{:g} % bootstrap by speaker, {} resamples",
                                    100.0 * evaluation.level, evaluation.resamples));
  attacker("eer",
           "share of wrong answers to 'is it the same person?' where both kinds of error are "
           "equally frequent; 0.5 is chance, lower is worse for privacy");
  f("unprotected", ReferenceJson(evaluation));
  f("protections", Protections(evaluation, key, names));
  f("residual_risk", JsonList(evaluation.cells, [&](const EvaluatedCell& cell) {
      const std::string risk = ResidualRisk(cell.attack.ladder, Unprotected(evaluation));
      return JsonFields()("cell", cell.id)("text", risk);
    }));
  f("not_covered", Json{"what is said: names, places and other words in the speech",
                        "speaking style, rhythm, accent, language, background noise and room",
                        "ids, file names, lengths and other metadata, which these copies keep",
                        "attackers that were not run, stronger ones, and later ones"});
  return f.Text();
}

}  // namespace sotto

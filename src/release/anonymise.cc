#include "release/anonymise.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "release/corpus_run.h"
#include "release/run_parts.h"
#include "release/run_record.h"
#include "voice/method_table.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Whether the file is a record of `output`.
bool IsRecordOf(const fs::path& file, const fs::path& output) {
  const auto record =
      nlohmann::json::parse(ReadTextFile(file), nullptr, /*allow_exceptions=*/false);
  return record.is_object() && record.contains("output") &&
         record["output"] == output.filename().string();
}

// Where the record of a single file goes: sotto-run.json beside it, unless a record of another
// output is there. Throws Error where something else has the second name.
fs::path RecordPath(const fs::path& out, IfExists if_exists) {
  fs::path plain = out.parent_path() / "sotto-run.json";
  if (!fs::exists(plain) || IsRecordOf(plain, out)) return plain;
  fs::path own = out.parent_path() / (out.filename().string() + ".sotto-run.json");
  if (!fs::exists(own) || !IsRecordOf(own, out)) RefuseExisting(own, if_exists);
  return own;
}

AnonymiseReport AnonymiseFile(const AnonymiseOptions& options, const std::string& version) {
  if (options.new_ids || !options.map_out.empty()) {
    throw Error("--new-ids and --map-out are for corpora: name the output file as you like");
  }
  const auto start = Clock::now();
  AnonymiseReport report;
  report.recordings = report.utterances = report.speakers = 1;
  report.notes = PrivacyNotes(options);
  std::optional<Container> container = options.container;
  fs::path stem = options.out;
  if (fs::is_directory(options.out)) {
    stem /= options.in.stem();
  } else {
    if (!options.out.has_filename()) {
      throw Error(fmt::format("there is no folder '{}'", options.out.string()));
    }
    const std::string extension = options.out.extension().string();
    if (extension == ".wav") container = Container::kWav;
    if (extension == ".flac") container = Container::kFlac;
    if (extension != ".wav" && extension != ".flac") {
      throw Error(
          fmt::format("output '{}': the name must end in .wav or .flac", options.out.string()));
    }
    if (options.container && container != options.container) {
      throw Error(fmt::format("output '{}' and --format disagree", options.out.string()));
    }
    stem.replace_extension();
    if (stem.has_parent_path() && !fs::is_directory(stem.parent_path())) {
      throw Error(fmt::format("there is no folder '{}'", stem.parent_path().string()));
    }
  }
  const Key key = ChooseKey(options.experiment_seed, options.key_file);
  auto method = MakeMethod(options, key);
  const std::string id = options.in.stem().string();
  const Span whole{id, id, 0.0, -1.0, {}};
  const SoundFormat format = SoundReader(options.in).Format();
  const fs::path path =
      stem.string() + Extension(container.value_or(OutputFormat(format).container));
  const fs::path record_path = RecordPath(path, options.Outputs());
  RequireDistinct({path, options.key_out, record_path}, options.in);
  RefuseExisting(path, options.Outputs());
  RefuseExisting(options.key_out, options.Outputs());
  FitToCorpus(method, SingleFileCorpus(options.in), {}, options, report);
  const ProtectedFile made = ProtectFile(options.in, stem, {.if_exists = options.Outputs()},
                                         container, {&whole, 1}, *method, options);
  made.file->Sync();
  if (!options.key_out.empty()) key.WriteFile(options.key_out, options.Outputs());
  made.file->Commit();
  report.done = 1;
  report.complete = true;
  report.audio_seconds = made.audio_seconds;
  auto record = nlohmann::ordered_json::parse(RunRecord(options, report, version));
  record["output"] = path.filename().string();
  WriteFileAtomically(record_path, DumpJson(record, 2) + "\n");
  report.wall_seconds = SecondsSince(start);
  return report;
}

bool IsInside(const fs::path& inner, const fs::path& outer) {
  const fs::path relative =
      fs::weakly_canonical(inner).lexically_relative(fs::weakly_canonical(outer));
  return !relative.empty() && *relative.begin() != "..";
}

// With --force: nothing that goes in may be replaced.
void RefuseSecretsOverOriginals(const AnonymiseOptions& options, const Corpus& corpus) {
  for (const fs::path& secret : {options.key_out, options.map_out}) {
    if (secret.empty() || !fs::exists(secret)) continue;
    bool original = IsInside(secret, corpus.root);
    for (const Recording& recording : corpus.recordings) {
      original = original || SameFile(secret, recording.path);
    }
    if (original) {
      throw Error(fmt::format("'{}' is one of the originals, or lies among them", secret.string()));
    }
  }
}

}  // namespace

Strategy AnonymiseOptions::TargetStrategy() const {
  return strategy.value_or(Method().DefaultStrategy());
}

void AnonymiseOptions::Validate() const {
  VoiceOptions::Validate();
  Method().CheckStrategy(*this, TargetStrategy());
  if (experiment_seed && !key_file.empty()) throw Error("--seed and --key exclude each other");
  if (experiment_seed && !key_out.empty()) throw Error("--seed and --key-out exclude each other");
  if (!key_file.empty() && !key_out.empty()) throw Error("--key and --key-out exclude each other");
  if (!map_out.empty() && !new_ids) throw Error("--map-out needs --new-ids");
  if (jobs < 1) throw Error(fmt::format("--jobs {}: at least 1", jobs));
  RequireDistinct({key_out, map_out});
}

std::string PlannedRecord(const AnonymiseOptions& options, const std::string& version) {
  options.Method().CheckStrategy(options, options.TargetStrategy());
  AnonymiseReport report;
  report.complete = true;
  return RunRecord(options, report, version);
}

AnonymiseReport Anonymise(const AnonymiseOptions& options, const std::string& version) {
  options.Validate();
  if (IsSingleFile(options.in)) return AnonymiseFile(options, version);
  for (const fs::path& secret : {options.key_out, options.map_out}) {
    if (!secret.empty() && IsInside(secret, options.out)) {
      throw Error(fmt::format("'{}' is a secret and must not lie in the output", secret.string()));
    }
  }
  // A run that is taken up again, or was stopped while it went away, may have written them itself.
  if (!fs::exists(options.out / kWorkFolderName)) {
    RefuseExisting(options.key_out, options.Outputs());
    RefuseExisting(options.map_out, options.Outputs());
  }
  Corpus corpus = OpenCorpus(options.in, {.allow_pipes = options.allow_pipes});
  // The next scan of a folder would take an output inside it for originals; nothing may be written
  // over the originals of any kind of corpus.
  const fs::path& root = corpus.root;
  if ((corpus.kind == CorpusKind::kFolder && IsInside(options.out, root)) ||
      IsInside(root, options.out)) {
    throw Error(fmt::format("input '{}' and output '{}' lie inside each other", options.in.string(),
                            options.out.string()));
  }
  RefuseSecretsOverOriginals(options, corpus);
  const auto start = Clock::now();
  AnonymiseReport report = CorpusRun(options, std::move(corpus)).Run(version);
  report.wall_seconds = SecondsSince(start);
  return report;
}

}  // namespace sotto

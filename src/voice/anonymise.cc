#include "voice/anonymise.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "voice/protect_recording.h"
#include "voice/run_record.h"
#include "voice/run_state.h"
#include "voice/vtln_files.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::unique_ptr<VoiceMethod> MakeMethod(const AnonymiseOptions& options, const Key& key) {
  return MakeVoiceMethod(options,
                         TargetDraws(key, options.strategy, options.method, options.context));
}

// Draws of a target for the speaker who gets most of them.
std::size_t MostDraws(const Corpus& corpus, Strategy strategy) {
  if (strategy != Strategy::kRandom) return 1;
  std::map<std::string, std::size_t> draws;
  std::size_t most = 0;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) most = std::max(most, ++draws[span.speaker]);
  }
  return most;
}

// Fits the method to the speakers of the corpus, where it needs that, and says so.
void FitToCorpus(VoiceMethod& method, const Corpus& corpus, const AnonymiseOptions& options,
                 AnonymiseReport& report) {
  if (!method.NeedsFit()) return;
  method.RefuseSpeakers(corpus.speakers);
  std::vector<std::string>& notes = report.notes;
  Voiceprints prints;
  if (method.FitEncoder() != nullptr) {
    prints = EmbedVoices(corpus, *method.FitEncoder(), options.jobs);
    report.target_draws = MostDraws(corpus, options.strategy);
    const std::vector<std::string> said = VoiceIndNotes(options, report);
    notes.insert(notes.end(), said.begin(), said.end());
    if (options.target_gender == TargetGender::kRandom) {  // nothing else to know
      ModelledVoices modelled;
      modelled.prints = std::move(prints);
      method.Fit(SourceVoices(std::move(modelled)));
      return;
    }
  }
  // The other methods want the pitch alone; clustering is the dearer part.
  ModelledVoices modelled = ModelVoices(
      corpus,
      {.f0_method = options.f0_method, .jobs = options.jobs, .classes = options.method == "vtln"});
  notes.push_back(
      fmt::format("no profile was given: {} of {} speaker{} fitted from the recordings "
                  "to be protected",
                  modelled.voices.size(), corpus.speakers.size(),
                  corpus.speakers.size() == 1 ? " was" : "s were"));
  std::size_t unknown = 0;
  for (const VoiceModel& voice : modelled.voices)
    unknown += voice.gender == Gender::kUnknown ? 1 : 0;
  if (options.target_gender != TargetGender::kRandom && unknown > 0) {
    notes.push_back(
        fmt::format("the corpus does not say the gender of {} speaker{}: guessed from "
                    "the pitch",
                    unknown, unknown == 1 ? "" : "s"));
  }
  modelled.prints = std::move(prints);
  method.Fit(SourceVoices(std::move(modelled)));
}

std::optional<Key> GivenKey(const AnonymiseOptions& options) {
  if (options.experiment_seed) return Key::FromExperimentSeed(*options.experiment_seed);
  if (!options.key_file.empty()) return Key::FromFile(options.key_file);
  return std::nullopt;
}

// Keeps the key for the user. A resumed run may find the file it wrote itself.
void WriteKeyOut(const AnonymiseOptions& options, const Key& key) {
  if (options.key_out.empty()) return;
  if (fs::exists(options.key_out) && Key::FromFile(options.key_out).Hex() == key.Hex()) return;
  key.WriteFile(options.key_out);
}

// Runs a wav.scp pipe and stores what it prints.
void FetchPipe(const std::string& command, const fs::path& path) {
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw Error(fmt::format("cannot start '{}': {}", command, SystemReason()));
  std::FILE* file = std::fopen(path.c_str(), "wbx");
  bool written = file != nullptr;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    written = written && std::fwrite(buffer.data(), 1, n, file) == n;
  }
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  const int status = ::pclose(pipe);
  if (status != 0) {
    throw Error(fmt::format("pipe '{}' failed with exit code {}", command,
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  }
  if (!written) throw Error(fmt::format("cannot store the output of pipe '{}'", command));
}

struct Protected {
  fs::path path;
  double audio_seconds = 0.0;
};

// Reads `in`, writes `stem` plus the extension of the output format, all or nothing. `work`: where
// the file is while it is incomplete; empty: beside its final place.
Protected ProtectFile(const fs::path& in, const fs::path& stem, const fs::path& work,
                      std::optional<Container> container, std::span<const Span> spans,
                      const VoiceMethod& method, const AnonymiseOptions& options) {
  SoundReader reader(in);
  const SoundFormat format =
      container ? OutputFormat(reader.Format(), *container) : OutputFormat(reader.Format());
  const fs::path path = stem.string() + Extension(format.container);
  MakeFolder(path.has_parent_path() ? path.parent_path() : ".");
  PendingFile pending(path, work);
  SoundWriter writer(pending.TemporaryPath(), format, options.mark ? MarkText(options) : "");
  const double limit = IsFloat(format.samples) ? std::numeric_limits<double>::infinity() : 1.0;
  const std::int64_t frames =
      ProtectRecording(reader, writer, limit, spans, method, options.strategy != Strategy::kRandom);
  writer.Close();
  pending.Commit();
  return {path, static_cast<double>(frames) / format.rate_hz};
}

Naming MakeNaming(const AnonymiseOptions& options, const Corpus& corpus, const Key& key) {
  Naming naming;
  if (!options.new_ids) return naming;
  const auto name = [key, context = options.context](const char* level, const std::string& id) {
    return key.Name({"sotto new id 1", level, id, context}, 16);
  };
  naming.sort_rows = true;
  naming.speaker = [name](const std::string& id) { return name("speaker", id); };
  // Kaldi sorts by utterance and by speaker alike: the speaker comes first in the utterance's id.
  naming.utterance = [name](const std::string& id, const std::string& speaker) {
    return name("speaker", speaker) + "-" + name("utterance", id);
  };
  naming.file = [name, utterance = naming.utterance, kind = corpus.kind,
                 segmented = corpus.has_segments](const Recording& recording) -> std::string {
    if (segmented) return "wav/" + name("recording", recording.id);
    const Span& span = recording.spans.front();
    const bool flat = recording.relative.find('/') == std::string::npos;
    if (kind == CorpusKind::kFolder && !flat) {
      return name("speaker", span.speaker) + "/" + name("utterance", span.utterance);
    }
    return (kind == CorpusKind::kFolder ? "" : "wav/") + utterance(span.utterance, span.speaker);
  };
  return naming;
}

std::string IdMap(const Corpus& corpus, const std::vector<std::string>& files,
                  const Naming& naming) {
  std::string text = "level\toriginal\tnew\n";
  for (const std::string& speaker : corpus.speakers) {
    text += fmt::format("speaker\t{}\t{}\n", speaker, naming.speaker(speaker));
  }
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    const Recording& recording = corpus.recordings[i];
    for (const Span& span : recording.spans) {
      text += fmt::format("utterance\t{}\t{}\n", span.utterance,
                          naming.utterance(span.utterance, span.speaker));
    }
    text += fmt::format("file\t{}\t{}\n", recording.id, files[i]);
  }
  return text;
}

class CorpusRun {
 public:
  CorpusRun(const AnonymiseOptions& options, Corpus corpus)
      : options_(options),
        corpus_(std::move(corpus)),
        state_(options.out, GivenKey(options),
               {"anonymise", options.Text(), Name(options.strategy), options.context,
                std::string(options.new_ids ? "new ids" : "ids kept") +
                    (options.mark ? ", marked" : ""),
                options.container ? Extension(*options.container) : "same",
                fs::absolute(options.in).lexically_normal().string()}),
        method_(MakeMethod(options, state_.RunKey())),
        naming_(MakeNaming(options, corpus_, state_.RunKey())) {
    WriteKeyOut(options, state_.RunKey());
  }

  AnonymiseReport Run(const std::string& version) {
    const auto start = Clock::now();
    report_.recordings = corpus_.recordings.size();
    report_.utterances = corpus_.utterances;
    report_.speakers = corpus_.speakers.size();
    AddNotes();
    PlanNames();
    FitToCorpus(*method_, corpus_, options_, report_);
    std::vector<double> bytes;
    double total_bytes = 0.0;
    for (const Recording& recording : corpus_.recordings) {
      std::error_code code;
      const auto size = recording.pipe.empty() ? fs::file_size(recording.path, code) : 0;
      bytes.push_back(code ? 0.0 : static_cast<double>(size));
      total_bytes += bytes.back();
    }
    // Large files first, so that no job is left alone with one at the end.
    std::vector<std::size_t> order(bytes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    files_.resize(order.size());
    {
      Progress progress("anonymise", order.size(), total_bytes);
      ParallelFor(order.size(), options_.jobs,
                  [&](std::size_t k) { progress.Done(bytes[order[k]], RunItem(order[k])); });
    }
    std::sort(report_.failures.begin(), report_.failures.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    report_.done = report_.recordings - report_.failures.size();
    if (report_.failures.empty() || options_.skip_failed) Finish(version);
    if (!report_.complete) WriteRecord(version);
    report_.wall_seconds = SecondsSince(start);
    return std::move(report_);
  }

 private:
  void AddNotes() {
    report_.notes = PrivacyNotes(options_);
    if (corpus_.kind == CorpusKind::kFolder && corpus_.speakers.size() == 1) {
      report_.notes.push_back(
          fmt::format("all recordings lie in one folder and count as one speaker, "
                      "'{}' (one folder for each speaker tells them apart)",
                      corpus_.speakers.front()));
    }
    if (!options_.new_ids) {
      report_.notes.emplace_back(
          "utterance ids and file names are kept, and they often carry the "
          "speaker: --new-ids replaces them by keyed ids");
    }
    if (!corpus_.left_out.empty()) {
      report_.notes.push_back(
          fmt::format("{} other files are not copied, since they may describe the "
                      "original voice ('{}'{})",
                      corpus_.left_out.size(), corpus_.left_out.front(),
                      corpus_.left_out.size() > 1 ? ", …" : ""));
    }
    if (state_.IsResumed()) report_.notes.emplace_back("an interrupted run is taken up again");
  }

  // All output names are known, inside OUT and distinct before the first file is written.
  void PlanNames() {
    std::set<std::string> seen;
    for (const Recording& recording : corpus_.recordings) {
      const std::string name = naming_.file(recording);
      JoinInside(options_.out, name);
      if (!seen.insert(name).second) {
        throw Error(fmt::format("two recordings would be written to '{}'", name));
      }
      stems_.push_back(name);
    }
  }

  // The complete output of an interrupted run, if it is there.
  std::optional<std::string> FindDone(const std::string& stem) const {
    for (const Container container : {Container::kWav, Container::kFlac}) {
      const std::string file = stem + Extension(container);
      if (!fs::exists(options_.out / file)) continue;
      try {
        const SoundReader reader(options_.out / file);
        return file;
      } catch (const Error&) {
        // Not whole (a machine that lost power): it is made again.
      }
    }
    return std::nullopt;
  }

  // Protects recording i; returns its seconds, 0 when it was done before or failed.
  double RunItem(std::size_t i) {
    const Recording& recording = corpus_.recordings[i];
    if (state_.IsResumed()) {
      if (auto file = FindDone(stems_[i])) {
        files_[i] = *std::move(file);
        const std::lock_guard lock(mutex_);
        ++report_.resumed;
        return 0.0;
      }
    }
    const fs::path fetched = state_.WorkFolder() / fmt::format("pipe-{}.part", i);
    try {
      if (!recording.pipe.empty()) FetchPipe(recording.pipe, fetched);
      const Protected made =
          ProtectFile(recording.pipe.empty() ? recording.path : fetched, options_.out / stems_[i],
                      state_.WorkFolder(), options_.container, recording.spans, *method_, options_);
      fs::remove(fetched);
      files_[i] = stems_[i] + made.path.extension().string();
      const std::lock_guard lock(mutex_);
      report_.audio_seconds += made.audio_seconds;
      return made.audio_seconds;
    } catch (const std::exception& error) {
      std::error_code ignored;
      fs::remove(fetched, ignored);
      const std::lock_guard lock(mutex_);
      report_.failures.push_back({recording.id, error.what()});
      failed_.insert(i);
      return 0.0;
    }
  }

  void WriteRecord(const std::string& version) const {
    WriteFileAtomically(options_.out / "sotto-run.json", RunRecord(options_, report_, version));
  }

  void Finish(const std::string& version) {
    Corpus released = corpus_;
    std::vector<std::string> files;
    released.recordings.clear();
    released.rows.clear();
    for (std::size_t i = 0; i < corpus_.recordings.size(); ++i) {
      if (failed_.contains(i)) continue;
      released.recordings.push_back(corpus_.recordings[i]);
      if (!corpus_.rows.empty()) released.rows.push_back(corpus_.rows[i]);
      files.push_back(files_[i]);
    }
    WriteCorpusTables(released, options_.out, files, naming_);
    if (!options_.map_out.empty()) {
      WritePrivateFile(options_.map_out, IdMap(released, files, naming_));
    }
    report_.complete = true;
    WriteRecord(version);
    state_.Complete();
  }

  const AnonymiseOptions& options_;
  const Corpus corpus_;
  RunState state_;
  const std::unique_ptr<VoiceMethod> method_;
  const Naming naming_;
  AnonymiseReport report_;
  std::vector<std::string> stems_, files_;  // below OUT, without and with extension
  std::set<std::size_t> failed_;
  std::mutex mutex_;
};

// Where the record of a single file goes: sotto-run.json beside it, unless a record of another
// output is there.
fs::path RecordPath(const fs::path& out) {
  fs::path plain = out.parent_path() / "sotto-run.json";
  if (!fs::exists(plain)) return plain;
  const auto record =
      nlohmann::json::parse(ReadTextFile(plain), nullptr, /*allow_exceptions=*/false);
  if (record.is_object() && record.value("output", "") == out.filename().string()) return plain;
  return out.parent_path() / (out.filename().string() + ".sotto-run.json");
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
  const Key key = GivenKey(options).value_or(Key::FromSystem());
  const auto method = MakeMethod(options, key);
  const std::string id = options.in.stem().string();
  const Span whole{id, id, 0.0, -1.0, {}};
  {
    // In and out may be one file under two names.
    const SoundFormat format = SoundReader(options.in).Format();
    const Container target = container.value_or(OutputFormat(format).container);
    const fs::path path = stem.string() + Extension(target);
    std::error_code code;
    if (fs::equivalent(options.in, path, code)) {
      throw Error(fmt::format("'{}' is input and output at once", path.string()));
    }
  }
  FitToCorpus(*method, SingleFileCorpus(options.in), options, report);
  WriteKeyOut(options, key);
  const Protected made =
      ProtectFile(options.in, stem, {}, container, {&whole, 1}, *method, options);
  report.done = 1;
  report.complete = true;
  report.audio_seconds = made.audio_seconds;
  auto record = nlohmann::ordered_json::parse(RunRecord(options, report, version));
  record["output"] = made.path.filename().string();
  WriteFileAtomically(RecordPath(made.path), record.dump(2) + "\n");
  report.wall_seconds = SecondsSince(start);
  return report;
}

bool IsInside(const fs::path& inner, const fs::path& outer) {
  const fs::path relative =
      fs::weakly_canonical(inner).lexically_relative(fs::weakly_canonical(outer));
  return !relative.empty() && *relative.begin() != "..";
}

void RefuseConstVoiceInd(const AnonymiseOptions& options) {
  if (options.IsNeural() && options.neural.target == NeuralTarget::kVoiceInd &&
      options.strategy == Strategy::kConst) {
    throw Error("--target voice-ind: strategy const has no source to choose by (perm or random)");
  }
}

}  // namespace

void AnonymiseOptions::Validate() const {
  VoiceOptions::Validate();
  RefuseConstVoiceInd(*this);
  if (experiment_seed && !key_file.empty()) throw Error("--seed and --key exclude each other");
  if (experiment_seed && !key_out.empty()) throw Error("--seed and --key-out exclude each other");
  if (!key_file.empty() && !key_out.empty()) throw Error("--key and --key-out exclude each other");
  if (!map_out.empty() && !new_ids) throw Error("--map-out needs --new-ids");
  if (jobs < 1) throw Error(fmt::format("--jobs {}: at least 1", jobs));
}

std::string PlannedRecord(const AnonymiseOptions& options, const std::string& version) {
  RefuseConstVoiceInd(options);
  AnonymiseReport report;
  report.complete = true;
  return RunRecord(options, report, version);
}

AnonymiseReport Anonymise(const AnonymiseOptions& options, const std::string& version) {
  options.Validate();
  if (!fs::exists(options.in)) {
    throw Error(fmt::format("'{}' does not exist", options.in.string()));
  }
  if (!fs::is_directory(options.in) && options.in.extension() != ".tsv") {
    return AnonymiseFile(options, version);
  }
  for (const fs::path& secret : {options.key_out, options.map_out}) {
    if (!secret.empty() && IsInside(secret, options.out)) {
      throw Error(fmt::format("'{}' is a secret and must not lie in the output", secret.string()));
    }
  }
  if (!options.map_out.empty() && fs::exists(options.map_out)) {
    throw Error(fmt::format("'{}' exists", options.map_out.string()));
  }
  CorpusScan scan = ScanCorpus(options.in, {.allow_pipes = options.allow_pipes});
  // The next scan of a folder would take an output inside it for originals; nothing may be written
  // over the originals of any kind of corpus.
  const fs::path& root = scan.corpus.root;
  if ((scan.corpus.kind == CorpusKind::kFolder && IsInside(options.out, root)) ||
      IsInside(root, options.out)) {
    throw Error(fmt::format("input '{}' and output '{}' lie inside each other", options.in.string(),
                            options.out.string()));
  }
  RefuseBadCorpus(scan.problems, options.in);
  return CorpusRun(options, std::move(scan.corpus)).Run(version);
}

}  // namespace sotto

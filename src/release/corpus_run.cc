#include "release/corpus_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "release/run_parts.h"
#include "release/run_record.h"
#include "voice/method_table.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

Naming MakeNaming(const AnonymiseOptions& options, const Corpus& corpus, const Key& key) {
  Naming naming;
  naming.absolute_paths = options.absolute_paths;
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

// However it is written: "corpus" and "corpus/" are one.
std::string AbsoluteInput(const fs::path& in) {
  const fs::path normal = fs::absolute(in).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

const char* Plural(std::size_t n) { return n == 1 ? "" : "s"; }

}  // namespace

CorpusRun::CorpusRun(const AnonymiseOptions& options, Corpus corpus)
    : options_(options),
      corpus_(std::move(corpus)),
      state_(
          options.out, GivenKey(options.experiment_seed, options.key_file),
          {"anonymise", options.Text(), Name(options.TargetStrategy()), options.context,
           std::string(options.new_ids ? "new ids" : "ids kept") + (options.mark ? ", marked" : ""),
           options.container ? Extension(*options.container) : "same", AbsoluteInput(options.in),
           fmt::format("kind {} {}", static_cast<int>(corpus_.kind), corpus_.manifest_name)}) {}

AnonymiseReport CorpusRun::Run(const std::string& version) {
  report_.recordings = corpus_.recordings.size();
  report_.utterances = corpus_.utterances;
  report_.speakers = corpus_.speakers.size();
  AddNotes();
  if (state_.FinishingRecord() && FinishInterrupted()) return std::move(report_);
  try {
    RefuseSecrets();
    naming_ = MakeNaming(options_, corpus_, state_.RunKey());
    PlanNames();
    method_ = MakeMethod(options_, state_.RunKey());
    inputs_.emplace(corpus_, method_->Needs(), state_.WorkFolder(), options_.jobs);
    RemoveWithdrawn();
    FitToCorpus(method_, corpus_, state_.WorkFolder(), options_, report_);
    WriteKey();
  } catch (...) {
    if (!state_.IsResumed()) state_.Complete();  // nothing was begun
    throw;
  }
  ProtectAll();
  AddChangeNotes();
  CheckDraws();
  std::sort(report_.failures.begin(), report_.failures.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  report_.done = report_.recordings - report_.failures.size();
  if (report_.failures.empty() || options_.skip_failed) Finish(version);
  if (!report_.complete) WriteRecord(RunRecord(options_, report_, version));
  return std::move(report_);
}

void CorpusRun::AddNotes() {
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
  if (state_.IsResumed()) report_.notes.emplace_back("an interrupted run continues");
}

// All output names are known, inside OUT and distinct before the first file is written.
void CorpusRun::PlanNames() {
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

// Outputs of an interrupted run whose recordings are no longer in the corpus, and its tables, which
// may name them; they are written anew in the end.
void CorpusRun::RemoveWithdrawn() {
  const bool same_tables = state_.SetTables(TablesText(corpus_));
  if (!state_.IsResumed()) return;
  if (!same_tables) {
    report_.notes.emplace_back("the tables of the corpus have changed since the run began");
  }
  for (const std::string& table : CorpusTableNames(corpus_)) fs::remove(options_.out / table);
  SyncFolder(options_.out);
  const std::set<std::string> wanted(stems_.begin(), stems_.end());
  for (const auto& [stem, item] : state_.Made()) {
    if (!wanted.contains(stem) && RemoveOutput(item.file)) ++withdrawn_;
  }
}

void CorpusRun::AddChangeNotes() {
  const auto note = [&](std::size_t n, const char* what) {
    if (n > 0) report_.notes.push_back(fmt::format("{} output{} {}", n, Plural(n), what));
  };
  note(withdrawn_, "of recordings that are no longer in the corpus: removed");
  note(changed_, "of recordings that have changed since: protected again");
  note(damaged_, "of the interrupted run found damaged: made again");
}

// Not to come back with a loss of power. False when it was not there.
bool CorpusRun::RemoveOutput(const std::string& file) {
  const fs::path path = JoinInside(options_.out, file);
  if (!fs::remove(path)) return false;
  SyncFolder(path.parent_path());
  return true;
}

// Of outputs that were removed, or never got their names.
void CorpusRun::RemoveEmptyFolders() const {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(options_.out)) {
    if (entry.is_directory() && !entry.is_symlink()) folders.push_back(entry.path());
  }
  // Those below come first. One that is not empty stays.
  std::sort(folders.begin(), folders.end(), std::greater<>());
  for (const fs::path& folder : folders) ::rmdir(folder.c_str());
}

bool CorpusRun::IsWhole(const MadeItem& item) const {
  const fs::path path = options_.out / item.file;
  std::error_code code;
  return fs::is_regular_file(fs::symlink_status(path, code)) &&
         state_.RunKey().Name({"sotto output 2", FileDigest(path)}, 64) == item.output;
}

void CorpusRun::ProtectAll() {
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
  digests_.assign(order.size(), kUnreadable);
  OutputQueue queue(state_);
  Progress progress("anonymise", order.size(), total_bytes);
  ParallelFor(order.size(), options_.jobs,
              [&](std::size_t k) { progress.Done(bytes[order[k]], RunItem(order[k], queue)); });
  queue.Finish();
}

void CorpusRun::Fail(std::size_t i, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  report_.failures.push_back({corpus_.recordings[i].id, reason});
  failed_.insert(i);
}

// Protects recording i; returns its seconds, 0 when it was done before or failed.
double CorpusRun::RunItem(std::size_t i, OutputQueue& queue) {
  const Recording& recording = corpus_.recordings[i];
  const auto old = state_.Made().find(stems_[i]);
  const bool was_made = old != state_.Made().end();
  const Key& key = state_.RunKey();
  try {
    const RecordingInput input(recording, state_.WorkFolder());
    digests_[i] = input.Digest();
    const std::string text = inputs_->Text(i, digests_[i]);
    MadeItem item{{}, {}, key.Name({"sotto input 2", text}, 64), {}};
    if (was_made) {
      const bool same = old->second.input == item.input;
      const bool is_there = fs::exists(options_.out / old->second.file);
      if (same && is_there && IsWhole(old->second)) {
        files_[i] = old->second.file;
        CountDraws(old->second);
        const std::lock_guard lock(mutex_);
        ++report_.resumed;
        return 0.0;
      }
      const std::lock_guard lock(mutex_);
      if (!same) ++changed_;
      if (same && is_there) ++damaged_;
      RemoveOutput(old->second.file);
    }
    ProtectedFile made = ProtectFile(input.Path(), options_.out / stems_[i],
                                     {.if_exists = IfExists::kReplace, .work = state_.WorkFolder()},
                                     options_.container, recording.spans, *method_, options_);
    item.file = files_[i] = stems_[i] + made.file->FinalPath().extension().string();
    for (const Span& span : recording.spans) {
      for (const TargetDraw& draw : method_->DrawsMade(span.utterance)) {
        item.draws.push_back(key.Name({"sotto speaker 2", draw.speaker}, 16) + "/" +
                             key.Name({"sotto draw 2", draw.speaker, draw.name}, 16));
      }
    }
    CountDraws(item);
    item.output = key.Name(
        {"sotto output 2", FileDigest(made.file->Descriptor(), made.file->FinalPath())}, 64);
    queue.Push({std::move(made.file), std::move(item),
                [this, i](const std::string& reason) { Fail(i, reason); }});
    const std::lock_guard lock(mutex_);
    report_.audio_seconds += made.audio_seconds;
    return made.audio_seconds;
  } catch (const Cancelled&) {
    throw;  // no failure of this recording
  } catch (const std::exception& error) {
    Fail(i, FailureText(error));
    const std::lock_guard lock(mutex_);
    // Whatever it was made from, it is not to be had any more.
    if (was_made) RemoveOutput(old->second.file);
    return 0.0;
  }
}

// An interrupted run's draws count as well: a name stands for one draw, whoever made it.
void CorpusRun::CountDraws(const MadeItem& item) {
  const std::lock_guard lock(mutex_);
  for (const std::string& draw : item.draws) draws_[draw.substr(0, draw.find('/'))].insert(draw);
}

// The record states the bound, and nothing is released beyond it.
void CorpusRun::CheckDraws() {
  std::size_t most = 0;
  for (const auto& [speaker, draws] : draws_) most = std::max(most, draws.size());
  if (most == 0) return;
  const std::string rule = options_.Method().Rule(options_)->Name();
  if (most > report_.target_draws) {
    throw Error(fmt::format("{}: {} draws for one speaker, and {} were declared", rule, most,
                            report_.target_draws));
  }
  report_.private_notes.push_back(
      fmt::format("{}: {} draw{} made for the speaker with most. The number follows the "
                  "speech and is not in the record, which states the bound of {}",
                  rule, most, most == 1 ? " was" : "s were", report_.target_draws));
}

void CorpusRun::WriteRecord(const std::string& text) const {
  WriteFileAtomically(options_.out / "sotto-run.json", text,
                      {.if_exists = IfExists::kReplace, .work = state_.WorkFolder()});
}

// Before the work: a key or a map in the way that this run did not write.
void CorpusRun::RefuseSecrets() const {
  for (const fs::path& secret : {options_.key_out, options_.map_out}) {
    if (secret.empty()) continue;
    const fs::path folder = secret.has_parent_path() ? secret.parent_path() : ".";
    if (!fs::is_directory(folder)) {
      throw Error(fmt::format("there is no folder '{}'", folder.string()));
    }
    if (!state_.Wrote(secret)) RefuseExisting(secret, options_.Outputs());
  }
}

// A run that is taken up again finds the key and the map that it wrote itself.
IfExists CorpusRun::IfExistsFor(const fs::path& secret, const std::string& content) {
  const bool own = state_.Wrote(secret);
  if (!own) RefuseExisting(secret, options_.Outputs());
  state_.SetWritten(secret, content);
  return own ? IfExists::kReplace : options_.Outputs();
}

void CorpusRun::WriteKey() {
  if (options_.key_out.empty()) return;
  const Key& key = state_.RunKey();
  std::string content = key.FileText();
  const IfExists if_exists = IfExistsFor(options_.key_out, content);
  Wipe(content);
  key.WriteFile(options_.key_out, if_exists);
}

void CorpusRun::WriteMap(const Corpus& released, const std::vector<std::string>& files) {
  if (options_.map_out.empty()) return;
  const std::string map = IdMap(released, files, naming_);
  WritePrivateFile(options_.map_out, map, IfExistsFor(options_.map_out, map));
}

// OUT was empty when the run began. A file that neither the run nor its state knows may be an
// output whose line was lost, of a recording that is withdrawn since.
void CorpusRun::RequireNothingElse() const {
  std::set<std::string> known;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!failed_.contains(i)) known.insert(files_[i]);
  }
  for (const std::string& table : CorpusTableNames(corpus_)) known.insert(table);
  known.insert("sotto-run.json");
  for (auto entry = fs::recursive_directory_iterator(options_.out);
       entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry.depth() == 0 && entry->path().filename() == kWorkFolderName) {
      entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_directory() && !entry->is_symlink()) continue;
    const std::string file = entry->path().lexically_relative(options_.out).string();
    if (known.contains(file)) continue;
    throw Error(
        fmt::format("'{}' is not output of this run, and was not there when it began: take "
                    "it away and run the same command again",
                    entry->path().string()));
  }
}

void CorpusRun::Finish(const std::string& version) {
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
  RemoveEmptyFolders();
  if (state_.IsResumed()) RequireNothingElse();
  WriteCorpusTables(released, options_.out, files, naming_, state_.WorkFolder());
  WriteMap(released, files);
  report_.complete = true;
  const std::string record = RunRecord(options_, report_, version);
  for (const std::string& table : CorpusTableNames(corpus_)) files.push_back(table);
  RunState::Finished finished{CorpusText(corpus_, digests_), record, files, {}};
  for (const auto& failure : report_.failures) {
    finished.failures.emplace_back(failure.id, failure.reason);
  }
  state_.BeginFinishing(finished);
  WriteRecord(record);
  state_.Complete();
}

// All was made when the run was stopped: what is left is to say so. False when the corpus has
// changed since, or an output, and everything has to be made again.
bool CorpusRun::FinishInterrupted() {
  const std::vector<std::string> digests = ReadDigests(corpus_, state_.WorkFolder(), options_.jobs);
  std::set<std::string> failed;
  for (const auto& [id, reason] : state_.FinishingFailures()) failed.insert(id);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    // Not a reason to throw away what is finished.
    if (digests[i] != kUnreadable || failed.contains(corpus_.recordings[i].id)) continue;
    throw Error(
        fmt::format("'{}' cannot be read, and everything in '{}' is made: put it back, or "
                    "take it out of the corpus to have the rest made again without it",
                    corpus_.recordings[i].id, options_.out.string()));
  }
  const bool same_corpus = state_.IsSameCorpus(CorpusText(corpus_, digests));
  const std::string not_whole = state_.NotWhole();
  if (!same_corpus || !not_whole.empty()) {
    state_.Restart();
    report_.notes.push_back(
        !same_corpus
            ? "the corpus has changed since the run gave up its key: everything is protected again"
            : fmt::format("outputs have changed since the run gave up its key ('{}'): everything "
                          "is protected again",
                          not_whole));
    for (const std::string& file : state_.WrittenFiles()) {
      if (SameFile(file, options_.key_out) || SameFile(file, options_.map_out)) continue;
      report_.notes.push_back(
          fmt::format("'{}' was written by the run before and does not belong to this one", file));
    }
    return false;
  }
  for (const fs::path& secret : {options_.key_out, options_.map_out}) {
    if (secret.empty() || state_.Wrote(secret)) continue;
    report_.notes.push_back(
        fmt::format("'{}' is not written: the key of the run is gone", secret.string()));
  }
  const std::string& record = *state_.FinishingRecord();
  report_.done = report_.resumed = ParseJson(record).at("counts").at("done");
  for (const auto& [id, reason] : state_.FinishingFailures()) {
    report_.failures.push_back({id, reason});
  }
  WriteRecord(record);
  state_.Complete();
  report_.complete = true;
  return true;
}

}  // namespace sotto

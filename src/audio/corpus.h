// Corpora: a Kaldi data dir, a folder of sound files, or a TSV manifest. What goes in comes out as
// the same kind.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/gender.h"

namespace sotto {

enum class CorpusKind { kKaldi, kFolder, kManifest };

// A stretch of a recording that is one utterance.
struct Span {
  std::string utterance;
  std::string speaker;
  double begin_s = 0.0;
  double end_s = -1.0;  // −1: the end of the recording
  std::string times;    // both, as the corpus wrote them
};

struct Recording {
  std::string id;
  std::filesystem::path path;  // empty for a pipe
  std::string pipe;            // the shell command that writes the sound to its standard output
  std::string relative;        // where the protected copy goes below OUT, without its extension
  std::vector<Span> spans;     // in order of time; one without times is the whole recording
};

// A line of one of Kaldi's tables: key and the rest.
using Table = std::vector<std::pair<std::string, std::string>>;

struct Corpus {
  CorpusKind kind = CorpusKind::kFolder;
  std::filesystem::path root;
  std::vector<Recording> recordings;
  std::vector<std::string> speakers;  // distinct, sorted
  std::size_t utterances = 0;

  // Kaldi: what is written again beside the sound. Manifest: its header and rows.
  Table utt2spk, spk2gender, text;
  bool has_segments = false;
  std::string manifest_name;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // rows[i] belongs to recordings[i]

  // Files that are there but not part of the protected copy (features, other formats …).
  std::vector<std::string> left_out;
};

// Something wrong with a corpus, and what to do about it.
struct Problem {
  enum class Severity { kError, kWarning };
  Severity severity = Severity::kError;
  std::string where;  // file, line or id
  std::string what;
  std::string fix;
};

struct CorpusScan {
  Corpus corpus;
  std::vector<Problem> problems;

  void Add(std::string where, std::string what, std::string fix,
           Problem::Severity severity = Problem::Severity::kError) {
    problems.push_back({severity, std::move(where), std::move(what), std::move(fix)});
  }
};

struct CorpusOptions {
  bool allow_pipes = false;
  bool allow_file = false;  // a sound file is a corpus of one recording (OpenCorpus)
};

// Reads what describes a corpus (not the sound). `path` is a Kaldi data dir (it holds wav.scp), a
// folder with manifest.tsv, a manifest file (*.tsv), or any other folder of sound files, where the
// speaker is the folder a file lies in. All problems are collected, so that one look shows all of
// them; whoever goes on must refuse a corpus with errors. Throws Error only when there is nothing
// to read.
CorpusScan ScanCorpus(const std::filesystem::path& path, const CorpusOptions& options = {});

// A corpus to go on with: scanned, and one with errors refused by an Error that names the first and
// counts the others; warnings pass.
Corpus OpenCorpus(const std::filesystem::path& path, const CorpusOptions& options = {});

// True for what is no folder and no manifest (*.tsv); an Error where there is nothing.
bool IsSingleFile(const std::filesystem::path& path);
// A sound file as a corpus of one recording by one speaker, both named after the file.
Corpus SingleFileCorpus(const std::filesystem::path& file);

// Parsers of the text formats, one for each kind; `where` names the source in problems.
// (The Kaldi tables are handed in as texts; an absent file is an empty optional.)
struct KaldiTexts {
  std::string wav_scp;
  std::optional<std::string> utt2spk, segments, spk2utt, spk2gender, text;
};
CorpusScan ParseKaldi(const KaldiTexts& texts, const std::filesystem::path& root,
                      const CorpusOptions& options);
CorpusScan ParseManifest(const std::string& text, const std::filesystem::path& manifest);

// Every sound file in and below `root`, by name; what begins with a dot is skipped, other files are
// left out and named. Problems: links that lead nowhere or to a folder that is part of the corpus
// already, folders that cannot be read, pipes and devices named like sounds, names that are no
// UTF-8 or hold control characters. Throws Error when `root` itself cannot be read.
CorpusScan ScanFolder(const std::filesystem::path& root);

// Of every speaker for whom the corpus says it (spk2gender, column "gender").
std::map<std::string, Gender> SpeakerGenders(const Corpus& corpus);

// The names a released corpus uses. The default keeps every id.
struct Naming {
  std::function<std::string(const std::string&)> speaker = [](const std::string& id) { return id; };
  // of an utterance and of a recording that holds one
  std::function<std::string(const std::string& id, const std::string& speaker)> utterance =
      [](const std::string& id, const std::string&) { return id; };
  // of the file, below OUT, without extension
  std::function<std::string(const Recording&)> file = [](const Recording& r) { return r.relative; };
  bool sort_rows = false;  // the order of the originals would give renamed rows away
  // wav.scp names files from the root of this machine, for recipes that run in another folder;
  // otherwise below the data dir, which tells nothing of the machine.
  bool absolute_paths = false;
};

// Writes wav.scp, segments, utt2spk, spk2utt, spk2gender and text, or the manifest, into `out` for
// a copy whose recording i lies at out/files[i]. A folder needs no such file. `work`: where a table
// is while it is incomplete (base/files.h).
void WriteCorpusTables(const Corpus& corpus, const std::filesystem::path& out,
                       const std::vector<std::string>& files, const Naming& naming = {},
                       const std::filesystem::path& work = {});

// The names of all tables that a corpus of this kind may have.
std::vector<std::string> CorpusTableNames(const Corpus& corpus);

// The folder below an output in which an unfinished run keeps its state (release/run_state.h): no
// recording may be written there.
inline constexpr const char* kWorkFolderName = ".sotto-work";

}  // namespace sotto

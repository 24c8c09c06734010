#include "audio/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

KaldiTexts ReadKaldiTexts(const fs::path& root) {
  KaldiTexts texts;
  texts.wav_scp = ReadTextFile(root / "wav.scp", kLargestTable);
  const auto optional = [&](const char* name, std::optional<std::string>& text) {
    // A link that leads nowhere is no absent table.
    if (!fs::exists(fs::symlink_status(root / name))) return;
    text = ReadTextFile(root / name, kLargestTable);
  };
  optional("utt2spk", texts.utt2spk);
  optional("segments", texts.segments);
  optional("spk2utt", texts.spk2utt);
  optional("spk2gender", texts.spk2gender);
  optional("text", texts.text);
  return texts;
}

void ListLeftOut(const fs::path& root, Corpus& corpus) {
  const std::set<std::string> known = {"wav.scp", "utt2spk",    "segments",          "spk2utt",
                                       "text",    "spk2gender", corpus.manifest_name};
  std::set<std::string> sound_folders;
  for (const Recording& recording : corpus.recordings) {
    const fs::path relative = recording.path.lexically_relative(root);
    if (!relative.empty()) sound_folders.insert(relative.begin()->string());
  }
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (!known.contains(name) && !sound_folders.contains(name))
      corpus.left_out.push_back(Printable(name));
  }
  std::sort(corpus.left_out.begin(), corpus.left_out.end());
}

// A protected copy keeps the names of its original; file systems take 255 bytes.
void CheckNameLengths(CorpusScan& scan) {
  constexpr std::size_t kLongest = 255 - std::string_view(".flac").size();
  for (const Recording& recording : scan.corpus.recordings) {
    for (const fs::path& part : fs::path(recording.relative)) {
      const std::size_t length = part.string().size();
      if (length <= kLongest) continue;
      scan.Add(fmt::format("'{} …'", part.string().substr(0, 40)),
               fmt::format("a name of {} bytes: a file's name has at most {}", length, kLongest),
               "use a shorter name");
    }
  }
}

void Summarise(CorpusScan& scan) {
  Corpus& corpus = scan.corpus;
  std::set<std::string> speakers;
  std::map<std::string, std::string> places;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) speakers.insert(span.speaker);
    corpus.utterances += recording.spans.size();
    // Two sounds with one name (a.wav and a.mp3; a and ./a) would become one protected file.
    const fs::path place_below = fs::path(recording.relative).lexically_normal();
    if (!place_below.empty() && *place_below.begin() == kWorkFolderName) {
      scan.Add(recording.relative, "this folder holds the state of a run, and goes with it",
               "move the recording to another folder");
    }
    const auto [place, fresh] = places.emplace(place_below.string(), recording.path.string());
    if (!fresh) {
      scan.Add(recording.relative,
               fmt::format("two recordings would be written to this name ('{}' and '{}')",
                           place->second, recording.path.string()),
               "rename or remove one of them");
    }
  }
  corpus.speakers.assign(speakers.begin(), speakers.end());
}

}  // namespace

CorpusScan ScanCorpus(const fs::path& path, const CorpusOptions& options) {
  if (!fs::exists(path)) throw Error(fmt::format("'{}' does not exist", path.string()));
  CorpusScan scan;
  fs::path root = path;
  if (fs::is_directory(path)) {
    if (fs::exists(path / "wav.scp")) {
      scan = ParseKaldi(ReadKaldiTexts(path), path, options);
    } else if (fs::exists(path / "manifest.tsv")) {
      scan =
          ParseManifest(ReadTextFile(path / "manifest.tsv", kLargestTable), path / "manifest.tsv");
    } else {
      scan = ScanFolder(path);
    }
  } else {
    scan = ParseManifest(ReadTextFile(path, kLargestTable), path);
    root = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  }
  scan.corpus.root = root;
  if (scan.corpus.kind != CorpusKind::kFolder) ListLeftOut(root, scan.corpus);
  CheckNameLengths(scan);
  Summarise(scan);
  if (scan.corpus.recordings.empty() && scan.problems.empty()) {
    throw Error(fmt::format("'{}' holds no recording (WAV, FLAC, Ogg, Opus, MP3)", path.string()));
  }
  return scan;
}

Corpus OpenCorpus(const fs::path& path, const CorpusOptions& options) {
  // One that is missing is found out by whoever reads it, after what it would write was looked at.
  if (options.allow_file && (!fs::exists(path) || IsSingleFile(path))) {
    return SingleFileCorpus(path);
  }
  CorpusScan scan = ScanCorpus(path, options);
  std::erase_if(scan.problems, [](const Problem& problem) {
    return problem.severity != Problem::Severity::kError;
  });
  if (scan.problems.empty()) return std::move(scan.corpus);
  const Problem& first = scan.problems.front();
  const std::size_t more = scan.problems.size() - 1;
  throw Error(fmt::format(
      "{}: {} ({}){}", first.where, first.what, first.fix,
      more == 0 ? "" : fmt::format("; {} more: sotto check '{}' names all", more, path.string())));
}

bool IsSingleFile(const fs::path& path) {
  if (!fs::exists(path)) throw Error(fmt::format("'{}' does not exist", path.string()));
  return !fs::is_directory(path) && path.extension() != ".tsv";
}

Corpus SingleFileCorpus(const fs::path& file) {
  const std::string id = file.stem().string();
  Corpus corpus;
  Recording recording;
  recording.id = recording.relative = id;
  recording.path = file;
  recording.spans = {{id, id, 0.0, -1.0, {}}};
  corpus.recordings = {recording};
  corpus.speakers = {id};
  corpus.utterances = 1;
  return corpus;
}

std::map<std::string, Gender> SpeakerGenders(const Corpus& corpus) {
  std::map<std::string, Gender> genders;
  const auto add = [&](const std::string& speaker, const std::string& text) {
    if (const Gender gender = ParseGender(text); gender != Gender::kUnknown) {
      genders[speaker] = gender;
    }
  };
  for (const auto& [speaker, gender] : corpus.spk2gender) add(speaker, gender);
  const auto column = std::find(corpus.header.begin(), corpus.header.end(), "gender");
  if (column == corpus.header.end()) return genders;
  for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
    for (const Span& span : corpus.recordings[i].spans) {
      add(span.speaker, corpus.rows[i][static_cast<std::size_t>(column - corpus.header.begin())]);
    }
  }
  return genders;
}

}  // namespace sotto

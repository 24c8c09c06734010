// Writes the tables of a protected corpus.
#include <algorithm>
#include <map>
#include <set>

#include "audio/corpus.h"
#include "base/files.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// Kaldi wants its tables sorted by id in C order.
void WriteTable(const fs::path& path, Table table, const fs::path& work) {
  std::sort(table.begin(), table.end());
  std::string text;
  for (const auto& [key, value] : table) {
    text += key;
    if (!value.empty()) text += " " + value;
    text += "\n";
  }
  WriteFileAtomically(path, text, {.work = work});
}

void WriteKaldi(const Corpus& corpus, const fs::path& out, const std::vector<std::string>& files,
                const Naming& naming, const fs::path& work) {
  std::map<std::string, std::string> speaker_of(corpus.utt2spk.begin(), corpus.utt2spk.end());
  const auto utterance = [&](const std::string& id) {
    return naming.utterance(id, speaker_of.at(id));
  };
  Table wav_scp, segments, utt2spk, spk2gender, text;
  std::set<std::string> released;
  std::map<std::string, std::set<std::string>> utterances_of;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    const Recording& recording = corpus.recordings[i];
    // Without segments the recording is the utterance; with them its name is that of its file.
    const std::string id = corpus.has_segments
                               ? fs::path(naming.file(recording)).lexically_relative("wav").string()
                               : utterance(recording.id);
    const fs::path file = naming.absolute_paths ? fs::absolute(out / files[i]).lexically_normal()
                                                : fs::path(files[i]);
    wav_scp.emplace_back(id, file.string());
    for (const Span& span : recording.spans) {
      const std::string name = utterance(span.utterance);
      segments.emplace_back(name, id + " " + span.times);
      utt2spk.emplace_back(name, naming.speaker(span.speaker));
      released.insert(span.utterance);
      utterances_of[naming.speaker(span.speaker)].insert(name);
    }
  }
  for (const auto& [speaker, gender] : corpus.spk2gender) {
    if (utterances_of.contains(naming.speaker(speaker))) {
      spk2gender.emplace_back(naming.speaker(speaker), gender);
    }
  }
  for (const auto& [id, words] : corpus.text) {
    if (released.contains(id)) text.emplace_back(utterance(id), words);
  }
  Table spk2utt;
  for (const auto& [speaker, names] : utterances_of) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
    spk2utt.emplace_back(speaker, list);
  }
  WriteTable(out / "utt2spk", utt2spk, work);
  WriteTable(out / "spk2utt", spk2utt, work);
  if (corpus.has_segments) WriteTable(out / "segments", segments, work);
  if (!spk2gender.empty()) WriteTable(out / "spk2gender", spk2gender, work);
  if (!text.empty()) WriteTable(out / "text", text, work);
  WriteTable(out / "wav.scp", wav_scp,
             work);  // last: the other tables are complete once it is there
}

void WriteManifest(const Corpus& corpus, const fs::path& out, const std::vector<std::string>& files,
                   const Naming& naming, const fs::path& work) {
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(corpus.header.begin(), corpus.header.end(), name) -
                                    corpus.header.begin());
  };
  const std::size_t id = column("utt_id"), path = column("path"), speaker = column("speaker");
  const auto join = [](const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : "\t") + fields[i];
    return line + "\n";
  };
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
    std::vector<std::string> row = corpus.rows[i];
    row[id] = naming.utterance(corpus.rows[i][id], corpus.rows[i][speaker]);
    row[speaker] = naming.speaker(corpus.rows[i][speaker]);
    row[path] = files[i];
    lines.push_back(join(row));
  }
  if (naming.sort_rows) std::sort(lines.begin(), lines.end());
  std::string text = join(corpus.header);
  for (const std::string& line : lines) text += line;
  WriteFileAtomically(out / corpus.manifest_name, text, {.work = work});
}

}  // namespace

void WriteCorpusTables(const Corpus& corpus, const fs::path& out,
                       const std::vector<std::string>& files, const Naming& naming,
                       const fs::path& work) {
  if (corpus.kind == CorpusKind::kKaldi) WriteKaldi(corpus, out, files, naming, work);
  if (corpus.kind == CorpusKind::kManifest) WriteManifest(corpus, out, files, naming, work);
}

std::vector<std::string> CorpusTableNames(const Corpus& corpus) {
  switch (corpus.kind) {
    case CorpusKind::kKaldi:
      return {"wav.scp", "segments", "utt2spk", "spk2utt", "spk2gender", "text"};
    case CorpusKind::kManifest:
      return {corpus.manifest_name};
    case CorpusKind::kFolder:
      break;
  }
  return {};
}

}  // namespace sotto

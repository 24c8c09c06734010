// The TSV manifest: utt_id, path, speaker, then gender, seconds, text and columns of the corpus.
#include <fmt/format.h>

#include <map>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"

namespace sotto {
namespace fs = std::filesystem;

CorpusScan ParseManifest(const std::string& text, const fs::path& manifest) {
  CorpusScan scan;
  Corpus& corpus = scan.corpus;
  corpus.kind = CorpusKind::kManifest;
  corpus.manifest_name = manifest.filename().string();
  const std::string name = manifest.string();
  const Tsv table = ParseTsv(text, name);
  const std::size_t id = table.Column("utt_id");
  const std::size_t path = table.Column("path");
  const std::size_t speaker = table.Column("speaker");
  const std::size_t gender = table.Column("gender");
  for (const auto& [column, title] :
       {std::pair{id, "utt_id"}, {path, "path"}, {speaker, "speaker"}}) {
    if (column == Tsv::kNone) {
      throw Error(fmt::format(
          "manifest '{}' has no column '{}' (utt_id, path and speaker are needed)", name, title));
    }
  }
  corpus.header.assign(table.header.begin(), table.header.end());
  const fs::path folder = manifest.parent_path();
  std::map<std::string, std::size_t> seen;
  std::size_t without_gender = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    Recording recording;
    recording.id = std::string(row[id]);
    const std::string where =
        fmt::format("{}: row {} ('{}')", corpus.manifest_name, i + 1, recording.id);
    const auto problem = [&](std::string what, std::string fix) {
      scan.Add(where, std::move(what), std::move(fix));
    };
    if (recording.id.empty()) problem("empty utt_id", "give the row an id");
    if (row[speaker].empty()) problem("no speaker", "fill in the column 'speaker'");
    if (!seen.emplace(recording.id, i).second) {
      problem("the same utt_id is in an earlier row", "give every row its own id");
    }
    const std::string relative(row[path]);
    try {
      recording.path = JoinInside(folder, relative);
      recording.relative = fs::path(relative).replace_extension().string();
    } catch (const Error&) {
      problem(fmt::format("path '{}' is empty or leads out of the corpus", relative),
              "use a path below the folder of the manifest");
    }
    if (gender != Tsv::kNone && row[gender].empty()) ++without_gender;
    recording.spans = {{recording.id, std::string(row[speaker]), 0.0, -1.0, {}}};
    corpus.recordings.push_back(std::move(recording));
    corpus.rows.emplace_back(row.begin(), row.end());
  }
  if (corpus.rows.empty()) scan.Add(corpus.manifest_name, "no rows", "list at least one recording");
  if (without_gender > 0) {
    scan.Add(corpus.manifest_name, fmt::format("{} rows without gender", without_gender),
             "fill in F or M where known: figures per gender leave the others out",
             Problem::Severity::kWarning);
  }
  return scan;
}

}  // namespace sotto

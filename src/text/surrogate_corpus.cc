#include "text/surrogate_corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"
#include "text/labelled_corpora.h"
#include "text/text_stream.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

void CountMarked(const LabelledCorpus& corpus, SurrogateCounts& counts, SurrogateCorpusSize& size) {
  size.labelled = true;
  for (const auto& sentence : corpus.sentences) {
    ++size.texts;
    for (const Entity& entity : EntitiesOf(sentence)) {
      counts.Add(entity.type,
                 std::string_view(sentence.text).substr(entity.begin, entity.end - entity.begin),
                 sentence.text);
    }
  }
}

void CountFound(std::string_view text, std::string_view who, const EntityFinder& finder,
                SurrogateCounts& counts, SurrogateCorpusSize& size) {
  ++size.texts;
  for (const Entity& entity : finder.Find(text)) {
    counts.Add(entity.type, text.substr(entity.begin, entity.end - entity.begin), who);
  }
}

SurrogateCorpusSize CountTable(const fs::path& path, const EntityFinder& finder,
                               SurrogateCounts& counts) {
  SurrogateCorpusSize size;
  const std::string bytes = ReadTextFile(path);
  // ParseTsv would quote what it refuses.
  if (const auto at = FindUnclean(bytes); at != std::string::npos) {
    const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<long>(at), '\n');
    throw Error(fmt::format("{}: line {}: UTF-8 without control characters is allowed",
                            path.string(), line));
  }
  const Tsv table = ParseTsv(bytes, path.string());
  const std::size_t text = table.Column("text"), speaker = table.Column("speaker");
  if (text == Tsv::kNone) {
    throw Error(
        fmt::format("{}: no column annotation or text, which a table needs", path.string()));
  }
  size.speakers = speaker != Tsv::kNone;
  for (const auto& row : table.rows) {
    // Nobody is another person than everybody else: unnamed speakers count as one.
    CountFound(row[text], size.speakers ? row[speaker] : row[text], finder, counts, size);
  }
  return size;
}

bool HasAnnotations(const fs::path& path) {
  LineReader lines(FileSource(path), path.string());
  const auto header = lines.Next();
  if (!header) return false;
  for (const auto field : SplitTabs(header->Text())) {
    if (field == "annotation") return true;
  }
  return false;
}

}  // namespace

SurrogateCorpusSize CountSurrogates(const fs::path& corpus, const EntityFinder& finder,
                                    SurrogateCounts& counts) {
  SurrogateCorpusSize size;
  if (fs::is_directory(corpus)) {
    for (const auto& of : ReadLabelledCorpora(corpus)) CountMarked(of, counts, size);
    return size;
  }
  if (corpus.extension() == ".tsv") {
    if (!HasAnnotations(corpus)) return CountTable(corpus, finder, counts);
    CountMarked(ReadNluEval(corpus), counts, size);
    return size;
  }
  if (corpus.extension() == ".conll") {
    CountMarked(ReadWikigold(corpus), counts, size);
    return size;
  }
  LineReader lines(FileSource(corpus), corpus.string());
  while (const auto line = lines.Next()) {
    CountFound(line->Text(), line->Text(), finder, counts, size);
  }
  if (size.texts == 0) throw Error(fmt::format("{}: holds no text", corpus.string()));
  return size;
}

}  // namespace sotto

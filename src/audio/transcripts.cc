#include "audio/transcripts.h"

#include <algorithm>
#include <set>

namespace sotto {
namespace {

bool IsBlank(const std::string& text) { return text.find_first_not_of(" \t") == std::string::npos; }

// Calls use(span, value) for each row of a manifest that has the column.
template <typename Use>
void ForColumn(const Corpus& corpus, std::string_view column, const Use& use) {
  const auto found = std::find(corpus.header.begin(), corpus.header.end(), column);
  if (corpus.kind != CorpusKind::kManifest || found == corpus.header.end()) return;
  const auto place = static_cast<std::size_t>(found - corpus.header.begin());
  for (std::size_t i = 0; i < corpus.rows.size(); ++i) {
    const std::string& value = corpus.rows[i][place];
    if (!IsBlank(value)) use(corpus.recordings[i].spans.front(), value);
  }
}

}  // namespace

std::map<std::string, std::string> Transcripts(const Corpus& corpus) {
  std::map<std::string, std::string> transcripts;
  for (const auto& [utterance, text] : corpus.text) {
    if (!IsBlank(text)) transcripts.emplace(utterance, text);
  }
  ForColumn(corpus, "text", [&](const Span& span, const std::string& value) {
    transcripts.emplace(span.utterance, value);
  });
  return transcripts;
}

std::map<std::string, std::string> SpeakerColumn(const Corpus& corpus, std::string_view column) {
  std::map<std::string, std::string> values;
  std::set<std::string> torn;
  ForColumn(corpus, column, [&](const Span& span, const std::string& value) {
    if (values.emplace(span.speaker, value).first->second != value) torn.insert(span.speaker);
  });
  for (const std::string& speaker : torn) values.erase(speaker);
  return values;
}

}  // namespace sotto

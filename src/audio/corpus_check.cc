#include "audio/corpus_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audio/cutter.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace sotto {
namespace {

// What one recording turned out to be.
struct Heard {
  double seconds = 0.0;
  int rate_hz = 0;
  std::string problem;
};

Heard Listen(const Recording& recording, bool headers_only) {
  Heard heard;
  try {
    SoundReader reader(recording.path);
    heard.rate_hz = reader.Format().rate_hz;
    if (headers_only) return heard;
    std::vector<float> block(16384 * static_cast<std::size_t>(reader.Format().channels));
    while (reader.Read(block) > 0) continue;
    heard.seconds = static_cast<double>(reader.Position()) / heard.rate_hz;
    for (const Span& span : recording.spans) {
      CutInside(CutOf(span.utterance, span.begin_s, span.end_s, heard.rate_hz), span.utterance,
                reader.Position(), heard.rate_hz);
    }
  } catch (const Error& error) {
    heard.problem = error.what();
  }
  return heard;
}

}  // namespace

std::size_t CorpusCheck::Errors() const {
  return static_cast<std::size_t>(std::count_if(
      problems.begin(), problems.end(),
      [](const Problem& problem) { return problem.severity == Problem::Severity::kError; }));
}

CorpusCheck CheckCorpus(const std::filesystem::path& path, const CheckOptions& options) {
  CorpusScan scan = ScanCorpus(path, {.allow_pipes = options.allow_pipes});
  const Corpus& corpus = scan.corpus;
  CorpusCheck check;
  check.kind = corpus.kind == CorpusKind::kKaldi    ? "kaldi"
               : corpus.kind == CorpusKind::kFolder ? "folder"
                                                    : "manifest";
  check.recordings = corpus.recordings.size();
  check.utterances = corpus.utterances;
  check.speakers = corpus.speakers.size();
  std::vector<Heard> heard(corpus.recordings.size());
  {
    Progress progress("check", heard.size(), static_cast<double>(heard.size()));
    ParallelFor(heard.size(), options.jobs, [&](std::size_t i) {
      const Recording& recording = corpus.recordings[i];
      // No path: a pipe, or a bad one that is reported already.
      if (!recording.path.empty()) heard[i] = Listen(recording, options.headers_only);
      progress.Done(1.0, heard[i].seconds);
    });
  }
  std::map<int, std::size_t> rates;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    check.audio_seconds += heard[i].seconds;
    if (heard[i].rate_hz > 0) ++rates[heard[i].rate_hz];
    if (heard[i].problem.empty()) continue;
    std::error_code unused;
    const bool missing = !std::filesystem::exists(corpus.recordings[i].path, unused);
    scan.Add(corpus.recordings[i].id, heard[i].problem,
             missing ? "bring the file there, or remove its entry"
                     : "replace or re-encode the file, or remove its entry");
  }
  if (corpus.kind == CorpusKind::kFolder && check.speakers == 1) {
    scan.Add(path.string(), "all recordings lie in one folder and count as one speaker",
             "use one folder for each speaker", Problem::Severity::kWarning);
  }
  if (rates.size() > 1) {
    std::string list;
    for (const auto& [rate, count] : rates) list += fmt::format(" {} Hz ({})", rate, count);
    scan.Add(path.string(), "more than one sampling rate:" + list,
             "fine for sotto; resample if your other tools need one rate",
             Problem::Severity::kWarning);
  }
  check.problems = std::move(scan.problems);
  return check;
}

}  // namespace sotto

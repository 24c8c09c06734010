#include "release/run_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "release/folder_run.h"
#include "release/protect_recording.h"
#include "release/run_record.h"
#include "voice/method_table.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// Draws of a target at most, for the speaker with most utterances: declared and not counted, since
// the pauses after which a stream draws tell of the speech.
std::size_t MostDraws(const Corpus& corpus, const AnonymiseOptions& options) {
  if (options.TargetStrategy() != Strategy::kRandom) return 1;
  std::map<std::string, std::size_t> utterances;
  std::size_t most = 0;
  for (const Recording& recording : corpus.recordings) {
    for (const Span& span : recording.spans) most = std::max(most, ++utterances[span.speaker]);
  }
  const auto rule = options.Method().Rule(options);
  return rule ? most * rule->DrawsPerUtterance(options) : most;
}

// Adds pitch and gender, and classes where they are asked for: clustering is the dearer part.
void ModelTheVoices(const Corpus& corpus, const AnonymiseOptions& options, const FitNeeds& needs,
                    ModelledVoices& modelled, std::vector<std::string>& notes) {
  Voiceprints prints = std::move(modelled.prints);
  modelled = ModelVoices(
      corpus, {.f0_method = needs.f0_method, .jobs = options.jobs, .classes = needs.classes});
  modelled.prints = std::move(prints);
  notes.push_back(
      fmt::format("no profile was given: {} of {} speaker{} fitted from the recordings "
                  "to be protected",
                  modelled.voices.size(), corpus.speakers.size(),
                  corpus.speakers.size() == 1 ? " was" : "s were"));
  std::size_t unknown = 0;
  for (const VoiceModel& voice : modelled.voices)
    unknown += voice.gender == Gender::kUnknown ? 1 : 0;
  if (needs.genders && unknown > 0) {
    notes.push_back(
        fmt::format("the corpus does not say the gender of {} speaker{}: guessed from "
                    "the pitch",
                    unknown, unknown == 1 ? "" : "s"));
  }
}

}  // namespace

std::unique_ptr<VoiceMethod> MakeMethod(const AnonymiseOptions& options, const Key& key) {
  return MakeVoiceMethod(
      options, TargetDraws(key, options.TargetStrategy(), options.MethodName(), options.context));
}

void FitToCorpus(std::unique_ptr<VoiceMethod>& method, const Corpus& corpus, const fs::path& work,
                 const AnonymiseOptions& options, AnonymiseReport& report) {
  const FitNeeds needs = method->Needs();
  if (!needs.Any()) return;
  if (needs.folder != nullptr) {
    method =
        RunFolderMethod(*needs.folder, corpus, work, options.TargetStrategy() != Strategy::kRandom);
    return;
  }
  method->RefuseSpeakers(corpus.speakers);
  std::vector<std::string>& notes = report.notes;
  ModelledVoices modelled;
  if (needs.encoder != nullptr) {
    modelled.prints = EmbedVoices(corpus, *needs.encoder, options.jobs);
    report.target_draws = MostDraws(corpus, options);
    if (const auto rule = options.Method().Rule(options)) {
      report.target_eps = rule->EpsilonOfDraw(options);
      const std::vector<std::string> said =
          rule->FitNotes(options, {options.TargetStrategy(), report.target_draws});
      notes.insert(notes.end(), said.begin(), said.end());
    }
  }
  if (needs.voices) ModelTheVoices(corpus, options, needs, modelled, notes);
  method->Fit(SourceVoices(std::move(modelled)));
}

ProtectedFile ProtectFile(const fs::path& in, const fs::path& stem, const WriteOptions& write,
                          std::optional<Container> container, std::span<const Span> spans,
                          const VoiceMethod& method, const AnonymiseOptions& options) {
  SoundReader reader(in);
  const SoundFormat format =
      container ? OutputFormat(reader.Format(), *container) : OutputFormat(reader.Format());
  const fs::path path = stem.string() + Extension(format.container);
  MakeFolder(path.has_parent_path() ? path.parent_path() : ".");
  ProtectedFile made{std::make_unique<PendingFile>(path, write), 0.0};
  SoundWriter writer(*made.file, format, options.mark ? MarkText(options) : "");
  const double limit = IsFloat(format.samples) ? std::numeric_limits<double>::infinity() : 1.0;
  const std::int64_t frames = ProtectRecording(reader, writer, limit, spans, method,
                                               options.TargetStrategy() != Strategy::kRandom);
  writer.Close();
  made.audio_seconds = static_cast<double>(frames) / format.rate_hz;
  return made;
}

}  // namespace sotto

#include "attack/protector.h"

#include <fmt/format.h>

#include <utility>

#include "base/digest.h"
#include "release/folder_run.h"
#include "release/run_inputs.h"
#include "targets/source_voices.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr double kPeakLimit = 1.0;

TargetDraws Draws(const VoiceOptions& voice, Strategy strategy, const Key& key,
                  const std::string& context) {
  return {key, strategy, voice.MethodName(), context};
}

}  // namespace

Corpus OnlyUtterances(const Corpus& corpus, const std::set<std::string>& ids) {
  Corpus part = corpus;
  part.recordings.clear();
  part.rows.clear();
  part.utterances = 0;
  std::set<std::string> speakers;
  for (std::size_t i = 0; i < corpus.recordings.size(); ++i) {
    Recording recording = corpus.recordings[i];
    std::erase_if(recording.spans, [&](const Span& span) { return !ids.contains(span.utterance); });
    if (recording.spans.empty()) continue;
    for (const Span& span : recording.spans) speakers.insert(span.speaker);
    part.utterances += recording.spans.size();
    part.recordings.push_back(std::move(recording));
    if (!corpus.rows.empty()) part.rows.push_back(corpus.rows[i]);
  }
  part.speakers.assign(speakers.begin(), speakers.end());
  return part;
}

ModelledVoices ModelFor(const VoiceOptions& voice, const Corpus& corpus, int jobs) {
  const auto method = MakeVoiceMethod(
      voice, Draws(voice, Strategy::kPerm, Key::ForExperiment(ExperimentKey(0)), ""));
  const FitNeeds needs = method->Needs();
  ModelledVoices modelled;
  if (needs.voices) {
    modelled =
        ModelVoices(corpus, {.f0_method = needs.f0_method, .jobs = jobs, .classes = needs.classes});
  }
  if (needs.encoder != nullptr) modelled.prints = EmbedVoices(corpus, *needs.encoder, jobs);
  return modelled;
}

Protector::Protector(const VoiceOptions& voice, Strategy strategy, const Key& key,
                     const std::string& context, const ModelledVoices& voices,
                     const Corpus& corpus) {
  std::unique_ptr<VoiceMethod> method =
      MakeVoiceMethod(voice, Draws(voice, strategy, key, context));
  std::string fitted;
  if (const FolderMethod* folder = method->Needs().folder) {
    works_on_folders_ = true;
    fitted = CorpusText(corpus, ReadDigests(corpus, fs::temp_directory_path(), 1));
    method = RunFolderMethod(*folder, corpus, {}, /*merge_overlaps=*/false);
  }
  if (method->NeedsFit()) {
    for (const VoiceModel& model : voices.voices) {
      fitted += fmt::format("{} {} {} ", model.name, model.log_f0_mean, model.log_f0_deviation);
      fitted.append(reinterpret_cast<const char*>(model.centroids.data()),
                    model.centroids.size() * sizeof(float));
    }
    const EmbeddingSet& prints = voices.prints.set;
    for (const std::string& id : prints.ids) fitted += id + " ";
    fitted.append(reinterpret_cast<const char*>(prints.vectors.data()),
                  static_cast<std::size_t>(prints.vectors.size()) * sizeof(float));
    // Who draws as for a trial does not have its embedding: the mean of the enrolment stands for
    // it.
    method->Fit(SourceVoices(voices, UnknownPrint::kMeanOfSpeaker));
  }
  method_ = std::move(method);
  text_ = fmt::format("{}\t{}\t{}\t{}", voice.Text(), Name(strategy),
                      key.Name({"sotto attack cache 1", context}, 32), ContentDigest(fitted));
}

SoundChange Protector::Change() const {
  return [method = method_](int rate_hz, const Utterance& utterance) {
    return method->MakeTransformer(rate_hz, kPeakLimit, utterance.speaker, utterance.id);
  };
}

SoundChange Protector::ChangeAs(const std::string& id) const {
  return [method = method_, id](int rate_hz, const Utterance& utterance) {
    return method->MakeTransformer(rate_hz, kPeakLimit, utterance.speaker, id);
  };
}

std::vector<Undoing> UndoGrid(const VoiceOptions& voice, bool quick) {
  std::vector<Undoing> grid;
  for (Inverse& inverse : voice.Method().Inverses(voice, quick)) {
    grid.push_back(
        {std::move(inverse.name), [make = std::move(inverse.make)](int rate_hz, const Utterance&) {
           return make(rate_hz, kPeakLimit);
         }});
  }
  return grid;
}

}  // namespace sotto

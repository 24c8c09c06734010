#include "voice/run_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "dp/parameters.h"
#include "voice/adain_nets.h"
#include "voice/neural_nets.h"
#include "voice/voice_ind_targets.h"

namespace sotto {

std::vector<std::string> PrivacyNotes(const AnonymiseOptions& options) {
  std::vector<std::string> notes;
  if (options.experiment_seed) {
    notes.emplace_back(
        "--seed: the targets follow from a public number. This run is an experiment "
        "and protects nobody");
  }
  if (!options.key_file.empty()) {
    notes.emplace_back(
        "--key: two releases under one key are linkable (a speaker gets the same "
        "target in both); --context separates them");
  }
  if (options.method != "mcadams") return notes;
  if (options.alpha.IsFixed() && options.alpha.lo == 1.0) {
    notes.emplace_back("alpha 1 changes nothing: this run protects nobody");
  } else if (options.alpha.IsFixed()) {
    notes.push_back(
        fmt::format("alpha {} is fixed, so it is public and the transformation can be "
                    "inverted; a range (0.5:0.9) draws it in secret",
                    options.alpha.Text()));
  }
  return notes;
}

std::vector<std::string> VoiceIndNotes(const AnonymiseOptions& options,
                                       const AnonymiseReport& report) {
  const double eps = options.neural.eps.value_or(0.0);
  const double spent = VoiceIndEpsilon(eps, report.target_draws);
  std::vector<std::string> notes = {
      fmt::format("voice-ind: epsilon {:g} covers {}", eps, kVoiceIndCovers)};
  if (options.strategy == Strategy::kRandom) {
    const std::optional<std::size_t> most = options.neural.max_draws;
    notes.push_back(
        most
            ? fmt::format("voice-ind: k utterances of at most {0} draws cost at most k * {0} times "
                          "epsilon {1:g}: {2:g} for the speaker with most ({3} utterances)",
                          *most, eps, spent, report.target_draws / *most)
            : fmt::format("voice-ind: k utterances cost k times epsilon {:g}: {:g} for the speaker "
                          "with most ({} utterances)",
                          eps, spent, report.target_draws));
  }
  if (const std::string warning = EpsilonWarning(spent); !warning.empty()) {
    notes.push_back(warning);
  }
  if (options.target_gender != TargetGender::kRandom) {
    notes.push_back(
        fmt::format("voice-ind: --target-gender {} tells the speaker's gender, outside epsilon",
                    Name(options.target_gender)));
  }
  return notes;
}

std::string RunRecord(const AnonymiseOptions& options, const AnonymiseReport& report,
                      const std::string& version) {
  nlohmann::ordered_json record;
  record["sotto"] = version;
  record["verb"] = "anonymise";
  record["method"] = options.method;
  if (options.method == "mcadams") record["alpha"] = options.alpha.Text();
  record["pitch"] = Name(options.Pitch());
  if (options.UsesTargetVoices()) {
    record["target_gender"] = Name(options.target_gender);
    record["pool"] = options.pool.empty() ? "default" : "given";
    record["fitted"] = options.profile.empty() ? "from the corpus itself" : "from a profile";
  }
  if (options.IsNeural()) {
    record["synthetic"] = true;  // every sample is made by a net
    record["target"] = Name(options.neural.target);
    if (options.neural.eps) {
      record["eps"] = *options.neural.eps;
      if (options.neural.max_draws) record["max_draws"] = *options.neural.max_draws;
      nlohmann::ordered_json own = {
          {"covers", kVoiceIndCovers},
          {"per", options.strategy == Strategy::kRandom ? "utterance" : "speaker"},
          {"cost", options.strategy != Strategy::kRandom ? "one draw for each speaker"
                   : options.neural.max_draws
                       ? "k utterances of a speaker cost at most k * max_draws * eps"
                       : "k utterances of a speaker cost k * eps"}};
      // Bounds that are known before the first draw: how many were made follows the pauses of the
      // speech, which eps does not cover.
      if (report.target_draws > 0) {
        own["draws_per_speaker_at_most"] = report.target_draws;
        own["eps_per_speaker"] = VoiceIndEpsilon(*options.neural.eps, report.target_draws);
      }
      if (options.target_gender != TargetGender::kRandom) {
        own["outside_eps"] = "the speaker's gender, which the target's follows";
      }
      record["voice_ind"] = std::move(own);
    }
    record["target_gender"] = Name(options.target_gender);
    record["target_pool"] = options.neural.target_pool.empty() ? "default" : "given";
    record["nets"] = MethodNets(options);
    record["content"] = options.IsAdain()        ? "adain"
                        : options.neural.teacher ? "moonshine"
                                                 : "student";
    if (!options.IsAdain()) record["content_mean"] = "removed";  // voice/content_centre.h
    record["bend_semitones"] = options.neural.bend_semitones;
    if (options.neural.streaming) record["streaming"] = true;
    record["band_hz"] = 8000;  // nothing is left above
  }
  if (options.mark) record["marked"] = true;
  if (options.UsesVocoder()) record["f0"] = Name(options.f0_method);
  record["strategy"] = Name(options.strategy);
  record["randomness"] = options.experiment_seed    ? "seeded experiment: protects nobody"
                         : options.key_file.empty() ? "fresh key from the operating system"
                                                    : "key file";
  record["context_given"] = !options.context.empty();
  record["ids"] = options.new_ids ? "replaced" : "kept";
  record["counts"] = {{"recordings", report.recordings},
                      {"utterances", report.utterances},
                      {"speakers", report.speakers},
                      {"done", report.done},
                      {"failed", report.failures.size()}};
  record["complete"] = report.complete;
  return DumpJson(record, 2) + "\n";
}

std::string MarkText(const VoiceOptions& options) {
  return fmt::format("{} (Sotto, method {})",
                     options.IsNeural() ? "synthetic speech: the voice was made by a neural network"
                                        : "the voice was changed",
                     options.method);
}

}  // namespace sotto

#include "report/verb_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "attack/calibrate_cosine.h"
#include "audio/corpus_check.h"
#include "audio/feature_pack.h"
#include "audio/speech_pack.h"
#include "base/progress_bar.h"
#include "dp/allows.h"
#include "dsp/feature_files.h"
#include "release/anonymise.h"
#include "report/json_values.h"
#include "speaker/embed_corpus.h"
#include "speaker/ivector.h"
#include "speaker/protect_embeddings.h"
#include "speaker/score_sets.h"
#include "speaker/verbal_scale.h"
#include "targets/pseudo_speakers.h"
#include "targets/voice_ind_targets.h"
#include "targets/vtln_files.h"

namespace sotto {
namespace {

using nlohmann::ordered_json;

const char* SeverityText(const Problem& problem) {
  return problem.severity == Problem::Severity::kError ? "error" : "warning";
}

template <typename Voice>
std::ptrdiff_t Count(const std::vector<Voice>& voices, Gender gender) {
  return std::count_if(voices.begin(), voices.end(),
                       [gender](const Voice& voice) { return voice.gender == gender; });
}

double Seconds(const SpeechPack& pack) {
  return static_cast<double>(pack.samples.size()) / pack.rate_hz;
}

JsonFields JsonRun(const AnonymiseReport& report, double speed, int jobs) {
  JsonFields f;
  f("recordings", report.recordings)("utterances", report.utterances)("speakers", report.speakers);
  f("done", report.done)("resumed", report.resumed)("failed", report.failures.size());
  f("complete", report.complete)("audio_seconds", report.audio_seconds);
  f("wall_seconds", report.wall_seconds)("times_real_time", speed)("jobs", jobs);
  f("failures", JsonList(report.failures, [](const auto& failure) {
      return JsonFields()("id", failure.id)("reason", failure.reason);
    }));
  if (report.target_draws > 0) {
    const double eps = report.target_eps;
    JsonFields draws = f("voice_ind")("eps", eps)("covers", kVoiceIndCovers);
    draws("draws_per_speaker_at_most", report.target_draws);
    draws("eps_per_speaker", VoiceIndEpsilon(eps, report.target_draws));
  }
  return f("notes", report.notes);
}

JsonFields JsonCheck(const CorpusCheck& check, std::size_t errors) {
  JsonFields f;
  f("ok", errors == 0)("kind", check.kind)("recordings", check.recordings);
  f("utterances", check.utterances)("speakers", check.speakers);
  f("audio_seconds", check.audio_seconds)("errors", errors);
  f("warnings", check.problems.size() - errors);
  f("problems", JsonList(check.problems, [](const Problem& problem) {
      JsonFields one;
      one("severity", SeverityText(problem))("where", problem.where);
      return one("what", problem.what)("fix", problem.fix);
    }));
  return f;
}

}  // namespace

std::string PrintedRun(const AnonymiseReport& report, int jobs, bool json) {
  const double speed = report.wall_seconds > 0.0 ? report.audio_seconds / report.wall_seconds : 0.0;
  if (json) return JsonRun(report, speed, jobs).Text();
  std::string text =
      fmt::format("done {} of {} recordings ({} utterances, {} speakers), failed {}", report.done,
                  report.recordings, report.utterances, report.speakers, report.failures.size());
  if (report.resumed > 0) text += fmt::format(", {} were done before", report.resumed);
  text += fmt::format("\n{} of speech in {:.2f} s: {:.0f}x real time with {} job{}\n",
                      FormatDuration(report.audio_seconds), report.wall_seconds, speed, jobs,
                      jobs == 1 ? "" : "s");
  if (report.complete) return text;
  return text +
         "incomplete: fix what failed and run the same command again (the rest is kept), or "
         "finish without it with --skip-failed\n";
}

std::string PrintedCheck(const CorpusCheck& check, bool json) {
  const std::size_t errors = check.Errors();
  if (json) return JsonCheck(check, errors).Text();
  std::string text;
  for (const Problem& problem : check.problems) {
    text += fmt::format("{}: {}: {}\n  fix: {}\n", SeverityText(problem), problem.where,
                        problem.what, problem.fix);
  }
  return text +
         fmt::format(
             "{}: {} recordings, {} utterances, {} speakers, {} of sound; {} errors, {} warnings\n",
             errors == 0 ? "ok" : "not ok", check.recordings, check.utterances, check.speakers,
             FormatDuration(check.audio_seconds), errors, check.problems.size() - errors);
}

std::string PrintedFeatures(const std::vector<RecordingFeatures>& recordings,
                            const std::string& folder, bool json) {
  double seconds = 0.0;
  std::size_t frames = 0, voiced = 0;
  ordered_json list = ordered_json::array();
  for (const RecordingFeatures& r : recordings) {
    seconds += r.seconds;
    frames += r.frames;
    voiced += r.voiced;
    JsonFields f;
    f("id", r.id)("rate_hz", r.rate_hz)("seconds", r.seconds)("frames", r.frames);
    list.push_back(f("bins", r.bins)("voiced_frames", r.voiced).json());
  }
  if (json) return JsonText(list);
  return fmt::format("{} recording{}, {} of sound, {} frames, {} voiced: {}\n", recordings.size(),
                     recordings.size() == 1 ? "" : "s", FormatDuration(seconds), frames, voiced,
                     folder);
}

std::string PrintedEmbeddings(const EmbeddedCorpus& embedded, const SpeakerEncoder& encoder,
                              double seconds, const std::string& folder, bool json) {
  const std::size_t speakers = embedded.set.BySpeaker().size();
  const std::size_t without = embedded.set.WithoutGender().size();
  if (json) {
    JsonFields f;
    f("encoder", encoder.Name())("fingerprint", encoder.Fingerprint());
    f("dimension", encoder.Dimension())("utterances", embedded.set.size());
    f("speakers", speakers)("speakers_without_gender", without);
    f("from_cache", embedded.from_cache)("audio_seconds", embedded.audio_seconds);
    return f("seconds", seconds).Text();
  }
  return fmt::format(
      "{} utterances of {} speakers ({} without a gender), {} dimensions by {}: {}\n"
      "{:.1f} s of sound in {:.1f} s ({:.0f} x real time), {} from the cache\n",
      embedded.set.size(), speakers, without, encoder.Dimension(), encoder.Name(), folder,
      embedded.audio_seconds, seconds, embedded.audio_seconds / seconds, embedded.from_cache);
}

std::string PrintedVerification(const Verification& verification, const SpeakerEncoder& encoder,
                                bool json) {
  const auto& llr = verification.llr;
  if (json) {
    JsonFields f;
    f("encoder", encoder.Name())("cosine", verification.cosine)("llr", llr);
    if (llr) return f("words", VerbalScale(*llr)).Text();
    return f("reason", "the encoder's file holds no calibration").Text();
  }
  return fmt::format("cosine {:.4f} ({}, {} dimensions)\n", verification.cosine, encoder.Name(),
                     encoder.Dimension()) +
         (llr ? fmt::format("LLR {:+.2f} (natural log): {}\n", *llr, VerbalScale(*llr))
              : "uncalibrated: the encoder's file does not say what likelihood ratio that is\n");
}

std::string PrintedProtection(const ProtectReport& protection, const std::string& folder,
                              bool json) {
  if (json) return protection.record;
  const std::string of =
      fmt::format("{} utterances of {} speakers", protection.utterances, protection.speakers);
  if (protection.hiding) {
    const HidingFacts& facts = *protection.hiding;
    std::string text = fmt::format("{}, {} hidden by {}: {}\n", of, ListOf(facts.attributes, "and"),
                                   facts.method, folder);
    if (!facts.eps) return text;
    return text + fmt::format(
                      "epsilon {:g} per speaker on {} of {} coordinates: whatever attackers know, "
                      "from these they reach an AUC of {:.3f} at most\n",
                      facts.eps_speaker, facts.noised, facts.latent,
                      AucCeiling(facts.eps_speaker, 0.0));
  }
  std::string text =
      fmt::format("{}, drawn from {} voices: {}\n", of, protection.candidates, folder);
  if (protection.eps_per_speaker) {
    text +=
        fmt::format("epsilon {:g} per speaker; the bound was checked before anything was written\n",
                    *protection.eps_per_speaker);
  }
  return text;
}

std::vector<std::string> PrivateNotes(const ProtectReport& protection) {
  if (const auto* pool = std::get_if<PoolMeasured>(&protection.measured)) {
    return {fmt::format("at least {} candidates for each draw, N {}, N* {}", pool->candidates_least,
                        pool->n, pool->n_star)};
  }
  const auto* measured = std::get_if<VoiceIndMeasured>(&protection.measured);
  if (measured == nullptr) return {};
  std::vector<std::string> notes = {fmt::format(
      "the bound holds on {} inputs x {} outputs, largest ratio {:.4f} of it; expected distance "
      "{:.4f}",
      measured->check.inputs, measured->check.candidates, measured->check.largest_ratio,
      measured->expected_distance)};
  if (measured->overlapping > 0) {
    notes.push_back(
        fmt::format("{} candidates are protected speakers: only the assignment is protected, the "
                    "voiceprints themselves are shown",
                    measured->overlapping));
  }
  return notes;
}

std::string PrivateReport(const ProtectReport& protection, const std::string& version) {
  const auto* pool = std::get_if<PoolMeasured>(&protection.measured);
  ordered_json json = {{"sotto", version},
                       {"verb", "protect-embedding"},
                       {"method", pool != nullptr ? "pool" : "voice-ind"},
                       {"measured", kMeasured},
                       {"private",
                        "computed from the protected voiceprints: no part of the release, to be "
                        "kept as private as they are"}};
  if (pool != nullptr) {
    json.update({{"candidates_at_least", pool->candidates_least},
                 {"N", pool->n},
                 {"N_star", pool->n_star}});
    return JsonText(json);
  }
  const auto& [check, overlapping, distance] = std::get<VoiceIndMeasured>(protection.measured);
  json["verified"] = {{"holds", check.holds},
                      {"inputs", check.inputs},
                      {"outputs", check.candidates},
                      {"largest_ratio_to_bound", check.largest_ratio},
                      {"largest_excess", check.largest_excess}};
  json["candidates_among_protected"] = overlapping;
  json["expected_distance"] = distance;
  return JsonText(json);
}

std::string PrintedScores(const SetScores& scores, const ScoreSetOptions& options,
                          const std::string& file, bool json) {
  if (!json && file.empty()) {
    return FormatScores(scores.scores, scores.model_ids, scores.trial_ids, &scores.pairs);
  }
  if (!json) {
    return fmt::format("{} scores of {} models and {} utterances ({}): {}\n", scores.pairs.size(),
                       scores.model_ids.size(), scores.trial_ids.size(), options.backend, file);
  }
  JsonFields f;
  f("backend", options.backend)("by", options.by == ModelOf::kSpeaker ? "speaker" : "utterance");
  f("models", scores.model_ids.size())("trial_utterances", scores.trial_ids.size());
  f("scores", scores.pairs.size());
  if (!file.empty()) return f("file", file).Text();
  f("trials", JsonList(scores.pairs, [&](const auto& pair) -> ordered_json {
      const auto& [i, j] = pair;
      return {scores.model_ids[static_cast<std::size_t>(i)],
              scores.trial_ids[static_cast<std::size_t>(j)], scores.scores(i, j)};
    }));
  return f.Text();
}

std::string PrintedPool(const BuiltPool& built, std::size_t bytes, const std::string& file,
                        bool json) {
  const auto& voices = built.pool.voices;
  const auto women = Count(voices, Gender::kFemale), men = Count(voices, Gender::kMale);
  if (json) {
    JsonFields f;
    f("voices", voices.size())("female", women)("male", men)("left_out", built.failures.size());
    return f("classes", kVoiceClasses)("bytes", bytes).Text();
  }
  return fmt::format("{} voices ({} female, {} male), left out {}: {} bytes in {}\n", voices.size(),
                     women, men, built.failures.size(), bytes, file);
}

std::string PrintedProfile(const VoiceProfile& profile, const VoicePool& pool,
                           const std::string& file, bool json) {
  if (!json) {
    return fmt::format("{} speaker{} fitted to {} voices: {}\n", profile.voices.size(),
                       profile.voices.size() == 1 ? "" : "s", pool.voices.size(), file);
  }
  JsonFields f;
  f("pool_voices", pool.voices.size());
  f("voices", JsonList(profile.voices, [](const VoiceModel& voice) {
      JsonFields one;
      one("speaker", voice.name)("gender", Name(voice.gender, "?"));
      return one("log_f0_mean", voice.log_f0_mean)("log_f0_deviation", voice.log_f0_deviation);
    }));
  return f.Text();
}

std::string PackText(const SpeechPack& pack) {
  return fmt::format("{} utterances, {:.2f} h", pack.utterances.size(), Seconds(pack) / 3600.0);
}

std::string PrintedFeaturePack(const SpeechPack& pack, const FeaturePack& features, double seconds,
                               const std::string& file, bool json) {
  if (json) {
    JsonFields f;
    f("utterances", pack.utterances.size())("audio_seconds", Seconds(pack))("seconds", seconds);
    f("teacher", features.teacher)("encoder", features.encoder)("features", file);
    return f.Text();
  }
  return fmt::format("{}: {} in {:.1f} s ({:.0f} x real time)\n", file, PackText(pack), seconds,
                     Seconds(pack) / seconds);
}

std::string PrintedSpeakerPool(const SpeakerPool& pool, const PseudoSpeakers& generator,
                               const std::string& file, bool json) {
  const auto female = Count(pool.voices, Gender::kFemale), male = Count(pool.voices, Gender::kMale);
  const double f = generator.Shrinkage(Gender::kFemale), m = generator.Shrinkage(Gender::kMale);
  if (json) {
    JsonFields fields;
    fields("female", female)("male", male)("shrinkage_female", f)("shrinkage_male", m);
    return fields.Text();
  }
  return fmt::format("{}: {} female and {} male voices (shrinkage {:.2f}, {:.2f})\n", file, female,
                     male, f, m);
}

std::string PrintedCalibration(const CalibratedEncoder& calibrated, const std::string& file,
                               bool json) {
  const auto& [scale, offset] = calibrated.calibration;
  if (json) {
    JsonFields f;
    f("file", file)("utterances", calibrated.utterances)("speakers", calibrated.speakers);
    return f("scale", scale)("offset", offset).Text();
  }
  return fmt::format("LLR = {:.4f} x cosine {:+.4f}, from {} utterances of {} speakers: {}\n",
                     scale, offset, calibrated.utterances, calibrated.speakers, file);
}

std::string PrintedIvector(const TrainedIvector& trained, const std::string& file, bool json) {
  if (json) {
    JsonFields f;
    f("file", file)("utterances", trained.utterances)("left_out", trained.left_out);
    f("speakers", trained.speakers)("frames", trained.frames);
    f("seconds_features", trained.seconds_features)("seconds_gmm", trained.seconds_gmm);
    return f("seconds_total", trained.seconds_total).Text();
  }
  return fmt::format(
      "{}: {} utterances of {} speakers ({} left out: too little speech), {:.1f} min of speech\n"
      "features {:.1f} s, mixture {:.1f} s, total variability {:.1f} s\n",
      file, trained.utterances, trained.speakers, trained.left_out,
      static_cast<double>(trained.frames) / 6000.0, trained.seconds_features, trained.seconds_gmm,
      trained.seconds_total);
}

}  // namespace sotto

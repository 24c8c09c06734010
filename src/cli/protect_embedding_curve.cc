// sotto protect-embedding --curve (attack/voice_ind_study.h, attack/hiding_study.h).
#include <fmt/format.h>

#include <filesystem>

#include "attack/hiding_study.h"
#include "attack/voice_ind_study.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/protect_embedding.h"
#include "report/hiding_figures.h"
#include "report/hiding_page.h"
#include "report/voice_ind_study.h"

namespace sotto::cli {

std::vector<ProtectCurveFlags::Flag> ProtectCurveFlags::Add(CLI::App& verb) {
  CLI::Option* curve =
      verb.add_option(
              "--curve", out,
              "Write curve.json, curve.csv and curve.html to this folder, and protect nothing")
          ->type_name("DIR");
  CLI::Option* epsilons =
      verb.add_option("--curve-eps", eps, "Epsilons of the curve, separated by commas")
          ->needs(curve)
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(CLI::PositiveNumber);
  CLI::Option* candidates =
      verb.add_option("--curve-n", n,
                      "Numbers of candidates of the curve of voice-ind, separated by commas; "
                      "default: a sixteenth, a quarter and all of the pool")
          ->needs(curve)
          ->default_str("")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(CLI::PositiveNumber);
  CLI::Option* draws = verb.add_option("--curve-repeats", repeats,
                                       "Draws for each speaker and point of the curve of voice-ind")
                           ->needs(curve)
                           ->check(CLI::PositiveNumber);
  CLI::Option* others =
      verb.add_option("--curve-attack", attack,
                      "Voiceprints of other speakers, with genders or --labels, on which the "
                      "attackers of the curve of a defence train")
          ->needs(curve)
          ->type_name("DIR");
  return {{curve, true, true},
          {epsilons, true, true},
          {candidates, true, false},
          {draws, true, false},
          {others, false, true}};
}

namespace {

// The model without noise, where it may be used so, and with each epsilon.
std::vector<StudiedDefence> Points(const HiderProtection& by, const std::vector<double>& eps) {
  DefencePlan plan;
  plan.models = {by.model};
  const StudiedDefence model = PlanDefences(plan, {}).front();
  if (model.hider->Header().method != by.method) {
    throw Error(fmt::format("'{}' is a model of method {}; the method here is {}",
                            by.model.string(), model.hider->Header().method, by.method));
  }
  std::vector<StudiedDefence> points;
  const auto add = [&](std::optional<double> at) {
    points.push_back(model);
    points.back().eps = at;
    points.back().only_curve = at.has_value();
  };
  if (!model.hider->NeedsEpsilon()) add({});
  for (const double at : eps) add(at);
  return points;
}

void WriteCurve(const std::filesystem::path& folder, const std::string& json,
                const std::string& csv, const AssessPage& page) {
  MakeFolder(folder);
  WriteFileAtomically(folder / "curve.json", json);
  WriteFileAtomically(folder / "curve.csv", csv);
  WritePage(folder / "curve.html", RenderAssessPage(page));
}

}  // namespace

void RunProtectCurve(const ProtectCurveFlags& flags, const std::filesystem::path& in,
                     const VoiceIndProtection& by, const std::filesystem::path& plda,
                     const TargetFlags& target, bool json) {
  const Key key = ChooseKey(target.seed, target.key_file);
  const VoiceIndStudy study =
      StudyVoiceInd(in, by.pool, {flags.eps, flags.n, flags.repeats, plda, by.options.jobs}, key);
  const std::filesystem::path folder = flags.out;
  WriteCurve(folder, StudyJson(study), StudyCsv(study),
             StudyPage(study, in.string(), by.pool.string()));
  fmt::print("{}", PrintedStudy(study, (folder / "curve.html").string(), json));
}

void RunHidingCurve(const ProtectCurveFlags& flags, const std::filesystem::path& in,
                    const HiderProtection& by, const TargetFlags& target, int jobs, bool json) {
  const Key key = ChooseKey(target.seed, target.key_file);
  const std::vector<StudiedDefence> points = Points(by, flags.eps);
  HidingSources sources;
  sources.attack = {flags.attack};
  sources.test = {in};
  sources.labels = by.labels;
  sources.attribute = points.front().hider->Header().attributes.front().name;
  HidingStudyOptions options;
  options.jobs = jobs;
  const HidingStudy study = StudyHiding(ReadHidingVoices(sources), points, options, key);
  const std::filesystem::path folder = flags.out;
  WriteCurve(folder, HidingJson(study), HidingCsv(study), HidingPage(study, in.string()));
  fmt::print("{}", json ? HidingJson(study) : HidingText(study, (folder / "curve.html").string()));
}

}  // namespace sotto::cli

// sotto protect-embedding --curve (attack/voice_ind_study.h).
#include <fmt/format.h>

#include <filesystem>

#include "attack/voice_ind_study.h"
#include "base/files.h"
#include "cli/protect_embedding.h"
#include "report/voice_ind_study.h"

namespace sotto::cli {

CLI::Option* ProtectCurveFlags::Add(CLI::App& verb) {
  CLI::Option* curve =
      verb.add_option(
              "--curve", out,
              "Write curve.json, curve.csv and curve.html to this folder, and protect nothing")
          ->type_name("DIR");
  verb.add_option("--curve-eps", eps, "Epsilons of the curve, separated by commas")
      ->needs(curve)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  verb.add_option("--curve-n", n,
                  "Numbers of candidates of the curve, separated by commas; default: a sixteenth, "
                  "a quarter and all of the pool")
      ->needs(curve)
      ->default_str("")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  verb.add_option("--curve-repeats", repeats, "Draws for each speaker and point of the curve")
      ->needs(curve)
      ->check(CLI::PositiveNumber);
  return curve;
}

void RunProtectCurve(const ProtectCurveFlags& flags, const std::filesystem::path& in,
                     const VoiceIndProtection& by, const std::filesystem::path& plda,
                     const TargetFlags& target, bool json) {
  const Key key = ChooseKey(target.seed, target.key_file);
  const VoiceIndStudy study =
      StudyVoiceInd(in, by.pool, {flags.eps, flags.n, flags.repeats, plda, by.options.jobs}, key);
  const std::filesystem::path folder = flags.out;
  MakeFolder(folder);
  WriteFileAtomically(folder / "curve.json", StudyJson(study));
  WriteFileAtomically(folder / "curve.csv", StudyCsv(study));
  WritePage(folder / "curve.html",
            RenderAssessPage(StudyPage(study, in.string(), by.pool.string())));
  fmt::print("{}", PrintedStudy(study, (folder / "curve.html").string(), json));
}

}  // namespace sotto::cli

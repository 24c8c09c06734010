// sotto check DIR, sotto compare ORIGINAL PROTECTED [PROTECTED ...], sotto features INPUT OUT
#include <fmt/format.h>

#include "audio/corpus_check.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "dsp/feature_files.h"
#include "report/assess_page.h"
#include "report/compare_page.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct CheckFlags {
  std::string path;
  CheckOptions options;
  bool json = false;
};

void RunCheck(const CheckFlags& flags) {
  const CorpusCheck check = CheckCorpus(flags.path, flags.options);
  fmt::print("{}", PrintedCheck(check, flags.json));
  if (check.Errors() > 0) throw ExitWith{1};
}

struct CompareFlags {
  std::string original, page;
  std::vector<std::string> runs;
  std::vector<std::string> released;
  std::size_t players = 8;
  int jobs = DefaultJobs();
  bool json = false;
};

void RunCompare(const CompareFlags& flags) {
  const auto copies =
      CompareCopies(flags.original, {flags.released.begin(), flags.released.end()}, flags.jobs);
  if (!flags.page.empty()) {
    ComparePageOptions options{flags.page, flags.players, {}};
    for (const std::string& run : flags.runs) {
      options.times_real_time.push_back(ReadTimesRealTime(run));
    }
    WritePage(flags.page, ComparePage(copies, options));
  }
  fmt::print("{}", flags.json ? CompareJson(copies) : CompareText(copies));
}

struct FeatureFlags {
  std::string input, out;
  std::string f0 = "fast";
  double frame_ms = 5.0;
  VocoderOptions vocoder;
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void RunFeature(const FeatureFlags& flags) {
  FeatureOptions options{flags.vocoder, flags.jobs, flags.force.OnExisting()};
  options.vocoder.f0_method = flags.f0 == "robust" ? F0Method::kRobust : F0Method::kFast;
  options.vocoder.frame_period_s = flags.frame_ms / 1000.0;
  const auto recordings = WriteFeatures(flags.input, flags.out, options);
  fmt::print("{}", PrintedFeatures(recordings, flags.out, flags.json));
}

}  // namespace

void AddCheck(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "check",
                           "Checks a corpus before hours are spent on it: files that are missing "
                           "or unreadable, repeated "
                           "ids, missing speakers and genders. It says how to fix each problem.",
                           "  sotto check recordings/\n"
                           "  sotto check data/train --quick --json");
  auto flags = verb->runs(RunCheck);
  flags->options.jobs = DefaultJobs();
  verb->add_option("DIR", flags->path, "Folder, Kaldi data dir or manifest")->required();
  verb->add_flag("--quick", flags->options.headers_only, "Read headers only and decode nothing");
  verb->add_flag("--allow-pipes", flags->options.allow_pipes,
                 "Accept pipes in wav.scp (they are not run)");
  verb->add_option("--jobs", flags->options.jobs, "Files at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the result as JSON");
}

void AddCompare(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "compare",
      "Measures what a protection did to recordings (level, pitch, formants) and writes a page "
      "with "
      "players and spectrograms side by side. It runs no attacker and says nothing about privacy.",
      "  sotto compare recordings/ mcadams/ voicemask/ vtln/ --page compare.html\n"
      "  sotto compare interview.wav protected.wav --json");
  auto flags = verb->runs(RunCompare);
  verb->add_option("ORIGINAL", flags->original, "Sound file or corpus")->required();
  verb->add_option("PROTECTED", flags->released, "Its protected copies, with the same ids")
      ->required()
      ->expected(1, -1);
  verb->add_option("--page", flags->page, "Write this page", "OUT.html");
  verb->add_option("--players", flags->players, "Number of recordings with players on the page");
  verb->add_option("--run", flags->runs,
                   "Output of sotto anonymise --json, for the speed; give it once for each copy",
                   "FILE");
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
}

void AddFeatures(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "features",
      "Writes the vocoder's features of each recording as NumPy arrays below OUT. They are "
      "NAME.f0.npy (Hz, 0 where unvoiced), NAME.sp.npy (spectral envelope, power) and NAME.ap.npy "
      "(aperiodicity, 0 to 1), with a row per frame and frame i at i times the frame period. They "
      "describe the voice: keep those of originals private.",
      "  sotto features interview.wav features/\n"
      "  sotto features recordings/ features/ --f0 robust --json");
  auto flags = verb->runs(RunFeature);
  verb->add_option("INPUT", flags->input, "Sound file, folder, Kaldi data dir or manifest")
      ->required();
  verb->add_option("OUT", flags->out, "Folder for the arrays")->required();
  flags->force.Add(*verb);
  verb->add_option("--f0", flags->f0,
                   "How the vocoder finds the pitch; robust works in noise and is slower")
      ->check(CLI::IsMember({"fast", "robust"}));
  verb->add_option("--f0-floor", flags->vocoder.f0_floor_hz, "Lowest pitch, Hz")
      ->check(CLI::Range(40.0, 1000.0));
  verb->add_option("--f0-ceil", flags->vocoder.f0_ceil_hz, "Highest pitch, Hz")
      ->check(CLI::Range(40.0, 1000.0));
  verb->add_option("--frame-ms", flags->frame_ms, "Frame period, ms")->check(CLI::Range(1.0, 20.0));
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print counts of each recording as JSON");
}

}  // namespace sotto::cli

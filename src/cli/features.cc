// sotto features INPUT OUT
#include <fmt/format.h>

#include <memory>

#include "base/parallel.h"
#include "cli/verbs.h"
#include "dsp/feature_files.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string input, out;
  std::string f0 = "fast";
  double frame_ms = 5.0;
  VocoderOptions vocoder;
  int jobs = DefaultJobs();
  ForceFlag force;
  bool json = false;
};

void Run(const Flags& flags) {
  FeatureOptions options{flags.vocoder, flags.jobs, flags.force.OnExisting()};
  options.vocoder.f0_method = flags.f0 == "robust" ? F0Method::kRobust : F0Method::kFast;
  options.vocoder.frame_period_s = flags.frame_ms / 1000.0;
  const auto recordings = WriteFeatures(flags.input, flags.out, options);
  fmt::print("{}", PrintedFeatures(recordings, flags.out, flags.json));
}

}  // namespace

void AddFeatures(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "features",
      "Writes the vocoder's features of each recording as NumPy arrays below OUT. They are "
      "NAME.f0.npy (Hz, 0 where unvoiced), NAME.sp.npy (spectral envelope, power) and NAME.ap.npy "
      "(aperiodicity, 0 to 1), with a row per frame and frame i at i times the frame period. They "
      "describe the voice: keep those of originals private.",
      "  sotto features interview.wav features/\n"
      "  sotto features recordings/ features/ --f0 robust --json");
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
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

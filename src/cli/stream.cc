// sotto stream: raw PCM on stdin, protected PCM on stdout, as it comes.
#include <fmt/format.h>

#include "cli/verbs.h"
#include "voice/pcm_stream.h"

namespace sotto::cli {
namespace {

struct Flags {
  StreamOptions options;
  std::string format = "s16";
  StrategyFlag strategy;
  TargetFlags target;
  MethodFlags method;
};

void Run(Flags& flags) {
  const Key key = ChooseKey(flags.target.seed, flags.target.key_file);
  StreamOptions& options = flags.options;
  options.is_float = flags.format == "f32";
  options.voice = flags.method.Options();
  options.strategy = flags.strategy.Asked();
  options.context = flags.target.context;
  CheckUsage([&] { options.SetUp(); });
  PcmStream stream(options, key);
  fmt::print(stderr, "note: latency {:.1f} ms; {}\n", stream.LatencyMs(),
             options.TargetStrategy() == Strategy::kRandom
                 ? "another target after each pause of half a second"
                 : "one target for the whole stream");
  if (flags.target.seed) fmt::print(stderr, "note: --seed: an experiment that protects nobody\n");
  stream.Run();
}

}  // namespace

void AddStream(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "stream",
      "Reads raw PCM (little endian) on standard input and writes it in another voice to standard "
      "output as it arrives, as many samples as came in. The target is drawn once for the stream; "
      "neural with --strategy random draws another after each pause of half a second (in each "
      "channel). The latency depends on the method, its parameters and the rate, from 30 ms to "
      "about 2 s; it is printed before the first sample.",
      "  sox talk.wav -t raw -e signed -b 16 -r 16000 -c 1 - | sotto stream --rate 16000 > "
      "out.raw\n"
      "  arecord -t raw -f S16_LE -r 48000 | sotto stream --rate 48000 | aplay -f S16_LE -r 48000");
  auto flags = verb->runs(Run);
  verb->heading("Sound");
  verb->add_option("--rate", flags->options.rate_hz, "Sampling rate, Hz")
      ->check(CLI::Range(8000, 192000));
  verb->add_option("--channels", flags->options.channels, "Number of interleaved channels")
      ->check(CLI::Range(1, 64));
  verb->add_option("--format", flags->format, "Samples are 16-bit integers or 32-bit floats")
      ->check(CLI::IsMember({"s16", "f32"}));
  flags->method.Add(*verb, /*streams=*/true);
  verb->heading("Targets and key");
  flags->strategy.Add(*verb);
  verb->add_option("--speaker", flags->options.speaker, "The speaker's id, for --strategy perm",
                   "ID");
  flags->target.Add(*verb);
}

}  // namespace sotto::cli

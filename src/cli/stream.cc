// sotto stream: raw PCM on stdin, protected PCM on stdout, as it comes.
#include <fmt/format.h>

#include <memory>

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
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "stream",
      "Reads raw PCM (little endian) on standard input and writes it in another voice on standard\n"
      "output as it comes, as many samples as came in. The target is drawn once for the stream, "
      "by\n"
      "neural with --strategy random anew after each pause of half a second (in each channel).\n"
      "Latency: 30 ms for mcadams with its pitch kept, 2.1 s for what goes through the vocoder\n"
      "(voicemask, vtln, any change of the pitch), at most 250 ms for neural\n"
      "(its nets in the program: 227 ms at 16 kHz, up to 233 at others). Rates above 48 kHz\n"
      "add 40 ms for mcadams and the vocoder, rates below 16 kHz 120 ms for the vocoder.",
      "  sox talk.wav -t raw -e signed -b 16 -r 16000 -c 1 - | sotto stream --rate 16000 > "
      "out.raw\n"
      "  arecord -t raw -f S16_LE -r 48000 | sotto stream --rate 48000 | aplay -f S16_LE -r 48000");
  verb->add_option("--rate", flags->options.rate_hz, "Sampling rate, Hz")
      ->check(CLI::Range(8000, 192000));
  verb->add_option("--channels", flags->options.channels, "Interleaved channels")
      ->check(CLI::Range(1, 64));
  verb->add_option("--format", flags->format, "16-bit integers or 32-bit floats")
      ->check(CLI::IsMember({"s16", "f32"}));
  flags->method.Add(*verb, /*streams=*/true);
  flags->strategy.Add(*verb);
  verb->add_option("--speaker", flags->options.speaker, "Who speaks, for --strategy perm")
      ->type_name("ID");
  flags->target.Add(*verb);
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli

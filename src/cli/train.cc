// sotto train encoder|pack (train_neural.cc has the others): decodes corpora and starts the
// training program (libtorch).
#include "cli/train.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "audio/pack_corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> corpora;
  std::string out;
  bool merge_speakers = false;
  int jobs = DefaultJobs();
};

// libexec/sotto/sotto-train beside the folder this program lies in.
fs::path TrainingProgram() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path program = self.parent_path().parent_path() / "libexec/sotto/sotto-train";
  if (failed || !fs::exists(program)) {
    throw Error(fmt::format("no training program '{}': it is built where libtorch is installed",
                            program.string()));
  }
  return program;
}

SpeechPack Pack(const Flags& flags) {
  return PackCorpora({flags.corpora.begin(), flags.corpora.end()}, flags.merge_speakers,
                     flags.jobs);
}

std::string Describe(const SpeechPack& pack) {
  return fmt::format("{} utterances, {:.2f} h", pack.utterances.size(),
                     static_cast<double>(pack.samples.size()) / pack.rate_hz / 3600.0);
}

int RunProgram(const fs::path& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::string name = program.string();
  argv.push_back(name.data());
  std::vector<std::string> kept = arguments;
  for (std::string& argument : kept) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start '{}': {}", name, SystemReason()));
  if (child == 0) {
    ::execv(name.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) throw Error(SystemReason());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void TrainEncoderOn(const Flags& flags, const std::vector<std::string>& passed) {
  TrainingProgram();  // before the work of packing
  const fs::path out(flags.out);
  const fs::path pack_file = out.string() + fmt::format(".{}.pack", ::getpid());
  struct Removed {
    fs::path path;
    ~Removed() {
      std::error_code ignored;
      fs::remove(path, ignored);
    }
  } const removed{pack_file};
  {
    const SpeechPack pack = Pack(flags);
    fmt::print(stderr, "{}\n", Describe(pack));
    WriteSpeechPack(pack_file, pack);
  }
  std::vector<std::string> arguments = {"encoder", "--pack", pack_file.string(), "-o", flags.out};
  arguments.insert(arguments.end(), passed.begin(), passed.end());
  RunTrainingProgram(arguments);
}

void AddCorpora(CLI::App* verb, Flags& flags) {
  verb->add_option("CORPUS", flags.corpora, "Folders, Kaldi data dirs or manifests")->required();
  verb->add_flag("--merge-speakers", flags.merge_speakers,
                 "A speaker in two corpora is one person");
  verb->add_option("--jobs", flags.jobs, "Recordings decoded at a time")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void RunTrainingProgram(const std::vector<std::string>& arguments) {
  if (const int code = RunProgram(TrainingProgram(), arguments); code != 0) throw ExitWith{code};
}

void AddTrain(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "train", "Trains the nets that attack and protect.",
                           "  sotto train encoder corpus/ -o encoder.safetensors --steps 2000\n"
                           "  sotto train pack corpus/ -o corpus.pack");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* encoder = AddVerb(
      *verb, "encoder",
      "A speaker encoder. On a protected corpus it is a semi-informed attacker's, and its "
      "header says whose\n(make that corpus with --strategy random, so that each utterance "
      "has a fresh draw). Further flags (--steps,\n--base FILE, --device cuda …) go to the "
      "training program: sotto train encoder corpus/ -o x -- --help",
      "  sotto train encoder corpus/ -o encoder.safetensors --steps 2000\n"
      "  sotto train encoder protected/ -o attacker.safetensors --base encoder.safetensors");
  AddCorpora(encoder, *flags);
  encoder->add_option("-o,--out", flags->out, "The encoder (safetensors)")
      ->required()
      ->type_name("FILE");
  encoder->allow_extras();
  encoder->callback([flags, encoder] { TrainEncoderOn(*flags, encoder->remaining()); });

  CLI::App* pack = AddVerb(*verb, "pack",
                           "Decoded speech in one file, to train on a machine without audio "
                           "libraries (sotto-train encoder --pack FILE).",
                           "  sotto train pack corpus/ -o corpus.pack\n"
                           "  sotto train pack libri/ pool/ --merge-speakers -o all.pack");
  AddCorpora(pack, *flags);
  pack->add_option("-o,--out", flags->out, "The pack")->required()->type_name("FILE");
  pack->callback([flags] {
    const SpeechPack made = Pack(*flags);
    WriteSpeechPack(flags->out, made);
    fmt::print("{}: {}\n", flags->out, Describe(made));
  });
  AddTrainNeural(*verb);
}

}  // namespace sotto::cli

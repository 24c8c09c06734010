// sotto train encoder|pack (train_neural.cc has the others): decodes corpora and starts the
// training program (libtorch).
#include "cli/train.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "audio/pack_corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "cli/train_entities.h"
#include "cli/train_hide.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> corpora;
  std::string out;
  bool merge_speakers = false;
  ForceFlag force;
  int jobs = DefaultJobs();
};

// libexec/sotto/sotto-train beside the folder this program lies in.
fs::path TrainingProgramsPlace() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "" : self.parent_path().parent_path() / "libexec/sotto/sotto-train";
}

fs::path TrainingProgram() {
  fs::path program = TrainingProgramsPlace();
  if (!fs::exists(program)) {
    throw Error(fmt::format("no training program '{}': it is built where libtorch is installed",
                            program.string()));
  }
  return program;
}

SpeechPack Pack(const Flags& flags) {
  return PackCorpora({flags.corpora.begin(), flags.corpora.end()}, flags.merge_speakers,
                     flags.jobs);
}

// `output`: where what it says goes; -1: where ours does.
int RunProgram(const fs::path& program, const std::vector<std::string>& arguments, int inherited,
               int output = -1) {
  std::vector<char*> argv;
  std::string name = program.string();
  argv.push_back(name.data());
  std::vector<std::string> kept = arguments;
  for (std::string& argument : kept) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("cannot start '{}': {}", name, SystemReason()));
  if (child == 0) {
    if (inherited >= 0) ::fcntl(inherited, F_SETFD, 0);
    if (output >= 0) {
      ::dup2(output, STDOUT_FILENO);
      ::dup2(output, STDERR_FILENO);
    }
    ::execv(name.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) < 0) throw Error(SystemReason());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void TrainEncoderOn(const Flags& flags, const std::vector<std::string>& passed) {
  flags.force.Check(flags.out);
  TrainingProgram();  // before the work of packing
  const fs::path folder = fs::path(flags.out).parent_path();
  const UnnamedFile pack_file(folder.empty() ? "." : folder);  // people's speech: nothing is left
  {
    const SpeechPack pack = Pack(flags);
    fmt::print(stderr, "{}\n", PackText(pack));
    WriteSpeechPack(pack_file, pack);
  }
  std::vector<std::string> arguments = {"encoder", "--pack", pack_file.Path().string(), "-o",
                                        flags.out};
  if (flags.force.force) arguments.emplace_back("--force");
  arguments.insert(arguments.end(), passed.begin(), passed.end());
  RunTrainingProgram(arguments, pack_file.Descriptor());
}

void AddCorpora(CLI::App* verb, Flags& flags) {
  verb->add_option("CORPUS", flags.corpora, "Folders, Kaldi data dirs or manifests")->required();
  verb->add_flag("--merge-speakers", flags.merge_speakers,
                 "Take speakers of the same name in several corpora for one person");
  flags.force.Add(*verb);
  verb->add_option("--jobs", flags.jobs, "Recordings decoded at a time")
      ->check(CLI::PositiveNumber);
}

}  // namespace

void RunTrainingProgram(const std::vector<std::string>& arguments, int inherited) {
  const int code = RunProgram(TrainingProgram(), arguments, inherited);
  if (code != 0) throw ExitWith{code};
}

bool HasTrainingProgram() { return fs::exists(TrainingProgramsPlace()); }

void RunTrainingProgramQuietly(const std::vector<std::string>& arguments, const fs::path& said) {
  const int output = ::open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0) throw Error(fmt::format("'{}': {}", said.string(), SystemReason()));
  int code = 1;
  try {
    code = RunProgram(TrainingProgram(), arguments, -1, output);
  } catch (...) {
    ::close(output);
    throw;
  }
  ::close(output);
  if (code == 0) return;
  std::string last = ReadTextFile(said);
  while (!last.empty() && last.back() == '\n') last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  throw Error(fmt::format("the training program failed (exit code {}): {}", code, last));
}

void AddTrain(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "train", "Trains the nets that attack and protect.",
                           "  sotto train encoder corpus/ -o encoder.safetensors --steps=2000\n"
                           "  sotto train pack corpus/ -o corpus.pack");
  verb->require_subcommand(1);
  auto flags = std::make_shared<Flags>();
  CLI::App* encoder = AddVerb(
      *verb, "encoder",
      "Trains a speaker encoder. Trained on a protected corpus it is a semi-informed attacker's, "
      "and its header says for which protection (protect that corpus with --strategy random, so "
      "that each utterance has its own draw). Further flags (--steps=N, --base=FILE, "
      "--device=cuda …) go to the training program: sotto train encoder corpus/ -o x -- --help",
      "  sotto train encoder corpus/ -o encoder.safetensors --steps=2000\n"
      "  sotto train encoder protected/ -o attacker.safetensors --base=encoder.safetensors");
  AddCorpora(encoder, *flags);
  encoder->add_option("-o,--out", flags->out, "The encoder to write (safetensors)")
      ->required()
      ->type_name("FILE");
  encoder->allow_extras();
  encoder->callback([flags, encoder] { TrainEncoderOn(*flags, encoder->remaining()); });

  CLI::App* pack = AddVerb(*verb, "pack",
                           "Writes decoded speech to one file, for training on a machine without "
                           "audio libraries (sotto-train encoder --pack FILE).",
                           "  sotto train pack corpus/ -o corpus.pack\n"
                           "  sotto train pack libri/ pool/ --merge-speakers -o all.pack");
  AddCorpora(pack, *flags);
  pack->add_option("-o,--out", flags->out, "The pack to write")->required()->type_name("FILE");
  pack->callback([flags] {
    flags->force.Check(flags->out);
    const SpeechPack made = Pack(*flags);
    WriteSpeechPack(flags->out, made, flags->force.OnExisting());
    fmt::print("{}: {}\n", flags->out, PackText(made));
  });
  AddTrainNeural(*verb);
  AddTrainHide(*verb);
  AddTrainEntities(*verb);
}

}  // namespace sotto::cli

// sotto protect-embedding IN OUT --method voice-ind|pool|DEFENCE
#include "cli/protect_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/verb_figures.h"

namespace sotto::cli {
namespace {

constexpr const char* kVoiceInd = "voice-ind";
constexpr const char* kPool = "pool";

using Names = std::vector<std::string>;

// Defences that may be given an epsilon, or must.
Names Noisy(bool needed) {
  Names names;
  for (const auto& hider : ProgramHiders().All()) {
    if (hider->Noise() == HiderNoise::kNeeded ||
        (!needed && hider->Noise() == HiderNoise::kOptional)) {
      names.push_back(hider->Name());
    }
  }
  return names;
}

// Defences with a model in the program.
Names WithOwnModel() {
  Names names;
  for (const auto& hider : ProgramHiders().All()) {
    if (!hider->OwnModel().empty()) names.push_back(hider->Name());
  }
  return names;
}

Names Plus(Names first, const Names& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

bool IsOneOf(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Flags {
  ProtectOptions options;
  std::string method, per = "speaker", format = "ark", pool, plda;
  std::string region = "random", gender = "random", distance = "cosine";
  double eps = 0.0;
  VoiceIndOptions voice_ind;
  HiderProtection hider;
  std::size_t n = 0, n_star = 0;
  TargetFlags target;
  ProtectCurveFlags curve;
  bool json = false;
  std::vector<std::pair<const CLI::Option*, Names>> own;  // flags of some methods alone
  const CLI::Option *eps_flag = nullptr, *per_flag = nullptr;

  bool HasEps() const { return eps_flag->count() > 0; }
};

ProtectPer Per(const Flags& flags) {
  return flags.per == "utterance" ? ProtectPer::kUtterance : ProtectPer::kSpeaker;
}

VoiceIndProtection VoiceInd(const Flags& flags) {
  VoiceIndProtection by{flags.pool, flags.voice_ind};
  by.options.eps = flags.eps;
  by.options.per = Per(flags);
  by.options.context = flags.target.context;
  return by;
}

PoolProtection Pool(const Flags& flags) {
  PoolProtection by{flags.pool, {}, flags.plda};
  by.options.region = ProgramPoolRegions().Find(flags.region);
  by.options.gender = ParseTargetGender(flags.gender);
  by.options.per = Per(flags);
  by.options.context = flags.target.context;
  if (flags.n > 0) by.options.n = flags.n;
  if (flags.n_star > 0) by.options.n_star = flags.n_star;
  return by;
}

HiderProtection Hidden(const Flags& flags) {
  HiderProtection by = flags.hider;
  by.method = flags.method;
  if (flags.HasEps()) by.options.eps = flags.eps;
  by.options.per = Per(flags);
  by.options.context = flags.target.context;
  return by;
}

ProtectOptions ToOptions(const Flags& flags) {
  ProtectOptions options = flags.options;
  if (flags.method == kVoiceInd) {
    options.by = VoiceInd(flags);
  } else if (flags.method == kPool) {
    options.by = Pool(flags);
  } else {
    options.by = Hidden(flags);
  }
  options.key_file = flags.target.key_file;
  options.experiment_seed = flags.target.seed;
  options.files.ark = flags.format == "text" ? ArkForm::kText : ArkForm::kBinary;
  options.files.npy = flags.format == "npy";
  options.private_text = [](const ProtectReport& report) {
    return PrivateReport(report, SOTTO_VERSION);
  };
  return options;
}

// Of the methods that draw from a pool.
void CheckPool(const Flags& flags) {
  if (!flags.curve.out.empty()) {
    if (flags.pool.empty()) throw CLI::ValidationError("--curve needs --pool");
    if (flags.voice_ind.assignment_only) {
      throw CLI::ValidationError("--curve excludes --assignment-only");
    }
    return;
  }
  const bool voice_ind = flags.method == kVoiceInd;
  if (voice_ind && !flags.plda.empty()) {
    throw CLI::ValidationError("--distance plda belongs to --method pool, and to --curve");
  }
  if (flags.pool.empty() && !(voice_ind && flags.voice_ind.assignment_only)) {
    throw CLI::ValidationError("--pool is needed: public voices to draw from");
  }
}

void CheckHider(const Flags& flags) {
  if (flags.hider.model.empty() && ProgramHiders().Find(flags.method)->OwnModel().empty()) {
    throw CLI::ValidationError(
        fmt::format("--method {} needs --model: sotto train hide --method {} makes one",
                    flags.method, flags.method));
  }
  if (!flags.curve.out.empty()) {
    if (!IsOneOf(flags.method, Noisy(false))) {
      throw CLI::ValidationError(
          fmt::format("--method {} has no epsilon, so there is no curve: sotto study hiding "
                      "measures it",
                      flags.method));
    }
    if (flags.curve.attack.empty()) {
      throw CLI::ValidationError("--curve needs --curve-attack: what attackers train on");
    }
    return;
  }
  const TargetFlags& target = flags.target;
  const bool draw_flags = target.seed || !target.key_file.empty() || !target.context.empty() ||
                          flags.per_flag->count() > 0;
  if (!flags.HasEps() && draw_flags) {
    throw CLI::ValidationError(
        "--per, --key, --seed and --context belong to draws: without --eps nothing is drawn");
  }
}

void Check(const Flags& flags) {
  for (const auto& [option, methods] : flags.own) {
    if (option->count() == 0 || IsOneOf(flags.method, methods)) continue;
    throw CLI::ValidationError(fmt::format("{} belongs to --method {}; the method here is {}",
                                           option->name(), ListOf(methods), flags.method));
  }
  if (flags.curve.out.empty() == flags.options.out.empty()) {
    throw CLI::ValidationError("give either OUT, or --curve");
  }
  if (!flags.curve.out.empty() && flags.HasEps()) {
    throw CLI::ValidationError("--curve excludes --eps: --curve-eps are its epsilons");
  }
  if ((flags.distance == "plda") == flags.plda.empty()) {
    throw CLI::ValidationError("--plda goes with --distance plda, and the one needs the other");
  }
  if (!flags.HasEps() && flags.curve.out.empty() &&
      IsOneOf(flags.method, Plus({kVoiceInd}, Noisy(true)))) {
    throw CLI::ValidationError(
        fmt::format("{} needs --eps: there is no default epsilon", flags.method));
  }
  if (IsOneOf(flags.method, ProgramHiders().Names())) {
    CheckHider(flags);
  } else {
    CheckPool(flags);
  }
}

void Run(const Flags& flags) {
  Check(flags);
  if (!flags.curve.out.empty()) {
    if (flags.method == kVoiceInd) {
      RunProtectCurve(flags.curve, flags.options.in, VoiceInd(flags), flags.plda, flags.target,
                      flags.json);
    } else {
      RunHidingCurve(flags.curve, flags.options.in, Hidden(flags), flags.target,
                     flags.voice_ind.jobs, flags.json);
    }
    return;
  }
  const ProtectReport report = ProtectEmbeddings(ToOptions(flags), SOTTO_VERSION);
  for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  // On stdout stands what may be released, and nothing else.
  for (const std::string& note : PrivateNotes(report)) {
    fmt::print(stderr, "private, measured, not covered by epsilon: {}\n", note);
  }
  fmt::print("{}", PrintedProtection(report, flags.options.out.string(), flags.json));
}

std::string Ways() {
  std::string ways =
      "How the new voiceprint is found. voice-ind: drawn from a pool, with a bound; pool: averaged "
      "from a pool";
  for (const auto& hider : ProgramHiders().All()) {
    ways += fmt::format("; {}: {}", hider->Name(), hider->Help());
  }
  return ways;
}

void AddMethod(CLI::App& verb, Flags& flags) {
  const Names hiders = ProgramHiders().Names();
  verb.heading("Method");
  verb.add_option("--method", flags.method, Ways())
      ->required()
      ->check(CLI::IsMember(Plus({kVoiceInd, kPool}, hiders)));
  flags.per_flag =
      verb.add_option("--per", flags.per,
                      "Draw once for each speaker, or for each utterance (k utterances cost k "
                      "times epsilon)")
          ->check(CLI::IsMember({"speaker", "utterance"}));
  Names with_eps = Plus({kVoiceInd}, Noisy(false));
  flags.eps_flag =
      verb.add_option(
              "--eps,--epsilon", flags.eps,
              fmt::format(
                  "Epsilon of each draw, no default: of voice-ind for the two most "
                  "distant voices, of {} for the coordinates that get noise "
                  "(without it: no noise{})",
                  ListOf(Noisy(false), "and"),
                  Noisy(true).empty() ? "" : "; " + ListOf(Noisy(true), "and") + " must have it"))
          ->default_str("");
  flags.own.emplace_back(flags.eps_flag, std::move(with_eps));
  verb.heading("With --method " + ListOf(hiders));
  flags.own.emplace_back(
      verb.add_option("--model", flags.hider.model,
                      fmt::format("The model of the defence (sotto train hide), fitted to "
                                  "voiceprints of the same encoder; default with {}: the "
                                  "program's own, for gender",
                                  ListOf(WithOwnModel())))
          ->type_name("FILE"),
      hiders);
  flags.own.emplace_back(
      verb.add_option("--labels", flags.hider.labels,
                      "A table with the columns speaker and those of the attributes, for a defence "
                      "that asks for the owner's; default: the genders of IN")
          ->type_name("TSV"),
      hiders);
}

void AddPools(CLI::App& verb, Flags& flags) {
  const Names both = {kVoiceInd, kPool}, voice_ind = {kVoiceInd}, pool = {kPool};
  verb.heading("With --method voice-ind or pool");
  flags.own.emplace_back(
      verb.add_option(
              "--pool", flags.pool,
              "Public voices of other people: a folder of embeddings, or a file with one vector "
              "per speaker")
          ->type_name("DIR|FILE"),
      both);
  verb.add_option("--distance", flags.distance, "How voices are compared")
      ->check(CLI::IsMember({"cosine", "plda"}));
  flags.own.emplace_back(
      verb.add_option("--plda", flags.plda,
                      "A folder with Kaldi's mean.vec, plda and (optional) transform.mat")
          ->type_name("DIR"),
      both);
  verb.heading("With --method voice-ind");
  flags.own.emplace_back(
      verb.add_flag("--assignment-only", flags.voice_ind.assignment_only,
                    "Accept protected speakers as candidates (without --pool they are the "
                    "candidates); then only who got which voice is hidden"),
      voice_ind);
  verb.heading("With --method pool");
  flags.own.emplace_back(
      verb.add_option(
              "--region", flags.region,
              "Where in the pool voices are taken from; farthest and nearest give the source away")
          ->check(CLI::IsMember(ProgramPoolRegions().Names())),
      pool);
  flags.own.emplace_back(
      verb.add_option("--gender", flags.gender, "Gender of the voices, compared with the speaker's")
          ->check(CLI::IsMember({kTargetGenders.begin(), kTargetGenders.end()})),
      pool);
  flags.own.emplace_back(
      verb.add_option("--N", flags.n,
                      "Voices in the region; default: 200, or half the pool where that is fewer")
          ->default_str("")
          ->check(CLI::PositiveNumber),
      pool);
  flags.own.emplace_back(verb.add_option("--N-star", flags.n_star,
                                         "Voices of the region that are averaged; default: N/2")
                             ->default_str("")
                             ->check(CLI::PositiveNumber),
                         pool);
}

void AddCurve(CLI::App& verb, Flags& flags) {
  verb.heading("Curves against epsilon");
  for (const auto& flag : flags.curve.Add(verb)) {
    Names methods;
    if (flag.voice_ind) methods = {kVoiceInd};
    if (flag.defence) methods = Plus(methods, ProgramHiders().Names());
    flags.own.emplace_back(flag.option, std::move(methods));
  }
}

}  // namespace

void AddProtectEmbedding(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "protect-embedding",
      "Replaces voiceprints with others. voice-ind draws one from a public pool with a proven "
      "bound (epsilon times the angular distance); pool averages voices of the pool (the "
      "VoicePrivacy baseline B1, without a formal bound). The other methods hide attributes of the "
      "speaker (gender, age group, accent) and keep who it is, by a model of sotto train hide.",
      "  sotto protect-embedding embeddings/ protected/ --method voice-ind --pool pool/ --eps 5\n"
      "  sotto protect-embedding embeddings/ protected/ --method pool --pool pool/ --gender same\n"
      "  sotto protect-embedding embeddings/ protected/ --method gender-aae --model "
      "aae.safetensors --eps 15 --key owner.key\n"
      "  sotto protect-embedding embeddings/ --method voice-ind --pool pool/ --curve curves/\n"
      "  sotto protect-embedding embeddings/ --method gender-aae --model aae.safetensors --curve "
      "curves/ --curve-attack others/");
  auto flags = verb->runs(Run);
  ProtectOptions& o = flags->options;
  flags->voice_ind.jobs = DefaultJobs();
  verb->add_option("IN", o.in, "Embeddings: a folder from sotto embed, or .ark, .scp, .npy")
      ->required();
  verb->add_option("OUT", o.out, "A new folder");
  AddMethod(*verb, *flags);
  AddPools(*verb, *flags);
  AddCurve(*verb, *flags);
  verb->heading("Targets and key");
  flags->target.Add(*verb);
  verb->heading("Output");
  verb->add_option(
          "--format", flags->format,
          "Write binary Kaldi archives (ark), text archives (text), or binary ones and xvector.npy "
          "with ids (npy)")
      ->check(CLI::IsMember({"ark", "text", "npy"}));
  CLI::Option* report =
      verb->add_option("--private-report", o.private_report,
                       "Write what was measured on the voiceprints (the check of the bound, the "
                       "expected distance) to a new file, mode 0600, outside OUT: epsilon does not "
                       "cover it")
          ->type_name("FILE")
          ->excludes("--curve");
  flags->own.emplace_back(report, Names{kVoiceInd, kPool});
  verb->add_flag("--json", flags->json, "Print the run record, as released, or the curve as JSON");
  verb->heading("Run");
  verb->add_option("--jobs", flags->voice_ind.jobs, "Threads")->check(CLI::PositiveNumber);
}

}  // namespace sotto::cli

// sotto dp account|calibrate|laplace|gaussian|rr|exponential|audit|kanon
#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "cli/verbs.h"
#include "dp/account.h"
#include "dp/audit.h"
#include "dp/parameters.h"
#include "dp/syntactic.h"
#include "dp/table_release.h"
#include "report/dp_figures.h"

namespace sotto::cli {
namespace {

// A weak epsilon is warned about on stderr, in words.
void WarnOfEpsilon(double eps) {
  const std::string warning = EpsilonWarning(eps);
  if (!warning.empty()) fmt::print(stderr, "warning: {}\n", warning);
}

// account: epsilon of a composition, by RDP and PLD, and what it allows.
// calibrate: the noise for an epsilon.
struct AccountFlags {
  std::string mechanism = "gaussian";
  double q = 1.0;
  double noise = 0.0;
  double epsilon = 0.0;
  std::uint64_t steps = 1;
  double delta = 0.0;
  bool json = false;
};

PrivacyEvent EventOf(const AccountFlags& flags) {
  if (flags.mechanism == "gaussian") {
    return PrivacyEvent::SubsampledGaussian(flags.q, flags.noise, flags.steps);
  }
  PrivacyEvent event = flags.mechanism == "laplace" ? PrivacyEvent::Laplace(flags.epsilon)
                                                    : PrivacyEvent::Pure(flags.epsilon, "pure");
  event.count = flags.steps;
  return event;
}

void RunAccount(const AccountFlags& flags) {
  const PrivacyEvent event = EventOf(flags);
  CheckUsage([&] {
    CheckDelta(flags.delta);
    event.Validate();
  });
  const Account account = MakeAccount(event, flags.delta);
  fmt::print("{}", PrintedAccount(account, flags.json));
  WarnOfEpsilon(account.Epsilon());
}

struct CalibrateFlags {
  NoiseWish wish;
  std::string accountant = "pld";
  bool json = false;
};

void RunCalibrate(CalibrateFlags& flags) {
  NoiseWish& wish = flags.wish;
  wish.renyi = flags.accountant == "rdp";
  CheckUsage([&] { wish.Validate(); });
  if (wish.q != 1.0 && !(wish.delta > 0.0)) {
    throw CLI::ValidationError("subsampling needs --delta");
  }
  const WishedNoise noise = NoiseFor(wish);
  fmt::print("{}", PrintedNoise(wish, noise, flags.json));
  WarnOfEpsilon(wish.epsilon);
}

void AddDpAccount(CLI::App& dp) {
  auto flags = std::make_shared<AccountFlags>();
  CLI::App* account = AddVerb(
      dp, "account",
      "Computes epsilon of a mechanism used many times, and what it allows an attacker.",
      "  sotto dp account --q 0.00427 --noise 1.1 --steps 14062 --delta 1e-5\n"
      "  sotto dp account --mechanism laplace --epsilon 0.1 --steps 100 --delta 1e-6 --json");
  account->add_option("--mechanism", flags->mechanism, "What is used in each step")
      ->check(CLI::IsMember({"gaussian", "laplace", "pure"}));
  account->add_option("--q", flags->q,
                      "For gaussian: probability that a record is in a step (Poisson sampling)");
  CLI::Option* noise = account
                           ->add_option("--noise", flags->noise,
                                        "For gaussian: sigma divided by the L2 sensitivity (clip)")
                           ->default_str("");
  CLI::Option* epsilon =
      account->add_option("--epsilon", flags->epsilon, "For laplace and pure: epsilon of one step")
          ->default_str("")
          ->excludes(noise);
  account->add_option("--steps", flags->steps, "Number of steps")->check(CLI::PositiveNumber);
  account->add_option("--delta", flags->delta, "Delta for which epsilon is stated")->required();
  account->add_flag("--json", flags->json, "Print as JSON");
  account->callback([flags, noise, epsilon] {
    const bool gaussian = flags->mechanism == "gaussian";
    if (gaussian && noise->count() == 0) throw CLI::ValidationError("gaussian needs --noise");
    if (!gaussian && epsilon->count() == 0) {
      throw CLI::ValidationError(flags->mechanism + " needs --epsilon");
    }
    RunAccount(*flags);
  });

  CLI::App* calibrate =
      AddVerb(dp, "calibrate", "Finds the noise that gives a wanted epsilon.",
              "  sotto dp calibrate --epsilon 1 --delta 1e-5 --sensitivity 2\n"
              "  sotto dp calibrate --epsilon 2 --delta 1e-5 --q 0.00427 --steps 14062 --json");
  auto asked = calibrate->runs(RunCalibrate);
  NoiseWish& wish = asked->wish;
  calibrate->add_option("--epsilon", wish.epsilon, "Epsilon that is wanted for all steps together")
      ->required();
  calibrate->add_option("--delta", wish.delta, "Delta; 0 for Laplace noise alone");
  calibrate->add_option("--q", wish.q, "Probability that a record is in a step (Poisson sampling)");
  calibrate->add_option("--steps", wish.steps, "Number of steps")->check(CLI::PositiveNumber);
  calibrate->add_option(
      "--sensitivity", wish.sensitivity,
      "How far one person can move the value: L2 for Gaussian, L1 for Laplace noise");
  calibrate->add_option("--accountant", asked->accountant, "Accountant, where records are sampled")
      ->check(CLI::IsMember({"pld", "rdp"}));
  calibrate->add_flag("--json", asked->json, "Print as JSON");
}

// laplace|gaussian|rr|exponential TABLE: a noisy release of columns of a table of people.
struct ReleaseFlags {
  std::string table, out;
  std::string release = "values";
  TableReleaseOptions options;
  ForceFlag force;
  bool json = false;
};

void RunRelease(ReleaseFlags& flags, const std::string& mechanism) {
  flags.options.mechanism = ParseTableMechanism(mechanism);
  flags.options.statistic = ParseTableStatistic(flags.release);
  CheckUsage([&] { flags.options.Validate(); });
  flags.force.Check(flags.out);
  const CsvTable table = ParseCsv(ReadTextFile(flags.table), flags.table);
  SecureBits bits;
  const TableRelease release = ReleaseTable(table, flags.options, flags.table, bits);
  const std::string text = TableReleaseText(release);
  if (!flags.out.empty()) {
    WriteFileAtomically(flags.out, text, {.if_exists = flags.force.OnExisting()});
  }
  if (flags.json) {
    fmt::print("{}", TableReleaseJson(release, flags.options, flags.out));
  } else if (flags.out.empty() || !release.HasTable()) {
    fmt::print("{}", text);
  }
  fmt::print(stderr, "{}", TableReleaseNote(release, flags.options));
  WarnOfEpsilon(flags.options.eps);
}

void AddOne(CLI::App& dp, const std::string& name, const std::string& description,
            const std::string& examples) {
  auto flags = std::make_shared<ReleaseFlags>();
  CLI::App* verb = AddVerb(dp, name,
                           description +
                               " It needs to know whose privacy is protected (--id-column and "
                               "--max-contributions) and public bounds of the values.",
                           examples);
  TableReleaseOptions& options = flags->options;
  verb->add_option("TABLE", flags->table, "CSV or TSV with a header, one row per record")
      ->required();
  verb->heading("Columns");
  verb->add_option("--column", options.columns,
                   "Column to release; repeat it to divide epsilon among several")
      ->required()
      ->allow_extra_args(false);
  verb->add_option("--id-column", options.id_column, "Column that names the person of a row")
      ->required();
  verb->add_option("--max-contributions", options.max_contributions,
                   "Rows of one person that count; further ones are left out at random")
      ->required()
      ->check(CLI::PositiveNumber);
  verb->heading("Public bounds");
  CLI::Option* lower =
      verb->add_option(
              "--lower", options.lower,
              "Smallest value, chosen without looking at the data; values outside are clamped")
          ->allow_extra_args(false);
  CLI::Option* upper =
      verb->add_option("--upper", options.upper, "Largest value")->allow_extra_args(false);
  if (name == "rr" || name == "exponential") {
    verb->add_option("--categories", options.categories,
                     "All possible values, separated by commas, in place of --lower and --upper")
        ->delimiter(',')
        ->excludes(lower)
        ->excludes(upper);
  }
  verb->heading("Privacy");
  verb->add_option("--epsilon", options.eps, "Epsilon of all that is released about one person")
      ->required();
  if (name == "gaussian") {
    verb->add_option("--delta", options.delta, "Probability that the guarantee does not hold")
        ->required();
  }
  verb->heading("Output");
  if (name == "laplace" || name == "gaussian") {
    verb->add_option("--release", flags->release,
                     "Release every value with noise, or one noisy number for the column")
        ->check(CLI::IsMember({"values", "sum", "mean", "count"}));
  }
  if (name == "exponential") {
    verb->add_option("--quantile", options.quantile,
                     "Quantile of a column of numbers; 0.5 is the median")
        ->check(CLI::Range(0.0, 1.0));
    verb->add_option("--candidates", options.candidates, "Number of points from which it is chosen")
        ->check(CLI::PositiveNumber);
  } else {
    verb->add_option("--keep", options.keep, "Copy this column too, unprotected; may be repeated")
        ->allow_extra_args(false);
    verb->add_option("-o,--out", flags->out, "File for the table; default: standard output",
                     "FILE");
    flags->force.Add(*verb);
  }
  verb->add_flag("--json", flags->json, "Print as JSON");
  verb->callback([flags, name, lower, upper] {
    if (flags->options.categories.empty() && (lower->count() == 0 || upper->count() == 0)) {
      throw CLI::ValidationError(
          "--lower and --upper are needed: without public bounds one person can move the result "
          "without limit");
    }
    RunRelease(*flags, name);
  });
}

void AddDpRelease(CLI::App& dp) {
  const std::string unit = " --id-column speaker --max-contributions 1 --epsilon 1";
  const std::string age = " speakers.csv --column age --lower 18 --upper 90" + unit;
  AddOne(dp, "laplace", "Adds Laplace noise to columns of numbers.",
         "  sotto dp laplace" + age + " -o noisy.csv\n  sotto dp laplace" + age +
             " --release mean --json");
  AddOne(dp, "gaussian", "Adds Gaussian noise to columns of numbers (analytic calibration).",
         "  sotto dp gaussian" + age + " --delta 1e-6 --release mean\n  sotto dp gaussian" + age +
             " --delta 1e-6 -o noisy.csv");
  AddOne(dp, "rr", "Applies randomised response to columns of categories.",
         "  sotto dp rr speakers.csv --column gender --categories F,M" + unit +
             " -o noisy.csv\n  sotto dp rr speakers.csv --column decade --lower 1 --upper 9" +
             unit);
  AddOne(dp, "exponential",
         "Releases a quantile, or the most frequent category, by the exponential mechanism.",
         "  sotto dp exponential" + age +
             " --quantile 0.5\n  sotto dp exponential speakers.csv --column accent --categories "
             "us,england,india" +
             unit);
}

// audit: the epsilon that an attack's success refutes.
struct AuditFlags {
  OneRunAudit one;
  ManyRunAudit many;
  AuditFinding finding;
  bool json = false;
};

void RunAudit(AuditFlags& flags) {
  AuditFinding& finding = flags.finding;
  flags.one.delta = flags.many.delta = finding.delta;
  CheckUsage([&] {
    finding.eps_lower = finding.one_run ? OneRunEpsilon(flags.one, finding.error)
                                        : ManyRunEpsilon(flags.many, finding.error);
  });
  fmt::print("{}", PrintedAudit(finding, flags.json));
  if (finding.Refuted()) throw ExitWith{1};
}

void AddDpAudit(CLI::App& dp) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* verb = AddVerb(
      dp, "audit",
      "Computes a lower bound on epsilon from what an attack reached. The exit code is 1 when it "
      "refutes --claimed.",
      "  sotto dp audit --examples 1000 --guesses 100 --correct 95 --delta 1e-5\n"
      "  sotto dp audit --runs-in 500 --hits 450 --runs-out 500 --false-alarms 30 --claimed 1");
  const auto count = [&](const char* name, std::uint64_t& value, const char* help) {
    return verb->add_option(name, value, help)->default_str("");
  };
  verb->heading("One run");
  auto* examples =
      count("--examples", flags->one.examples, "Examples, each included with probability one half");
  auto* guesses = count("--guesses", flags->one.guesses, "Guesses made")->needs(examples);
  auto* correct = count("--correct", flags->one.correct, "Guesses that were right")->needs(guesses);
  verb->heading("Many runs");
  auto* runs_in = count("--runs-in", flags->many.runs_in, "Runs trained with the record");
  runs_in->excludes(examples);
  auto* hits = count("--hits", flags->many.hits, "Of these, judged \"in\"")->needs(runs_in);
  auto* runs_out = count("--runs-out", flags->many.runs_out, "Runs trained without the record");
  auto* alarms = count("--false-alarms", flags->many.false_alarms, "Of these, judged \"in\"");
  runs_out->needs(runs_in);
  alarms->needs(runs_out);
  verb->heading("The claim");
  verb->add_option("--delta", flags->finding.delta, "Delta of the claim");
  verb->add_option("--error", flags->finding.error, "Probability that the bound is wrong");
  verb->add_option("--claimed", flags->finding.claimed, "The epsilon that is claimed");
  verb->heading("Output");
  verb->add_flag("--json", flags->json, "Print as JSON");
  verb->callback([=] {
    const bool one = examples->count() > 0;
    const bool complete = one ? guesses->count() > 0 && correct->count() > 0
                              : runs_in->count() > 0 && hits->count() > 0 &&
                                    runs_out->count() > 0 && alarms->count() > 0;
    if (!complete) {
      throw CLI::ValidationError(
          "give --examples, --guesses and --correct, or --runs-in, --hits, --runs-out and "
          "--false-alarms");
    }
    flags->finding.one_run = one;
    RunAudit(*flags);
  });
}

// kanon TABLE: k-anonymity, l-diversity, t-closeness, and the rows that break them.
struct KanonFlags {
  std::string table;
  SyntacticOptions options;
  std::size_t show = 10;
  bool json = false;
};

void RunKanon(const KanonFlags& flags) {
  if (flags.options.sensitive.empty() && (flags.options.l || flags.options.t)) {
    throw CLI::ValidationError("--l and --t need --sensitive");
  }
  const CsvTable table = ParseCsv(ReadTextFile(flags.table), flags.table);
  const SyntacticResult result = CheckSyntactic(table, flags.options, flags.table);
  fmt::print("{}", PrintedSyntactic(result, table, flags.options, flags.show, flags.json));
  if (!result.breaking_rows.empty()) throw ExitWith{1};
}

void AddDpKanon(CLI::App& dp) {
  CLI::App* verb = AddVerb(
      dp, "kanon",
      "Measures k-anonymity, l-diversity and t-closeness of a table. The exit code is 1 when the "
      "table breaks what is asked for.",
      "  sotto dp kanon speakers.csv --quasi gender,age,accent --k 5 --id-column speaker\n"
      "  sotto dp kanon speakers.csv --quasi gender,age --sensitive illness --k 3 --l 2 --t 0.3 "
      "--json");
  auto flags = verb->runs(RunKanon);
  verb->add_option("TABLE", flags->table, "CSV or TSV with a header")->required();
  verb->heading("Columns");
  verb->add_option("--quasi", flags->options.quasi_identifiers,
                   "Columns that others may know about a person, separated by commas")
      ->required()
      ->delimiter(',');
  verb->add_option("--sensitive", flags->options.sensitive, "Column that must stay unknown");
  verb->add_option(
      "--id-column", flags->options.id,
      "Column that names the person, so that groups are counted in people, not in rows");
  verb->heading("Figures");
  verb->add_option("--k", flags->options.k, "Least number of people in a group")
      ->check(CLI::PositiveNumber);
  verb->add_option("--l", flags->options.l, "Least number of distinct sensitive values in a group");
  verb->add_option("--t", flags->options.t,
                   "Largest distance of a group's sensitive values from those of the whole table");
  verb->heading("Output");
  verb->add_option("--show", flags->show, "Number of groups to list");
  verb->add_flag("--json", flags->json, "Print as JSON");
}

}  // namespace

void AddDp(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "dp",
      "Differential privacy: what a mechanism costs and allows, noise on tables, audits.",
      "  sotto dp account --q 0.00427 --noise 1.1 --steps 14062 --delta 1e-5\n"
      "  sotto dp laplace speakers.csv --column age --lower 18 --upper 90 --id-column speaker \\\n"
      "      --max-contributions 1 --epsilon 1 --release mean");
  verb->require_subcommand(1);
  AddDpAccount(*verb);
  AddDpRelease(*verb);
  AddDpAudit(*verb);
  AddDpKanon(*verb);
}

}  // namespace sotto::cli

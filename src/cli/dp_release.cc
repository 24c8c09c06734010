// sotto dp laplace|gaussian|rr|exponential TABLE: a noisy release of columns of a table of people.
#include <fmt/format.h>

#include <memory>

#include "base/files.h"
#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/table_release.h"
#include "report/dp_figures.h"

namespace sotto::cli {
namespace {

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
          ->allow_extra_args(false)
          ->default_str("");
  CLI::Option* upper = verb->add_option("--upper", options.upper, "Largest value")
                           ->allow_extra_args(false)
                           ->default_str("");
  if (name == "rr" || name == "exponential") {
    verb->add_option("--categories", options.categories,
                     "All possible values, separated by commas, in place of --lower and --upper")
        ->delimiter(',')
        ->default_str("")
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
        ->allow_extra_args(false)
        ->default_str("");
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

}  // namespace

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

}  // namespace sotto::cli

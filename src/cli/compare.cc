// sotto compare ORIGINAL PROTECTED [PROTECTED ...]
#include "report/compare.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parallel.h"
#include "cli/verbs.h"
#include "report/assess_page.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string original, page;
  std::vector<std::string> runs;
  std::vector<std::string> released;
  std::size_t players = 8;
  int jobs = DefaultJobs();
  bool json = false;
};

nlohmann::ordered_json Number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void PrintJson(const std::vector<ComparedCopy>& copies) {
  auto json = nlohmann::ordered_json::array();
  for (const ComparedCopy& copy : copies) {
    for (const ComparedPair& pair : copy.pairs) {
      nlohmann::ordered_json row = {{"id", pair.id},
                                    {"speaker", pair.speaker},
                                    {"seconds", pair.seconds},
                                    {"level_change_db", pair.level_change_db}};
      if (copies.size() > 1) row["protected"] = copy.name;
      row["f0_hz"] = {Number(pair.before.median_f0_hz), Number(pair.after.median_f0_hz)};
      for (std::size_t k = 0; k < 3; ++k) {
        row[fmt::format("f{}_hz", k + 1)] = {Number(pair.before.formant_hz[k]),
                                             Number(pair.after.formant_hz[k])};
      }
      json.push_back(row);
    }
  }
  fmt::print("{}\n", DumpJson(json, 2));
}

void Print(const std::vector<ComparedCopy>& copies) {
  const auto percent = [](const std::optional<double>& before, const std::optional<double>& after) {
    const auto change = ChangePercent(before, after);
    return change ? fmt::format("{:+.1f} %", *change) : std::string("-");
  };
  for (const ComparedCopy& copy : copies) {
    fmt::print("{:<32} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
               copies.size() == 1 ? "recording" : copy.name, "seconds", "level", "F0", "F1", "F2",
               "F3");
    for (const ComparedPair& pair : copy.pairs) {
      fmt::print("{:<32} {:>8.2f} {:>+6.2f} dB", pair.id, pair.seconds, pair.level_change_db);
      fmt::print(" {:>9}", percent(pair.before.median_f0_hz, pair.after.median_f0_hz));
      for (std::size_t k = 0; k < 3; ++k) {
        fmt::print(" {:>9}", percent(pair.before.formant_hz[k], pair.after.formant_hz[k]));
      }
      fmt::print("\n");
    }
  }
}

double Speed(const std::string& run) {
  const auto json = TryParseJson(ReadTextFile(run));
  if (!json.is_object() || !json.contains("times_real_time") ||
      !json["times_real_time"].is_number()) {
    throw Error(fmt::format("'{}' is no output of sotto anonymise --json", run));
  }
  return json["times_real_time"].get<double>();
}

}  // namespace

void AddCompare(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = AddVerb(
      app, "compare",
      "Measures what a protection did to recordings (level, pitch, formants) and makes a page "
      "with\n"
      "players and spectrograms side by side. It runs no attacker: it says nothing about privacy.",
      "  sotto compare recordings/ mcadams/ voicemask/ vtln/ --page compare.html\n"
      "  sotto compare interview.wav protected.wav --json");
  verb->add_option("ORIGINAL", flags->original, "Sound file or corpus")->required();
  verb->add_option("PROTECTED", flags->released, "Its protected copies, ids kept")
      ->required()
      ->expected(1, -1);
  verb->add_option("--page", flags->page, "Write this page")->type_name("OUT.html");
  verb->add_option("--players", flags->players, "Recordings with players on the page");
  verb->add_option("--run", flags->runs,
                   "Output of sotto anonymise --json, for the speed; once for each copy")
      ->type_name("FILE");
  verb->add_option("--jobs", flags->jobs, "Recordings at a time")->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print the figures as JSON");
  verb->callback([flags] {
    const auto copies = CompareCopies(
        flags->original, {flags->released.begin(), flags->released.end()}, flags->jobs);
    if (!flags->page.empty()) {
      ComparePageOptions options{flags->page, flags->players, {}};
      for (const std::string& run : flags->runs) options.times_real_time.push_back(Speed(run));
      WritePage(flags->page, ComparePage(copies, options));
    }
    flags->json ? PrintJson(copies) : Print(copies);
  });
}

}  // namespace sotto::cli

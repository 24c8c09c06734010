#include "cli/redact_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/files.h"
#include "cli/verbs.h"
#include "text/missed_shares.h"
#include "text/tagger.h"

namespace sotto::cli {
namespace {

std::array<bool, kEntityTypes> Marked(const std::vector<std::string>& names) {
  std::array<bool, kEntityTypes> marked{};
  for (const std::string& name : names) {
    marked[static_cast<std::size_t>(ParseEntityType(name))] = true;
  }
  return marked;
}

// A foreign model has no table of what it misses.
bool IsForeign(const std::filesystem::path& model) { return model.extension() == ".onnx"; }

}  // namespace

void RedactFlags::Add(CLI::App& verb) {
  verb.heading("What is looked for");
  verb.add_option("--types", types,
                  fmt::format("Types of entities to replace, of {}; default: all",
                              fmt::join(kEntityNames, ", ")),
                  "TYPE,…")
      ->delimiter(',');
  verb.add_option("--keep-types", keep_types, "Types that stay", "TYPE,…")->delimiter(',');
  verb.add_option("--words", words,
                  "Own words and phrases, one a line, which are always replaced by [WORD]: whole "
                  "words, in any case, across punctuation",
                  "FILE");
  verb.add_option("--recall", recall,
                  "The share of entities to be found, by the threshold that reached it on held-out "
                  "text; more of the other words go with them. Default: as probable as not",
                  "R");
  verb.add_option(
      "--model", model,
      "The tagger: a model of sotto train entities, or a foreign one (ONNX, docs/models.md); "
      "default: the program's own",
      "FILE");
  AddTrustFlag(verb, trust_models);
  verb.heading("What takes its place");
  verb.add_option("--with", with, "A placeholder ([PER]) or a surrogate of the same type")
      ->check(CLI::IsMember({"placeholder", "surrogate"}));
  verb.add_option("--p", p,
                  "The probability that an entity is replaced by a surrogate, 0 to 1; below 1 "
                  "epsilon is above 0 (docs/words.md)",
                  "P");
  verb.add_option("--surrogates", surrogates,
                  "Surrogates to draw from (sotto build text); default: the program's own", "FILE");
  verb.add_flag("--keep-gender", keep_gender, "Surrogates keep, and tell, the first name's gender");
  verb.add_flag("--keep-format", keep_format,
                "Surrogates keep, and tell, the form: words, capitals, digits, checksums");
  verb.add_flag(
      "--dialogue", dialogue,
      "One surrogate for all mentions of an entity in a file (or in what --dialogue-field "
      "names); it tells which mentions are of one entity and costs epsilon once");
}

ReplacementOptions RedactFlags::Options() const {
  ReplacementOptions options;
  const bool drawn = with == "surrogate";
  options.with = drawn ? ReplaceWith::kSurrogate : ReplaceWith::kPlaceholder;
  options.p = Chance::Parse(p, "--p");
  options.consistent = dialogue;
  options.keep_gender = keep_gender;
  options.keep_format = keep_format;
  if (!types.empty()) options.types = Marked(types);
  const auto kept = Marked(keep_types);
  for (std::size_t i = 0; i < kEntityTypes; ++i) {
    if (kept[i]) options.types[i] = false;
  }
  if (!drawn && !options.p.IsOne()) {
    throw Error(
        "--p: below 1 only with --with surrogate: an entity that stays among placeholders "
        "is told with certainty");
  }
  if (!drawn && (keep_gender || keep_format || dialogue || !surrogates.empty())) {
    throw Error(
        "--keep-gender, --keep-format, --dialogue and --surrogates belong to --with "
        "surrogate");
  }
  const bool any =
      std::find(options.types.begin(), options.types.end(), true) != options.types.end();
  if (!any && words.empty()) throw Error("--keep-types: nothing is left to be replaced");
  return options;
}

RedactParts RedactFlags::Parts(const Key& key) const {
  RedactParts parts;
  parts.report.options = Options();
  if (!words.empty()) {
    parts.words = std::make_unique<OwnWords>(OwnWords::Read(words));
    parts.report.has_own_words = true;
  }
  if (!surrogates.empty()) {
    parts.own_surrogates = std::make_unique<Surrogates>(ReadSurrogates(surrogates));
  }
  const Surrogates& drawn_from =
      parts.own_surrogates != nullptr ? *parts.own_surrogates : ProgramSurrogates();
  parts.replacer = std::make_unique<Replacer>(drawn_from, parts.report.options, key);
  if (parts.report.options.with == ReplaceWith::kSurrogate) {
    parts.report.surrogates = drawn_from.Source();
    parts.report.surrogates_fingerprint = ContentDigest(SurrogatesText(drawn_from));
  }
  FinderOptions finder;
  finder.model = model;
  finder.recall = recall;
  finder.trust_models = trust_models;
  parts.finder = MakeEntityFinder(finder);
  parts.report.recall = recall;
  parts.report.finder = model.empty() ? "the program's own" : "given";
  MissedShares missed{};
  if (IsForeign(model)) {
    parts.report.model_fingerprint = FileDigest(model);
  } else {
    const TaggerModel tagger = model.empty() ? ProgramTagger()->Model() : ReadTaggerModel(model);
    parts.report.model_fingerprint = ContentDigest(tagger.Serialise());
    missed = MissedBy(tagger, recall);
  }
  parts.report.epsilon = StateEpsilon(*parts.replacer, missed);
  return parts;
}

}  // namespace sotto::cli

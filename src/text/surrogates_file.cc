// The file of surrogates, read strictly: what is not understood is refused, by its line.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/tsv.h"
#include "text/surrogates.h"

namespace sotto {

extern const std::string_view kProgramSurrogatesBytes;  // models/surrogates.tsv

namespace {

constexpr std::string_view kFirstLine = "sotto-surrogates\t1";
constexpr std::string_view kHeader = "kind\tname\tgender\tcount\ttext";
constexpr std::uint64_t kLargestPack = 64 << 20;

// A number from 1 on, without a sign or zeros before it.
std::uint64_t ParseCount(std::string_view text, const std::string& where) {
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc() || end != text.data() + text.size() || text.front() == '0') {
    throw Error(where + ": a whole number from 1 on is allowed");
  }
  return count;
}

Gender ParsePackGender(std::string_view text, const std::string& where) {
  if (text == "-") return Gender::kUnknown;
  if (text == "F") return Gender::kFemale;
  if (text == "M") return Gender::kMale;
  throw Error(where + ": gender: F, M or - is allowed");
}

// What follows "name<TAB>".
std::string_view Headed(std::string_view line, std::string_view name, const std::string& where) {
  const bool fits = line.substr(0, name.size()) == name && line.size() > name.size() + 1 &&
                    line[name.size()] == '\t' &&
                    line.find('\t', name.size() + 1) == std::string_view::npos;
  if (!fits) throw Error(fmt::format("{}: '{}', a tab and a value are expected", where, name));
  return line.substr(name.size() + 1);
}

}  // namespace

Surrogates ParseSurrogates(std::string_view text, const std::string& where) {
  const auto lines = SplitLines(text);
  const auto place = [&where](std::size_t i) { return fmt::format("{}: line {}", where, i + 1); };
  if (lines.empty() || lines[0] != kFirstLine) {
    throw Error(fmt::format("{}: no file of surrogates of version 1 (sotto build text)", where));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (FindUnclean(lines[i]) != std::string_view::npos) {
      throw Error(place(i) + ": UTF-8 without control characters is allowed");
    }
  }
  if (lines.size() < 4 || lines[3] != kHeader) {
    throw Error(fmt::format("{}: line 4: the columns are kind, name, gender, count, text", where));
  }
  const std::string source(Headed(lines[1], "source", place(1)));
  const std::uint64_t min_count =
      ParseCount(Headed(lines[2], "min_count", place(2)), place(2) + ": min_count");
  std::vector<Surrogates::Row> rows;
  rows.reserve(lines.size() - 4);
  for (std::size_t i = 4; i < lines.size(); ++i) {
    const auto fields = SplitTabs(lines[i]);
    if (fields.size() != 5) {
      throw Error(fmt::format("{}: {} fields; 5 are expected", place(i), fields.size()));
    }
    if (fields[0] != "word" && fields[0] != "form" && fields[0] != "part") {
      throw Error(place(i) + ": kind: word, form or part is allowed");
    }
    if (fields[0] != "part" &&
        std::find(kEntityNames.begin(), kEntityNames.end(), fields[1]) == kEntityNames.end()) {
      throw Error(place(i) + ": name: a type of entity is expected, as PER");
    }
    if (fields[3].empty()) throw Error(place(i) + ": count: a number is expected");
    rows.push_back({std::string(fields[0]), std::string(fields[1]),
                    ParsePackGender(fields[2], place(i)),
                    ParseCount(fields[3], place(i) + ": count"), std::string(fields[4])});
  }
  return {source, min_count, std::move(rows), where};
}

Surrogates ReadSurrogates(const std::filesystem::path& path) {
  return ParseSurrogates(ReadTextFile(path, kLargestPack), path.string());
}

std::string SurrogatesText(const Surrogates& surrogates) {
  std::string text = fmt::format("{}\nsource\t{}\nmin_count\t{}\n{}\n", kFirstLine,
                                 surrogates.Source(), surrogates.MinCount(), kHeader);
  for (const auto& row : surrogates.Rows()) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\n", row.kind, row.name, Name(row.gender, "-"),
                        row.count, row.text);
  }
  return text;
}

const Surrogates& ProgramSurrogates() {
  static const Surrogates surrogates =
      ParseSurrogates(kProgramSurrogatesBytes, "the program's surrogates");
  return surrogates;
}

}  // namespace sotto

#include "text/gazetteers.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/tsv.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kIndexBits = 16;

void AddLines(const fs::path& path, std::vector<std::string>& names) {
  if (!fs::exists(path)) return;
  const std::string text = ReadTextFile(path);
  for (auto line : SplitLines(text)) {
    if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (!line.empty()) names.emplace_back(line);
  }
}

void AddJson(const fs::path& path, std::vector<std::string>& names) {
  if (!fs::exists(path)) return;
  try {
    for (const auto& name : ParseJson(ReadTextFile(path))) names.push_back(name);
  } catch (const nlohmann::json::exception& thrown) {
    throw Error(path.string() + ": " + JsonTrouble(thrown));
  }
}

void Unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

void AddPlaces(const fs::path& path, NameLists& lists) {
  if (!fs::exists(path)) return;
  const CsvTable table = ParseCsv(ReadTextFile(path), path.string());
  const auto city = table.Column("name", path.string());
  const auto country = table.Column("country", path.string());
  const auto region = table.Column("subcountry", path.string());
  for (const auto& row : table.rows) {
    lists.cities.push_back(row[city]);
    lists.countries.push_back(row[country]);
    if (!row[region].empty()) lists.regions.push_back(row[region]);
  }
}

}  // namespace

NameLists ReadNameLists(const fs::path& folder) {
  NameLists lists;
  AddJson(folder / "first_female_en.json", lists.female);
  AddJson(folder / "first_male_en.json", lists.male);
  AddLines(folder / "first_names" / "all.txt", lists.first);
  AddLines(folder / "first_names" / "us.txt", lists.first);
  AddJson(folder / "last_common_en.json", lists.common_surnames);
  AddLines(folder / "surnames" / "us.txt", lists.surnames);
  if (fs::is_directory(folder / "surnames")) {
    for (const auto& entry : fs::directory_iterator(folder / "surnames")) {
      const auto stem = entry.path().stem();
      if (entry.path().extension() != ".txt" || stem == "us" || stem == "all") continue;
      AddLines(entry.path(), lists.other_surnames);
    }
  }
  AddPlaces(folder / "world-cities.csv", lists);
  for (auto* list :
       {&lists.female, &lists.male, &lists.first, &lists.common_surnames, &lists.surnames,
        &lists.other_surnames, &lists.cities, &lists.regions, &lists.countries}) {
    Unique(*list);
  }
  if (lists.first.empty() && lists.surnames.empty() && lists.cities.empty()) {
    throw Error(folder.string() +
                ": no lists of names in it (first_names, surnames, "
                "world-cities.csv)");
  }
  return lists;
}

std::uint32_t HashOfWords(std::uint32_t before, std::string_view word) {
  const auto add = [](std::uint32_t hash, unsigned char byte) {
    return (hash ^ byte) * 0x01000193U;
  };
  std::uint32_t hash = before == kNoWords ? before : add(before, ' ');
  for (const char c : word) hash = add(hash, static_cast<unsigned char>(c));
  return hash;
}

Gazetteers::Gazetteers(const NameLists& lists) {
  std::map<std::uint32_t, NameKinds> kinds;
  const auto add = [&](const std::vector<std::string>& names, NameKinds kind) {
    for (const auto& name : names) {
      const std::string lower = LowerCase(name);
      std::uint32_t hash = kNoWords;
      std::size_t words = 0;
      for (const auto& token : Tokenise(lower)) {
        if (!IsWordCharacter(DecodeUtf8(lower, token.begin).code)) continue;
        const auto word = std::string_view(lower).substr(token.begin, token.end - token.begin);
        hash = HashOfWords(hash, word);
        ++words;
      }
      if (words > 0 && words <= kLongestPhrase) kinds[hash] |= kind;
    }
  };
  add(lists.female, kFemaleName);
  add(lists.male, kMaleName);
  add(lists.first, kFirstName);
  add(lists.common_surnames, kCommonSurname);
  add(lists.surnames, kSurname);
  add(lists.other_surnames, kOtherSurname);
  add(lists.cities, kCity);
  add(lists.regions, kRegion);
  add(lists.countries, kCountry);
  for (const auto& [hash, kind] : kinds) {
    hashes_.push_back(hash);
    kinds_.push_back(kind);
  }
  Index();
}

Gazetteers::Gazetteers(std::vector<std::uint32_t> hashes, std::vector<NameKinds> kinds,
                       const std::string& where)
    : hashes_(std::move(hashes)), kinds_(std::move(kinds)) {
  if (hashes_.size() != kinds_.size() ||
      std::adjacent_find(hashes_.begin(), hashes_.end(), std::greater_equal<>()) != hashes_.end()) {
    throw Error(where + ": the hashes of names must ascend and have a kind each");
  }
  Index();
}

void Gazetteers::Index() {
  first_.assign((std::size_t{1} << kIndexBits) + 1, 0);
  std::size_t at = 0;
  for (std::size_t top = 0; top + 1 < first_.size(); ++top) {
    while (at < hashes_.size() && hashes_[at] >> (32 - kIndexBits) < top) ++at;
    first_[top] = static_cast<std::uint32_t>(at);
  }
  first_.back() = static_cast<std::uint32_t>(hashes_.size());
}

NameKinds Gazetteers::Find(std::uint32_t hash) const {
  if (hashes_.empty()) return 0;
  const std::size_t top = hash >> (32 - kIndexBits);
  for (std::size_t i = first_[top]; i < first_[top + 1]; ++i) {
    if (hashes_[i] == hash) return kinds_[i];
  }
  return 0;
}

}  // namespace sotto

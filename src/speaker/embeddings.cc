#include "speaker/embeddings.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/text.h"
#include "base/tsv.h"
#include "speaker/kaldi_io.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// Gathers columns; the first gives the dimension.
class Columns {
 public:
  explicit Columns(std::string where) : where_(std::move(where)) {}
  void Add(const std::string& id, const Eigen::VectorXd& v) {
    if (v.size() == 0) throw Error(fmt::format("{}: the embedding of '{}' is empty", where_, id));
    if (!ids_.empty() && v.size() != dimension_) {
      throw Error(fmt::format("{}: the embedding of '{}' has {} numbers, that of '{}' {}", where_,
                              id, v.size(), ids_.front(), dimension_));
    }
    dimension_ = v.size();
    ids_.push_back(id);
    for (const double value : v) values_.push_back(static_cast<float>(value));
  }
  EmbeddingSet Finish() {
    EmbeddingSet set;
    set.vectors = Eigen::Map<Eigen::MatrixXf>(values_.data(), dimension_,
                                              static_cast<Eigen::Index>(ids_.size()));
    set.ids = std::move(ids_);
    ValidateEmbeddings(set, where_);
    return set;
  }

 private:
  std::string where_;
  std::vector<std::string> ids_;
  std::vector<float> values_;
  Eigen::Index dimension_ = 0;
};

// Two fields per line, the first ones distinct.
std::map<std::string, std::string> ParsePairs(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  std::map<std::string, std::string> pairs;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const auto fields = SplitBlanks(line);
    if (fields.empty()) continue;
    if (fields.size() != 2) {
      throw Error(fmt::format("{}:{}: {} fields, 2 expected", where, number, fields.size()));
    }
    if (!pairs.emplace(fields[0], fields[1]).second) {
      throw Error(fmt::format("{}:{}: '{}' appears twice", where, number, fields[0]));
    }
  }
  return pairs;
}

struct Location {
  std::string id;
  fs::path ark;
  std::size_t offset = 0;
};

// Where a path of an scp file is: relative ones beside the file before the working folder, so that
// a folder can be moved and another folder's ark of the same name is not taken.
fs::path Resolve(const std::string& named, const fs::path& scp, const std::string& where) {
  const fs::path path(named);
  std::vector<fs::path> places;
  if (!path.is_absolute()) places.push_back(scp.parent_path() / path);
  places.push_back(path);
  places.push_back(scp.parent_path() / path.filename());
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place)) return place;
  }
  throw Error(
      fmt::format("{}: there is no file '{}', and none of that name beside it", where, named));
}

std::vector<Location> ParseScp(std::string_view text, const fs::path& scp) {
  RequireClean(text, scp.string());
  std::vector<Location> locations;
  std::map<std::string, fs::path> resolved;
  std::size_t number = 0;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    const std::string where = fmt::format("{}:{}", scp.string(), number);
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t") + 1 - first);
    const std::size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) throw Error(fmt::format("{}: no path", where));
    Location location{std::string(line.substr(0, blank)), {}, 0};
    std::string_view rest = line.substr(line.find_first_not_of(" \t", blank));
    if (rest.back() == '|' || rest.front() == '|') {
      throw Error(fmt::format("{}: a pipe is not run; name a file", where));
    }
    if (rest.back() == ']') {
      throw Error(fmt::format("{}: ranges ('{}') are not read", where, rest));
    }
    const std::size_t colon = rest.rfind(':');
    if (colon != std::string_view::npos) {
      const std::string_view digits = rest.substr(colon + 1);
      const auto [end, code] =
          std::from_chars(digits.data(), digits.data() + digits.size(), location.offset);
      if (digits.empty() || code != std::errc() || end != digits.data() + digits.size()) {
        throw Error(fmt::format("{}: '{}' is not an offset", where, digits));
      }
      rest = rest.substr(0, colon);
    }
    const std::string named(rest);
    auto known = resolved.find(named);
    if (known == resolved.end()) {
      known = resolved.emplace(named, Resolve(named, scp, where)).first;
    }
    location.ark = known->second;
    locations.push_back(std::move(location));
  }
  return locations;
}

EmbeddingSet ReadScp(const fs::path& path) {
  const std::string text = ReadTextFile(path);
  std::map<fs::path, std::string> arks;
  Columns columns(path.string());
  for (const Location& location : ParseScp(text, path)) {
    auto ark = arks.find(location.ark);
    if (ark == arks.end())
      ark = arks.emplace(location.ark, ReadTextFile(location.ark, kLargestFile)).first;
    KaldiReader reader(ark->second, fmt::format("{} ('{}')", location.ark.string(), location.id),
                       location.offset);
    const bool binary = reader.BinaryMark();
    columns.Add(location.id, reader.Vector(binary));
  }
  return columns.Finish();
}

EmbeddingSet ReadNpy(const fs::path& path) {
  fs::path ids = path;
  ids.replace_extension(".ids");
  if (!fs::exists(ids)) ids = path.parent_path() / "ids";
  return ParseNpyEmbeddings(ReadTextFile(path, kLargestFile), ReadTextFile(ids), path.string());
}

EmbeddingSet ReadFolder(const fs::path& folder) {
  EmbeddingSet set;
  if (fs::exists(folder / "xvector.scp")) {
    set = ReadScp(folder / "xvector.scp");
  } else if (fs::exists(folder / "xvector.ark")) {
    set = ParseArk(ReadTextFile(folder / "xvector.ark", kLargestFile),
                   (folder / "xvector.ark").string());
  } else if (fs::exists(folder / "xvector.npy")) {
    set = ReadNpy(folder / "xvector.npy");
  } else {
    throw Error(
        fmt::format("'{}' holds no xvector.scp, xvector.ark or xvector.npy", folder.string()));
  }
  AddSpeakers(set, ReadTextFile(folder / "utt2spk"), (folder / "utt2spk").string());
  if (fs::exists(folder / "spk2gender")) {
    AddGenders(set, ReadTextFile(folder / "spk2gender"), (folder / "spk2gender").string());
  }
  return set;
}

}  // namespace

EmbeddingSet EmbeddingSet::Select(const std::vector<std::size_t>& places) const {
  EmbeddingSet chosen;
  chosen.vectors.resize(vectors.rows(), static_cast<Eigen::Index>(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    chosen.ids.push_back(ids.at(places[i]));
    if (!speakers.empty()) chosen.speakers.push_back(speakers[places[i]]);
    chosen.vectors.col(static_cast<Eigen::Index>(i)) =
        vectors.col(static_cast<Eigen::Index>(places[i]));
  }
  for (const std::string& speaker : chosen.speakers) {
    const auto gender = genders.find(speaker);
    if (gender != genders.end()) chosen.genders.insert(*gender);
  }
  return chosen;
}

std::map<std::string, std::size_t> EmbeddingSet::Index() const {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < ids.size(); ++i) index[ids[i]] = i;
  return index;
}

std::map<std::string, std::vector<std::size_t>> EmbeddingSet::BySpeaker() const {
  if (!HasSpeakers()) throw Error("embeddings: speakers are needed, the files do not name them");
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < speakers.size(); ++i) places[speakers[i]].push_back(i);
  return places;
}

std::vector<std::string> EmbeddingSet::WithoutGender() const {
  std::set<std::string> without;
  for (const std::string& speaker : speakers) {
    if (!genders.contains(speaker)) without.insert(speaker);
  }
  return {without.begin(), without.end()};
}

void ValidateEmbeddings(const EmbeddingSet& set, const std::string& where) {
  if (static_cast<std::size_t>(set.vectors.cols()) != set.ids.size() ||
      (!set.speakers.empty() && set.speakers.size() != set.ids.size())) {
    throw Error(fmt::format("{}: {} ids, {} embeddings, {} speakers", where, set.ids.size(),
                            set.vectors.cols(), set.speakers.size()));
  }
  if (set.ids.empty()) throw Error(fmt::format("{}: no embeddings", where));
  for (std::size_t i = 0; i < set.ids.size(); ++i) {
    const std::size_t at = FindUnclean(set.ids[i]);
    if (at == std::string_view::npos) continue;
    throw Error(fmt::format("{}: id {} of {}: {} (ids are UTF-8 without control characters)", where,
                            i + 1, set.ids.size(), DescribeUnclean(set.ids[i], at)));
  }
  std::set<std::string_view> seen;
  std::size_t repeated = 0, odd = 0, not_finite = 0;
  std::string first_repeated, first_not_finite;
  for (std::size_t i = 0; i < set.ids.size(); ++i) {
    const std::string& id = set.ids[i];
    if (id.empty() || id.find_first_of(std::string_view(" \t\r\n\0", 5)) != std::string::npos) {
      ++odd;
    }
    if (!seen.insert(id).second && repeated++ == 0) first_repeated = id;
    if (!set.vectors.col(static_cast<Eigen::Index>(i)).allFinite() && not_finite++ == 0) {
      first_not_finite = id;
    }
  }
  if (odd > 0) throw Error(fmt::format("{}: {} ids are empty or hold blanks", where, odd));
  if (repeated > 0) {
    throw Error(
        fmt::format("{}: {} ids appear twice, the first is '{}'", where, repeated, first_repeated));
  }
  if (not_finite > 0) {
    throw Error(fmt::format("{}: {} of {} embeddings hold NaN or infinity, the first is '{}'",
                            where, not_finite, set.ids.size(), first_not_finite));
  }
}

void RequireGenders(const EmbeddingSet& set, const std::string& where) {
  const std::vector<std::string> without = set.WithoutGender();
  if (without.empty()) return;
  throw Error(fmt::format("{}: {} of {} speakers have no gender, the first is '{}'", where,
                          without.size(), set.BySpeaker().size(), without.front()));
}

EmbeddingSet ParseArk(std::string_view bytes, const std::string& where) {
  KaldiReader reader(bytes, where);
  Columns columns(where);
  while (true) {
    const std::string key = reader.Key();
    if (key.empty()) break;
    const bool binary = reader.BinaryMark();
    columns.Add(key, reader.Vector(binary));
  }
  return columns.Finish();
}

std::string SerialiseArk(const EmbeddingSet& set) {
  std::string ark;
  for (std::size_t i = 0; i < set.size(); ++i) {
    ark += set.ids[i] + ' ';
    AppendKaldiVector(ark, set.vectors.col(static_cast<Eigen::Index>(i)));
  }
  return ark;
}

EmbeddingSet ParseNpyEmbeddings(std::string_view npy, std::string_view ids,
                                const std::string& where) {
  const NpyView view = ParseNpyView(npy, where);
  RequireClean(ids, where + " (its ids)");
  EmbeddingSet set;
  for (const std::string_view line : SplitLines(ids)) {
    if (!line.empty()) set.ids.emplace_back(line);
  }
  if (view.shape.size() != 2 || view.shape[0] != set.ids.size() || view.shape[1] == 0) {
    throw Error(fmt::format("{}: the array is {}, expected is one row for each of the {} ids",
                            where, fmt::join(view.shape, " x "), set.ids.size()));
  }
  const std::vector<float> values = view.Floats();
  set.vectors =
      Eigen::Map<const Eigen::MatrixXf>(values.data(), static_cast<Eigen::Index>(view.shape[1]),
                                        static_cast<Eigen::Index>(view.shape[0]));
  ValidateEmbeddings(set, where);
  return set;
}

void AddSpeakers(EmbeddingSet& set, std::string_view utt2spk, const std::string& where) {
  const auto pairs = ParsePairs(utt2spk, where);
  const auto index = set.Index();
  std::size_t without_speaker = 0, without_embedding = 0;
  std::string first_speaker, first_embedding;
  std::vector<std::string> speakers;
  for (const std::string& id : set.ids) {
    const auto pair = pairs.find(id);
    if (pair == pairs.end()) {
      if (without_speaker++ == 0) first_speaker = id;
    } else {
      speakers.push_back(pair->second);
    }
  }
  for (const auto& [id, speaker] : pairs) {
    if (!index.contains(id) && without_embedding++ == 0) first_embedding = id;
  }
  std::string what;
  if (without_speaker > 0) {
    what += fmt::format("; {} of {} embeddings without a speaker (the first: '{}')",
                        without_speaker, set.size(), first_speaker);
  }
  if (without_embedding > 0) {
    what += fmt::format("; {} of {} utterances without an embedding (the first: '{}')",
                        without_embedding, pairs.size(), first_embedding);
  }
  if (!what.empty()) throw Error(where + ": " + what.substr(2));
  set.speakers = std::move(speakers);
}

void AddGenders(EmbeddingSet& set, std::string_view spk2gender, const std::string& where) {
  for (const auto& [speaker, gender] : ParsePairs(spk2gender, where)) {
    const Gender parsed = ParseGender(gender);
    if (parsed == Gender::kUnknown) {
      throw Error(fmt::format("{}: the gender of '{}' is '{}', allowed are f and m", where, speaker,
                              gender));
    }
    set.genders[speaker] = parsed;
  }
}

EmbeddingSet ReadEmbeddings(const fs::path& path) {
  if (fs::is_directory(path)) return ReadFolder(path);
  if (path.extension() == ".scp") return ReadScp(path);
  if (path.extension() == ".npy") return ReadNpy(path);
  if (path.extension() == ".ark" || path.extension() == ".txt") {
    return ParseArk(ReadTextFile(path, kLargestFile), path.string());
  }
  throw Error(
      fmt::format("'{}' is neither a folder of embeddings nor an .ark, .scp, .npy or .txt file",
                  path.string()));
}

void RefuseExistingEmbeddings(const fs::path& folder, const EmbeddingFiles& files) {
  for (const char* name : {"xvector.ark", "xvector.scp", "utt2spk", "spk2gender", "encoder.json"}) {
    RefuseExisting(folder / name, files.if_exists);
  }
  RefuseExisting(folder / "xvector.npy", files.if_exists);
  if (files.npy) RefuseExisting(folder / "ids", files.if_exists);
}

void WriteEmbeddings(const EmbeddingSet& set, const fs::path& folder, const EmbeddingFiles& files) {
  ValidateEmbeddings(set, folder.string());
  if (set.speakers.size() != set.ids.size()) {
    throw Error(fmt::format("{}: speakers are not known", folder.string()));
  }
  std::string ark, scp, utt2spk, spk2gender, ids;
  std::set<std::string> speakers(set.speakers.begin(), set.speakers.end());
  for (std::size_t i = 0; i < set.size(); ++i) {
    const auto v = set.vectors.col(static_cast<Eigen::Index>(i));
    ark += set.ids[i] + ' ';
    scp += fmt::format("{} xvector.ark:{}\n", set.ids[i], ark.size());
    files.ark == ArkForm::kBinary ? AppendKaldiVector(ark, v) : AppendKaldiTextVector(ark, v);
    utt2spk += fmt::format("{} {}\n", set.ids[i], set.speakers[i]);
    ids += set.ids[i] + '\n';
  }
  for (const std::string& speaker : speakers) {
    const auto gender = set.genders.find(speaker);
    if (gender == set.genders.end()) continue;
    spk2gender += fmt::format("{} {}\n", speaker, gender->second == Gender::kFemale ? 'f' : 'm');
  }
  MakeFolder(folder);
  const WriteOptions options{.if_exists = files.if_exists};
  WriteFileAtomically(folder / "xvector.ark", ark, options);
  WriteFileAtomically(folder / "xvector.scp", scp, options);
  WriteFileAtomically(folder / "utt2spk", utt2spk, options);
  WriteFileAtomically(folder / "spk2gender", spk2gender, options);
  if (files.npy) {
    const auto columns = static_cast<std::size_t>(set.Dimension());
    NpyWriter<float> npy(folder / "xvector.npy", columns, files.if_exists);
    npy.Append({set.vectors.data(), set.size() * columns});
    npy.Close();
    WriteFileAtomically(folder / "ids", ids, options);
  } else if (fs::remove(folder / "xvector.npy")) {
    fs::remove(folder / "ids");  // of the embeddings that were replaced
  }
}

}  // namespace sotto

#include "audio/feature_pack.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

constexpr char kMagic[] = "SOTTOFT1";
constexpr std::uint64_t kMaxHeaderBytes = 1 << 28;
constexpr std::int64_t kMaxSize = 65536;

template <class T>
void WriteValues(std::ofstream& out, const std::vector<T>& values) {
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <class T>
std::vector<T> ReadValues(std::ifstream& in, std::uint64_t count) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

}  // namespace

std::int64_t PitchFrames(std::uint64_t samples) {
  return static_cast<std::int64_t>((samples + 159) / 160);
}

FeaturePack ReadFeaturePack(const std::filesystem::path& path) {
  RequireRegularFile(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
  const auto bad = [&](const std::string& why) {
    return Error(fmt::format("'{}' is not a feature pack: {}", path.string(), why));
  };
  char magic[8];
  std::uint64_t length = 0;
  in.read(magic, sizeof magic);
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!in || std::memcmp(magic, kMagic, sizeof magic) != 0) throw bad("it does not begin as one");
  const std::uint64_t file_bytes = std::filesystem::file_size(path);
  if (length > kMaxHeaderBytes || length > file_bytes - 16) throw bad("its header is too long");
  std::string header(length, '\0');
  in.read(header.data(), static_cast<std::streamsize>(length));
  if (!in) throw bad("cut short");
  FeaturePack pack;
  try {
    const auto json = ParseJson(header);
    json.at("state_size").get_to(pack.state_size);
    json.at("embedding_size").get_to(pack.embedding_size);
    json.at("teacher").get_to(pack.teacher);
    json.at("encoder").get_to(pack.encoder);
    if (pack.state_size < 1 || pack.state_size > kMaxSize || pack.embedding_size < 1 ||
        pack.embedding_size > kMaxSize) {
      throw bad(
          fmt::format("states of {} and embeddings of {}", pack.state_size, pack.embedding_size));
    }
    const auto state = static_cast<std::uint64_t>(pack.state_size);
    const auto embedding = static_cast<std::uint64_t>(pack.embedding_size);
    std::uint64_t left = file_bytes - 16 - length;
    for (const auto& row : json.at("utterances")) {
      const std::uint64_t states = row.at(1), frames = row.at(2);
      // Sizes first: a damaged header must not ask for more memory than the file has bytes.
      if (states > left / (2 * state) || frames > left / 4) throw bad("cut short");
      const std::uint64_t bytes = 2 * state * states + 4 * frames + 4 * embedding;
      if (bytes > left) throw bad("cut short");
      left -= bytes;
      UtteranceFeatures u;
      u.states = ReadValues<std::uint16_t>(in, state * states);
      u.f0_hz = ReadValues<float>(in, frames);
      u.embedding = ReadValues<float>(in, embedding);
      pack.ids.push_back(row.at(0));
      pack.utterances.push_back(std::move(u));
    }
    if (!in || left != 0) throw bad("its sizes do not add up");
  } catch (const nlohmann::json::exception& error) {
    throw bad("damaged header: " + JsonTrouble(error));
  }
  return pack;
}

void WriteFeaturePack(const std::filesystem::path& path, const FeaturePack& pack,
                      IfExists if_exists) {
  nlohmann::ordered_json json = {{"state_size", pack.state_size},
                                 {"embedding_size", pack.embedding_size},
                                 {"teacher", pack.teacher},
                                 {"encoder", pack.encoder}};
  auto& rows = json["utterances"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < pack.ids.size(); ++i) {
    const UtteranceFeatures& u = pack.utterances[i];
    rows.push_back(
        {pack.ids[i], u.states.size() / static_cast<std::size_t>(pack.state_size), u.f0_hz.size()});
  }
  const std::string header = DumpJson(json);
  const std::uint64_t length = header.size();
  // It tells who speaks: for the owner alone.
  PendingFile pending(path, {if_exists, {}, /*is_private=*/true});
  std::ofstream out(pending.TemporaryPath(), std::ios::binary);
  out.write(kMagic, 8);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const UtteranceFeatures& u : pack.utterances) {
    WriteValues(out, u.states);
    WriteValues(out, u.f0_hz);
    WriteValues(out, u.embedding);
  }
  out.close();
  if (!out) throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
  pending.Commit();
}

void RequireMatch(const SpeechPack& pack, const FeaturePack& features) {
  if (pack.utterances.size() != features.ids.size()) {
    throw Error(fmt::format("{} utterances in the speech pack, features of {}",
                            pack.utterances.size(), features.ids.size()));
  }
  std::size_t other = 0, sizes = 0, values = 0;
  std::string first;
  for (std::size_t i = 0; i < features.ids.size(); ++i) {
    const UtteranceFeatures& u = features.utterances[i];
    const bool same = features.ids[i] == pack.utterances[i].id;
    const bool fits =
        static_cast<std::int64_t>(u.f0_hz.size()) == PitchFrames(pack.utterances[i].count) &&
        u.states.size() >= static_cast<std::size_t>(features.state_size) &&
        u.embedding.size() == static_cast<std::size_t>(features.embedding_size);
    bool finite = true;
    for (const float v : u.embedding) finite = finite && std::isfinite(v);
    for (const float v : u.f0_hz) finite = finite && std::isfinite(v) && v >= 0.0f;
    other += !same;
    sizes += !fits;
    values += !finite;
    if (first.empty() && !(same && fits && finite)) first = pack.utterances[i].id;
  }
  if (other + sizes + values > 0) {
    throw Error(
        fmt::format("features do not belong to the speech: {} other ids, {} other sizes, "
                    "{} with values that are not numbers, of {} utterances (first '{}')",
                    other, sizes, values, features.ids.size(), first));
  }
}

}  // namespace sotto

#include "audio/speech_pack.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace sotto {
namespace {

constexpr char kMagic[] = "SOTTOPK1";
constexpr std::uint64_t kMaxHeaderBytes = 1 << 28;

// Into a file that is there; an Error names `named`.
void WriteInto(const std::filesystem::path& file, const SpeechPack& pack,
               const std::filesystem::path& named) {
  nlohmann::ordered_json json = {{"rate_hz", pack.rate_hz}, {"run", pack.run}};
  auto& rows = json["utterances"] = nlohmann::ordered_json::array();
  for (const PackedUtterance& u : pack.utterances) {
    rows.push_back({u.id, u.speaker, Name(u.gender, ""), u.begin, u.count});
  }
  const std::string header = DumpJson(json);
  const std::uint64_t length = header.size();
  std::ofstream out(file, std::ios::binary);
  out.write(kMagic, 8);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  out.write(reinterpret_cast<const char*>(pack.samples.data()),
            static_cast<std::streamsize>(pack.samples.size() * 2));
  out.close();
  if (!out) throw Error(fmt::format("cannot write '{}': {}", named.string(), SystemReason()));
}

}  // namespace

SpeechPack ReadSpeechPack(const std::filesystem::path& path) {
  RequireRegularFile(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("cannot read '{}': {}", path.string(), SystemReason()));
  const auto bad = [&](const std::string& why) {
    return Error(fmt::format("'{}' is not a speech pack: {}", path.string(), why));
  };
  char magic[8];
  std::uint64_t length = 0;
  in.read(magic, sizeof magic);
  in.read(reinterpret_cast<char*>(&length), sizeof length);
  if (!in || std::memcmp(magic, kMagic, sizeof magic) != 0) throw bad("it does not begin as one");
  if (length > kMaxHeaderBytes) throw bad("its header is too long");
  std::string header(length, '\0');
  in.read(header.data(), static_cast<std::streamsize>(length));
  if (!in) throw bad("cut short");
  SpeechPack pack;
  const std::uint64_t bytes = std::filesystem::file_size(path) - 16 - length;
  pack.samples.resize(bytes / 2);
  try {
    const auto json = ParseJson(header);
    json.at("rate_hz").get_to(pack.rate_hz);
    pack.run = json.value("run", "");
    for (const auto& row : json.at("utterances")) {
      PackedUtterance u{row.at(0), row.at(1), ParseGender(row.at(2).get<std::string>()), row.at(3),
                        row.at(4)};
      if (u.begin > pack.samples.size() || u.count > pack.samples.size() - u.begin) {
        throw bad(fmt::format("utterance '{}' lies outside (cut short?)", u.id));
      }
      pack.utterances.push_back(std::move(u));
    }
  } catch (const nlohmann::json::exception& error) {
    throw bad("damaged header: " + JsonTrouble(error));
  }
  in.read(reinterpret_cast<char*>(pack.samples.data()),
          static_cast<std::streamsize>(pack.samples.size() * 2));
  if (!in) throw bad("cut short");
  return pack;
}

void WriteSpeechPack(const std::filesystem::path& path, const SpeechPack& pack,
                     IfExists if_exists) {
  // It holds people's speech: for the owner alone.
  PendingFile pending(path, {if_exists, {}, /*is_private=*/true});
  WriteInto(pending.TemporaryPath(), pack, path);
  pending.Commit();
}

void WriteSpeechPack(const UnnamedFile& file, const SpeechPack& pack) {
  WriteInto(file.Path(), pack, "a temporary file");
}

}  // namespace sotto

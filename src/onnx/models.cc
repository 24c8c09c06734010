#include "onnx/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// The variable's value; an empty one counts as not set, as in the XDG rules.
std::optional<std::string> Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

struct Pin {
  std::string_view name, sha256;
};

// What ./do deps --onnx unpacks from its pinned packages (its file CHECKSUMS says the same), and
// DNSMOS P.835 as its authors publish it.
#if defined(__x86_64__)
constexpr std::string_view kLibrary =
    "08cf3bf4218f0e816c2a534e960d85221274cb319569bdf1136b29da7065b015";
#elif defined(__aarch64__)
constexpr std::string_view kLibrary =
    "0afd69a0ae38c5099fd0e8604dda398ac43dee67cd9c6394b5142b19e82528de";
#else
constexpr std::string_view kLibrary = "";  // no package has one
#endif
constexpr std::array<Pin, 8> kPins = {{
    {"onnxruntime/libonnxruntime.so.1", kLibrary},
    {"libonnxruntime.so.1", kLibrary},
    {"libonnxruntime.so", kLibrary},
    {"moonshine/encoder_model.onnx",
     "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a"},
    {"moonshine/decoder_model_merged.onnx",
     "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367"},
    {"moonshine/tokens.txt", "0f97b4337921e6e7e9b4620fc73338ee570aecd3c16038bc23870a887e995045"},
    {"silero/silero_vad_v5.onnx",
     "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f"},
    {"dnsmos/sig_bak_ovr.onnx", "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd"},
}};

}  // namespace

void RequirePinned(const fs::path& relative, std::string_view bytes, const std::string& where) {
  const auto* const pin = std::find_if(
      kPins.begin(), kPins.end(), [&](const Pin& one) { return one.name == relative.string(); });
  const std::string_view expected = pin == kPins.end() ? "" : pin->sha256;
  const std::string found = Sha256(bytes);
  if (found == expected) return;
  throw UntrustedModel(fmt::format(
      "'{}' is not the file this program was made for (SHA-256 {}, {}): fetch it again (./do deps "
      "--onnx), or take it as it is with --trust-models",
      where, found,
      expected.empty() ? "none is known for it here" : fmt::format("not {}", expected)));
}

ModelFolders ModelFolders::Default(const fs::path& given, bool trust) {
  ModelFolders models({}, trust);
  if (!given.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(given, ignored)) {
      throw Error(fmt::format("models '{}': no such folder", given.string()));
    }
    models.folders_.push_back(given);
  }
  if (const auto folder = Environment("SOTTO_MODELS")) models.folders_.emplace_back(*folder);
  if (const auto home = Environment("HOME")) {
    models.folders_.push_back(fs::path(*home) / ".local/share/sotto/models");
  } else {
    models.remark_ = " (HOME is not set)";
  }
  if (const auto shared = Environment("SOTTO_SHARED")) {
    models.folders_.push_back(fs::path(*shared) / "data/weights");
  }
  return models;
}

std::optional<fs::path> ModelFolders::Find(const fs::path& relative) const {
  for (const fs::path& folder : folders_) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / relative, ignored)) return folder / relative;
  }
  return std::nullopt;
}

fs::path ModelFolders::Require(const fs::path& relative) const {
  if (auto found = Find(relative)) return *std::move(found);
  throw Error(fmt::format("{} is in none of: {}", relative.string(), Describe()));
}

std::string ModelFolders::Read(const fs::path& relative) const {
  const fs::path path = Require(relative);
  std::string bytes = ReadTextFile(path, kLargestFile);
  if (!trust_) RequirePinned(relative, bytes, path.string());
  return bytes;
}

std::string ModelFolders::Describe() const {
  std::string text;
  for (const fs::path& folder : folders_) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", folder.string());
  }
  return (text.empty() ? "no folder at all" : text) + remark_;
}

}  // namespace sotto

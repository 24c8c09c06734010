#include "base/random.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/no_core_dumps.h"

namespace sotto {
namespace {

void InitSodium() {
  if (sodium_init() < 0) throw Error("libsodium could not be initialised: no secure randomness");
}

// Wipes the text whichever way the block is left.
std::unique_ptr<std::string, void (*)(std::string*)> WipeAtEnd(std::string& text) {
  return {&text, [](std::string* secret) { Wipe(*secret); }};
}

// The top 53 bits as a double on [0, 1).
double ToUnit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

void SecureRandomBytes(std::span<std::uint8_t> bytes) {
  InitSodium();
  randombytes_buf(bytes.data(), bytes.size());
}

void Wipe(std::string& secret) {
  secret.resize(secret.capacity());
  sodium_memzero(secret.data(), secret.size());
  secret.clear();
}

struct Key::Secret {
  explicit Secret(bool experiment) {
    InitSodium();
    bytes = static_cast<std::uint8_t*>(sodium_malloc(kBytes));
    if (bytes == nullptr) throw Error("no memory for a key");
    if (!experiment) guard.emplace();
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { sodium_free(bytes); }  // wipes first; then core dumps are allowed again

  std::optional<NoCoreDumps> guard;  // none: of an experiment
  std::uint8_t* bytes = nullptr;
};

Key::Key(bool experiment) : secret_(std::make_shared<Secret>(experiment)) {}

std::span<std::uint8_t, Key::kBytes> Key::Bytes() const {
  return std::span<std::uint8_t, kBytes>(secret_->bytes, kBytes);
}

Key Key::FromSystem() {
  Key key;
  SecureRandomBytes(key.Bytes());
  return key;
}

Key Key::ForExperiment(const ExperimentKey& experiment) {
  const std::string text = fmt::format("sotto experiment seed {}", experiment.Seed());
  Key key(/*experiment=*/true);
  crypto_generichash(key.Bytes().data(), key.Bytes().size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return key;
}

Key Key::FromFile(const std::filesystem::path& path) {
  constexpr std::uint64_t kLargestKeyFile = 4096;
  const NoCoreDumps while_it_is_text;
  std::string text = ReadTextFile(path, kLargestKeyFile);
  const auto wipe = WipeAtEnd(text);
  return FromHex(text, fmt::format("key file '{}'", path.string()));
}

Key Key::FromHex(std::string_view hex, const std::string& where) {
  while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r')) hex.remove_suffix(1);
  Key key;
  std::size_t length = 0;
  if (hex.size() != 2 * kBytes ||
      sodium_hex2bin(key.Bytes().data(), kBytes, hex.data(), hex.size(), nullptr, &length,
                     nullptr) != 0 ||
      length != kBytes) {
    throw Error(fmt::format("{}: a key is {} hexadecimal digits", where, 2 * kBytes));
  }
  return key;
}

void Key::WriteFile(const std::filesystem::path& path, IfExists if_exists) const {
  std::string text = FileText();
  const auto wipe = WipeAtEnd(text);
  WritePrivateFile(path, text, if_exists);
}

std::string Key::FileText() const {
  std::string text = Hex();
  text += '\n';  // Hex() leaves room for it
  return text;
}

std::string Key::Hex() const {
  std::string hex(2 * kBytes + 1, '\0');  // and room for a newline: no copy is left behind
  sodium_bin2hex(hex.data(), hex.size(), Bytes().data(), Bytes().size());
  hex.pop_back();
  return hex;
}

std::array<std::uint8_t, 32> Key::Hash(std::initializer_list<std::string_view> fields) const {
  InitSodium();
  crypto_generichash_state state;
  crypto_generichash_init(&state, Bytes().data(), Bytes().size(), 32);
  for (const std::string_view field : fields) {
    std::array<unsigned char, 8> length{};
    for (std::size_t i = 0; i < length.size(); ++i) {
      length[i] = static_cast<unsigned char>((static_cast<std::uint64_t>(field.size()) >> (8 * i)));
    }
    crypto_generichash_update(&state, length.data(), length.size());
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(field.data()),
                              field.size());
  }
  std::array<std::uint8_t, 32> digest{};
  crypto_generichash_final(&state, digest.data(), digest.size());
  sodium_memzero(&state, sizeof state);
  return digest;
}

Key Key::Derive(std::initializer_list<std::string_view> fields) const {
  Key derived(/*experiment=*/!secret_->guard);
  auto digest = Hash(fields);
  std::copy(digest.begin(), digest.end(), derived.Bytes().begin());
  sodium_memzero(digest.data(), digest.size());
  return derived;
}

double Key::Uniform(std::initializer_list<std::string_view> fields) const {
  const auto digest = Hash(fields);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(digest[i]) << (8 * i);
  return ToUnit(bits);
}

std::string Key::Name(std::initializer_list<std::string_view> fields, std::size_t digits) const {
  return HexText(Hash(fields)).substr(0, digits);
}

std::optional<Key> GivenKey(const std::optional<std::uint64_t>& experiment_seed,
                            const std::filesystem::path& key_file) {
  if (experiment_seed) return Key::ForExperiment(ExperimentKey(*experiment_seed));
  if (!key_file.empty()) return Key::FromFile(key_file);
  return std::nullopt;
}

Key ChooseKey(const std::optional<std::uint64_t>& experiment_seed,
              const std::filesystem::path& key_file) {
  const std::optional<Key> given = GivenKey(experiment_seed, key_file);
  return given ? *given : Key::FromSystem();
}

double KeyedGaussian::operator()() {
  const std::string counter = std::to_string(counter_++);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - key_.Uniform({"radius", counter})));
  return radius * std::cos(2.0 * std::numbers::pi * key_.Uniform({"angle", counter}));
}

}  // namespace sotto

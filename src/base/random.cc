#include "base/random.h"

#include <fmt/format.h>
#include <sodium.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

void InitSodium() {
  if (sodium_init() < 0) throw Error("libsodium could not be initialised: no secure randomness");
}

// The top 53 bits as a double on [0, 1).
double ToUnit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

void SecureRandomBytes(std::span<std::uint8_t> bytes) {
  InitSodium();
  randombytes_buf(bytes.data(), bytes.size());
}

Key Key::FromSystem() {
  Key key;
  SecureRandomBytes(key.bytes_);
  return key;
}

Key Key::FromExperimentSeed(std::uint64_t seed) {
  InitSodium();
  const std::string text = fmt::format("sotto experiment seed {}", seed);
  Key key;
  crypto_generichash(key.bytes_.data(), key.bytes_.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  key.experiment_ = true;
  return key;
}

Key Key::FromFile(const std::filesystem::path& path) {
  return FromHex(ReadTextFile(path), fmt::format("key file '{}'", path.string()));
}

Key Key::FromHex(std::string_view hex, const std::string& where) {
  while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r')) hex.remove_suffix(1);
  Key key;
  std::size_t length = 0;
  if (hex.size() != 2 * kBytes ||
      sodium_hex2bin(key.bytes_.data(), kBytes, hex.data(), hex.size(), nullptr, &length,
                     nullptr) != 0 ||
      length != kBytes) {
    throw Error(fmt::format("{}: a key is {} hexadecimal digits", where, 2 * kBytes));
  }
  return key;
}

Key::~Key() { sodium_memzero(bytes_.data(), bytes_.size()); }

void Key::WriteFile(const std::filesystem::path& path) const {
  WritePrivateFile(path, Hex() + "\n");
}

std::string Key::Hex() const {
  std::string hex(2 * kBytes + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes_.data(), bytes_.size());
  hex.pop_back();
  return hex;
}

std::array<std::uint8_t, 32> Key::Hash(std::initializer_list<std::string_view> fields) const {
  InitSodium();
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_.data(), bytes_.size(), 32);
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

double Key::Uniform(std::initializer_list<std::string_view> fields) const {
  const auto digest = Hash(fields);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(digest[i]) << (8 * i);
  return ToUnit(bits);
}

std::string Key::Name(std::initializer_list<std::string_view> fields, std::size_t digits) const {
  std::string name;
  for (const std::uint8_t byte : Hash(fields)) name += fmt::format("{:02x}", byte);
  return name.substr(0, digits);
}

double KeyedGaussian::operator()() {
  const std::string counter = std::to_string(counter_++);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - key_.Uniform({"radius", counter})));
  return radius * std::cos(2.0 * std::numbers::pi * key_.Uniform({"angle", counter}));
}

}  // namespace sotto

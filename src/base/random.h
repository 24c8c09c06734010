// Randomness that protects, and randomness for experiments. They are different types on purpose:
// Key is asked for wherever a person is protected, and a seed or an ExperimentKey is no Key and
// does not turn into one by itself (random_test.cc holds the compiler to it). Whoever wants the
// draws of an experiment where a Key is asked for has to say Key::ForExperiment, the one door.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files.h"

namespace sotto {

// Fills `bytes` from the operating system's CSPRNG (libsodium randombytes).
void SecureRandomBytes(std::span<std::uint8_t> bytes);

// Overwrites a text that held a secret, all its room, and empties it.
void Wipe(std::string& secret);

// A public number from which the draws of an experiment follow, so that they can be repeated: by
// anybody, which is why it protects nobody.
class ExperimentKey {
 public:
  explicit ExperimentKey(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t Seed() const { return seed_; }

 private:
  std::uint64_t seed_;
};

// A 256-bit secret from which targets are drawn by a keyed hash. Copies share its one place in
// memory: a page between guards that is kept out of the swap where the system allows (mlock; a
// limit of 0 is no error) and is wiped with the last copy. As long as there is a key the process
// leaves no core dump (base/no_core_dumps.h), unless it is one of an experiment.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;

  // A fresh key from the operating system.
  static Key FromSystem();
  // One that follows from a public number.
  static Key ForExperiment(const ExperimentKey& key);
  // The key file is 64 hexadecimal digits and a newline. Throws Error when it is anything else.
  static Key FromFile(const std::filesystem::path& path);
  static Key FromHex(std::string_view hex, const std::string& where);

  Key(const Key&) = default;
  Key& operator=(const Key&) = default;
  ~Key() = default;

  // Writes the key with mode 0600, whole or not at all.
  void WriteFile(const std::filesystem::path& path, IfExists if_exists = IfExists::kRefuse) const;
  // Plain text in plain memory: Wipe() it.
  std::string Hex() const;
  std::string FileText() const;  // what WriteFile writes

  // Keyed BLAKE2b-256 of the fields, each preceded by its length as 8 little-endian bytes, so that
  // ("ab", "c") and ("a", "bc") differ.
  std::array<std::uint8_t, 32> Hash(std::initializer_list<std::string_view> fields) const;

  // Another key, of the keyed hash of the fields.
  Key Derive(std::initializer_list<std::string_view> fields) const;

  // A number uniform on [0, 1) (53 bits) that only the holder of the key can recompute.
  double Uniform(std::initializer_list<std::string_view> fields) const;

  // `digits` hexadecimal digits (at most 64) of the keyed hash.
  std::string Name(std::initializer_list<std::string_view> fields, std::size_t digits) const;

 private:
  struct Secret;
  explicit Key(bool experiment = false);
  std::span<std::uint8_t, kBytes> Bytes() const;

  std::shared_ptr<Secret> secret_;
};

// What a user's --seed or --key asks for; absent where neither does: the operating system is to
// give one. Throws Error as Key::FromFile.
std::optional<Key> GivenKey(const std::optional<std::uint64_t>& experiment_seed,
                            const std::filesystem::path& key_file);
// The same, or the operating system's.
Key ChooseKey(const std::optional<std::uint64_t>& experiment_seed,
              const std::filesystem::path& key_file);

// Standard normal numbers for noise that protects: keyed BLAKE2b of a counter, 53 bits of each
// uniform draw, Box–Muller. Only the holder of the key can draw them again, and some of them tell
// nothing about the others.
class KeyedGaussian {
 public:
  explicit KeyedGaussian(const Key& key) : key_(key) {}
  double operator()();

 private:
  Key key_;
  std::uint64_t counter_ = 0;
};

// SplitMix64 (Steele et al. 2014): a small deterministic generator for tests, bootstrap resampling
// and other experiments. Never for protection.
class SeededRng {
 public:
  using result_type = std::uint64_t;
  explicit SeededRng(std::uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }  // NOLINT(readability-identifier-naming)
  static constexpr result_type max() { return ~result_type{0}; }  // NOLINT
  result_type operator()();
  double Uniform();                      // [0, 1)
  double Gaussian();                     // mean 0, variance 1
  std::uint64_t Below(std::uint64_t n);  // uniform on 0 … n−1

 private:
  std::uint64_t state_;
};

}  // namespace sotto

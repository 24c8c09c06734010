#include "privasp/material_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;
using File = SegmentHeader::File;

constexpr ModelId kModel = {7, 7, 7};
constexpr SegmentId kA = {0xAA, 1}, kB = {0xBB, 2};
constexpr const char* kHexA = "aa010000000000000000000000000000";
constexpr const char* kHexB = "bb020000000000000000000000000000";
constexpr std::size_t kFixed = SegmentHeader::kFixedBytes, kKey = SegmentHeader::kKeyBytes;

std::unique_ptr<MaterialStore> Open(const fs::path& folder, std::size_t capacity = 1000) {
  return std::make_unique<MaterialStore>(folder, kModel, capacity);
}

std::vector<SecretBytes> Pieces(std::uint64_t seed, const std::vector<std::size_t>& sizes) {
  SeededRng rng(seed);
  std::vector<SecretBytes> pieces;
  for (const std::size_t size : sizes) {
    SecretBytes& piece = pieces.emplace_back(size);
    for (auto& byte : piece) byte = static_cast<std::uint8_t>(rng.Below(256));
  }
  return pieces;
}
std::vector<SecretBytes> Pieces(std::uint64_t seed, std::size_t count) {
  return Pieces(seed, std::vector<std::size_t>(count, 100));
}

std::vector<SecretBytes> Part(const std::vector<SecretBytes>& pieces, std::size_t first,
                              std::size_t count) {
  const auto from = pieces.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void ExpectError(const std::function<void()>& action, const std::string& part) {
  const std::string error = ErrorOf(action);
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

std::set<std::string> NamesIn(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}
const std::set<std::string> kNoSegments = {"lock", "model"};

// Not WriteFileAtomically: hundreds of damaged files need not reach the disk.
void Write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

fs::path MaterialOf(const fs::path& folder, const std::string& hex) {
  return folder / (hex + ".material");
}
fs::path KeysOf(const fs::path& folder, const std::string& hex) { return folder / (hex + ".keys"); }

// Whether `bytes` are in any file of the folder.
bool Holds(const fs::path& folder, const std::string& bytes) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (ReadTextFile(entry.path()).find(bytes) != std::string::npos) return true;
  }
  return false;
}

TEST(MaterialStore, WhatComesOutIsWhatWentIn) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "deep/store", 20);
  EXPECT_EQ(store->Room(), 20U);
  constexpr std::size_t kChunk = std::size_t{128} << 10;
  const auto a = Pieces(1, {1, 15, 16, 17, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk, 500000});
  const auto b = Pieces(2, 3);
  store->Add(kB, b);
  store->Add(kA, a);
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 9, 0}, {kB, 3, 0}}));
  EXPECT_EQ(store->Unspent(), 12U);
  EXPECT_EQ(store->Room(), 8U);
  EXPECT_EQ(store->Claim(kA, 0, 2), Part(a, 0, 2));
  EXPECT_EQ(store->Claim(kB, 0, 1), Part(b, 0, 1));
  EXPECT_EQ(store->Claim(kA, 2, 1), Part(a, 2, 1));
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 9, 3}, {kB, 3, 1}}));
  EXPECT_EQ(store->Unspent(), 8U);
  EXPECT_EQ(store->Room(), 8U);
  EXPECT_EQ(store->Claim(kA, 3, 6), Part(a, 3, 6));
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kB, 3, 1}}));
  EXPECT_EQ(store->Room(), 17U);
  EXPECT_EQ(store->Claim(kB, 1, 2), Part(b, 1, 2));
  EXPECT_EQ(NamesIn(folder / "deep/store"), kNoSegments);
}

TEST(MaterialStore, ClaimsComeFromTheFrontAndAGapIsBurnt) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store");
  const auto a = Pieces(1, 8);
  store->Add(kA, a);
  EXPECT_EQ(store->Claim(kA, 3, 2), Part(a, 3, 2));
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 8, 5}}));
  for (const std::uint32_t first : {0U, 2U, 3U, 4U}) {
    ExpectError([&] { store->Claim(kA, first, 1); }, "the first 5 are spent");
    ExpectError([&] { store->Claim(kA, first, 4); }, "the first 5 are spent");
  }
  // What is refused spends nothing.
  ExpectError([&] { store->Claim(kA, 6, 3); }, "3 pieces from piece 6 on are asked for, of 8");
  ExpectError([&] { store->Claim(kA, 5, 0); }, "0 pieces");
  ExpectError([&] { store->Claim(kA, ~std::uint32_t{0}, 2); }, "2 pieces");
  ExpectError([&] { store->Claim(kA, 5, ~std::uint32_t{0}); }, "of 8");
  ExpectError([&] { store->Claim(kB, 0, 1); }, "none of this id");
  EXPECT_EQ(store->Claim(kA, 5, 3), Part(a, 5, 3));
  ExpectError([&] { store->Claim(kA, 7, 1); }, "none of this id");
}

TEST(MaterialStore, SpentStaysSpentAfterOpeningAgain) {
  const TemporaryFolder folder;
  const auto a = Pieces(1, 6), b = Pieces(2, 2);
  auto store = Open(folder / "store");
  store->Add(kA, a);
  store->Add(kB, b);
  store->Claim(kA, 0, 1);
  store->Claim(kA, 2, 1);
  store->Claim(kB, 1, 1);
  store.reset();
  store = Open(folder / "store", 4);
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 6, 3}}));
  EXPECT_EQ(store->Room(), 0U);
  for (const std::uint32_t first : {0U, 1U, 2U}) EXPECT_THROW(store->Claim(kA, first, 1), Error);
  EXPECT_EQ(store->Claim(kA, 3, 3), Part(a, 3, 3));
  store.reset();
  EXPECT_TRUE(Open(folder / "store")->Segments().empty());
}

TEST(MaterialStore, NoPieceGoesToTwoThreads) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store");
  const auto a = Pieces(1, 60), b = Pieces(2, 4);
  store->Add(kA, a);
  std::vector<std::atomic<int>> given(a.size());
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t first = 0; first < a.size(); ++first) {
        const auto count =
            std::min(1 + (first + t) % 3, static_cast<std::uint32_t>(a.size()) - first);
        try {
          const auto pieces = store->Claim(kA, first, count);
          wrong = wrong || pieces != Part(a, first, count);
          for (std::uint32_t i = first; i < first + count; ++i) ++given[i];
        } catch (const Error&) {
          // Another thread was first.
        }
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 5; ++i) {
      store->Add(kB, b);
      wrong = wrong || store->Unspent() < 4 || store->Claim(kB, 1, 1) != Part(b, 1, 1);
      store->Drop(kB);
      wrong = wrong || store->Room() < 900 || store->Segments().size() > 1;
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
  // No thread asks for a place before what is spent, so nothing is burnt.
  for (const auto& times : given) EXPECT_EQ(times, 1);
  EXPECT_EQ(NamesIn(folder / "store"), kNoSegments);
}

// A key that was spent is nowhere in the folder; nor is it in the blocks it had, which the file
// opened before still shows.
TEST(MaterialStore, TheKeysOfSpentPiecesAreOverwrittenInTheirPlace) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store");
  store->Add(kA, Pieces(1, 5));
  store->Add(kB, Pieces(2, 5));
  const auto keys_of = [&](const char* hex) {
    return ReadTextFile(KeysOf(folder / "store", hex)).substr(kFixed);
  };
  const std::string a = keys_of(kHexA), b = keys_of(kHexB);
  ASSERT_EQ(a.size(), 5 * kKey);
  const int before_a = ::open(KeysOf(folder / "store", kHexA).c_str(), O_RDONLY);
  const int before_b = ::open(KeysOf(folder / "store", kHexB).c_str(), O_RDONLY);
  const auto now = [](int fd) {
    std::string bytes(5 * kKey, 'x');
    EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), kFixed), static_cast<ssize_t>(bytes.size()));
    return bytes;
  };
  const auto key = [&](const std::string& keys, std::size_t i) {
    return keys.substr(i * kKey, kKey);
  };
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(Holds(folder / "store", key(a, i)));
    EXPECT_NE(key(a, i), key(b, i));
    EXPECT_NE(key(a, i), key(a, (i + 1) % 5));
  }
  store->Claim(kA, 1, 2);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(Holds(folder / "store", key(a, i)), i >= 3) << i;
  EXPECT_EQ(now(before_a), std::string(3 * kKey, '\0') + a.substr(3 * kKey));
  store->Claim(kA, 4, 1);
  EXPECT_FALSE(fs::exists(KeysOf(folder / "store", kHexA)));
  EXPECT_EQ(now(before_a), std::string(5 * kKey, '\0'));
  EXPECT_EQ(now(before_b), b);
  store->Drop(kB);
  EXPECT_EQ(now(before_b), std::string(5 * kKey, '\0'));
  ::close(before_a);
  ::close(before_b);
}

TEST(MaterialStore, NothingOfAPieceIsReadableOnTheDisk) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store");
  std::vector<SecretBytes> pieces(3, SecretBytes(5000, 'a'));
  pieces[2] = Pieces(1, std::vector<std::size_t>{300000})[0];
  store->Add(kA, pieces);
  store->Add(kB, pieces);
  EXPECT_FALSE(Holds(folder / "store", std::string(8, 'a')));
  for (std::size_t at = 0; at + 16 <= pieces[2].size(); at += 9999) {
    const auto* from = reinterpret_cast<const char*>(pieces[2].data() + at);
    EXPECT_FALSE(Holds(folder / "store", std::string(from, 16)));
  }
  // Equal pieces look different: each has a key of its own.
  const std::string material = ReadTextFile(MaterialOf(folder / "store", kHexA));
  EXPECT_NE(material.substr(kFixed + 24, 5000), material.substr(kFixed + 24 + 5016, 5000));
  EXPECT_NE(material.substr(kFixed + 24),
            ReadTextFile(MaterialOf(folder / "store", kHexB)).substr(kFixed + 24));
}

// A store with two segments, whose files a test changes.
class DamagedStore : public ::testing::Test {
 protected:
  DamagedStore() {
    const auto store = Open(Folder());
    store->Add(kA, a_);
    store->Add(kB, b_);
    for (const char* hex : {kHexA, kHexB}) {
      material_[hex] = ReadTextFile(MaterialOf(Folder(), hex));
      keys_[hex] = ReadTextFile(KeysOf(Folder(), hex));
    }
  }
  fs::path Folder() const { return folder_ / "store"; }
  // As they were.
  void Restore() {
    for (const char* hex : {kHexA, kHexB}) {
      Write(MaterialOf(Folder(), hex), material_[hex]);
      Write(KeysOf(Folder(), hex), keys_[hex]);
    }
  }
  // A is not there any more, nothing of it is left, and B is as it was.
  void ExpectRemoved(const std::string& what) {
    const auto store = Open(Folder());
    EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kB, 3, 0}})) << what;
    EXPECT_FALSE(fs::exists(MaterialOf(Folder(), kHexA))) << what;
    EXPECT_FALSE(fs::exists(KeysOf(Folder(), kHexA))) << what;
    EXPECT_EQ(store->Claim(kB, 0, 3), b_) << what;
    EXPECT_EQ(NamesIn(Folder()), kNoSegments) << what;
  }
  // A is there and `piece` is not to be had, alone or with others; the others are.
  void ExpectDamaged(std::uint32_t piece, const std::string& what) {
    for (const bool alone : {true, false}) {
      const auto store = Open(Folder());
      ASSERT_EQ(store->Segments().size(), 2U) << what;
      if (piece > 0 && alone) {
        EXPECT_EQ(store->Claim(kA, 0, piece), Part(a_, 0, piece)) << what;
      }
      const std::uint32_t first = alone ? piece : 0, count = alone ? 1 : piece + 1;
      ExpectError([&] { store->Claim(kA, first, count); },
                  fmt::format("piece {} or its key is damaged", piece));
      EXPECT_THROW(store->Claim(kA, piece, 1), Error) << what;
      if (piece + 1 < a_.size()) {
        EXPECT_EQ(store->Segments()[0].spent, piece + 1) << what;
        EXPECT_EQ(store->Claim(kA, piece + 1, 1), Part(a_, piece + 1, 1)) << what;
      }
      EXPECT_EQ(store->Claim(kB, 0, 1), Part(b_, 0, 1)) << what;
      if (alone) change_();
    }
  }
  std::string& Material() { return material_[kHexA]; }
  std::string& Keys() { return keys_[kHexA]; }
  const TemporaryFolder folder_;
  const std::vector<SecretBytes> a_ = Pieces(1, {70, 40, 40, 90}), b_ = Pieces(2, {70, 40, 130});
  std::map<std::string, std::string> material_, keys_;
  std::function<void()> change_;  // makes the files what the test is about
};

TEST_F(DamagedStore, AByteOfTheMaterial) {
  const std::size_t begin = kFixed + 8 * a_.size();
  std::vector<std::size_t> ends;
  for (std::size_t at = begin; const SecretBytes& piece : a_) {
    ends.push_back(at += piece.size() + SegmentHeader::kTagBytes);
  }
  ASSERT_EQ(ends.back(), Material().size());
  for (std::size_t at = 0; at < Material().size(); at += at < begin ? 5 : 17) {
    const std::string what = fmt::format("byte {} of the material", at);
    change_ = [&] {
      Restore();
      std::string bytes = Material();
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      Write(MaterialOf(Folder(), kHexA), bytes);
    };
    change_();
    if (at < begin) {
      ExpectRemoved(what);
    } else {
      std::uint32_t piece = 0;
      while (at >= ends[piece]) ++piece;
      ExpectDamaged(piece, what);
    }
    if (HasFailure()) return;
  }
}

TEST_F(DamagedStore, AByteOfTheKeys) {
  for (std::size_t at = 0; at < Keys().size(); at += at < kFixed ? 5 : 7) {
    const std::string what = fmt::format("byte {} of the keys", at);
    change_ = [&] {
      Restore();
      std::string bytes = Keys();
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      Write(KeysOf(Folder(), kHexA), bytes);
    };
    change_();
    if (at < kFixed) {
      ExpectRemoved(what);
    } else {
      ExpectDamaged(static_cast<std::uint32_t>((at - kFixed) / kKey), what);
    }
    if (HasFailure()) return;
  }
}

TEST_F(DamagedStore, FilesThatAreCutTooLongOrAbsent) {
  for (const bool is_material : {true, false}) {
    const fs::path path = is_material ? MaterialOf(Folder(), kHexA) : KeysOf(Folder(), kHexA);
    const std::string whole = is_material ? Material() : Keys();
    for (std::size_t size = 0; size < whole.size(); size += 17) {
      Restore();
      Write(path, whole.substr(0, size));
      ExpectRemoved(fmt::format("{} of {} bytes", size, whole.size()));
      if (HasFailure()) return;
    }
    Restore();
    Write(path, whole + "x");
    ExpectRemoved("a byte too many");
    Restore();
    fs::remove(path);
    ExpectRemoved("no file");
  }
}

TEST_F(DamagedStore, WhileItIsOpen) {
  const auto store = Open(Folder());
  Write(MaterialOf(Folder(), kHexA), Material().substr(0, Material().size() - 1));
  EXPECT_EQ(store->Claim(kA, 0, 1), Part(a_, 0, 1));
  ExpectError([&] { store->Claim(kA, 3, 1); }, "it was cut");
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kB, 3, 0}}));
  // A key that is zero was spent by somebody.
  Write(KeysOf(Folder(), kHexB),
        keys_[kHexB].substr(0, kFixed + kKey) + std::string(2 * kKey, '\0'));
  EXPECT_EQ(store->Claim(kB, 0, 1), Part(b_, 0, 1));
  ExpectError([&] { store->Claim(kB, 1, 1); }, "piece 1 or its key is damaged");
  fs::remove(KeysOf(Folder(), kHexB));
  ExpectError([&] { store->Claim(kB, 2, 1); }, "its files are gone");
}

// Lengths whose sum is right.
TEST_F(DamagedStore, LengthsThatChangedPlaces) {
  std::string bytes = Material();
  std::swap_ranges(bytes.begin() + kFixed, bytes.begin() + kFixed + 8, bytes.begin() + kFixed + 8);
  Write(MaterialOf(Folder(), kHexA), bytes);
  const auto store = Open(Folder());
  EXPECT_THROW(store->Claim(kA, 0, 1), Error);
  EXPECT_THROW(store->Claim(kA, 1, 1), Error);
  EXPECT_EQ(store->Claim(kA, 2, 2), Part(a_, 2, 2));
}

TEST_F(DamagedStore, FilesOfTwoSegmentsThatChangedPlaces) {
  for (const auto& [material, keys] : {std::pair(true, false), {false, true}, {true, true}}) {
    Restore();
    const auto open = Open(Folder());
    if (material) Write(MaterialOf(Folder(), kHexA), material_[kHexB]);
    if (keys) Write(KeysOf(Folder(), kHexA), keys_[kHexB]);
    EXPECT_THROW(open->Claim(kA, 0, 1), Error);
  }
  for (const auto& [material, keys] : {std::pair(true, false), {false, true}, {true, true}}) {
    Restore();
    if (material) Write(MaterialOf(Folder(), kHexA), material_[kHexB]);
    if (keys) Write(KeysOf(Folder(), kHexA), keys_[kHexB]);
    ExpectRemoved("files of another segment");
  }
}

// What headers say is part of what a tag stands for: with the header made to fit, nothing of
// another segment, of another model or of another place is taken.
TEST_F(DamagedStore, PiecesBelongToTheirPlace) {
  // B as A: both have 70 and 40 bytes first.
  const std::size_t id_at = kFixed - kA.size();
  const auto as_a = [&](std::string bytes) {
    return bytes.replace(id_at, kA.size(), Material().substr(id_at, kA.size()));
  };
  Write(MaterialOf(Folder(), kHexA), as_a(material_[kHexB]));
  Write(KeysOf(Folder(), kHexA), as_a(keys_[kHexB]));
  auto store = Open(Folder());
  ASSERT_EQ(store->Segments().size(), 2U);
  for (const std::uint32_t i : {0U, 1U, 2U}) EXPECT_THROW(store->Claim(kA, i, 1), Error);
  store.reset();
  // Pieces 1 and 2, of one length, with their keys.
  Restore();
  std::string material = Material(), keys = Keys();
  const auto at = static_cast<std::ptrdiff_t>(kFixed + 8 * 4 + 86);
  std::swap_ranges(material.begin() + at, material.begin() + at + 56, material.begin() + at + 56);
  const auto key = static_cast<std::ptrdiff_t>(kFixed + kKey);
  std::swap_ranges(keys.begin() + key, keys.begin() + key + 16, keys.begin() + key + 16);
  Write(MaterialOf(Folder(), kHexA), material);
  Write(KeysOf(Folder(), kHexA), keys);
  store = Open(Folder());
  EXPECT_EQ(store->Claim(kA, 0, 1), Part(a_, 0, 1));
  for (const std::uint32_t i : {1U, 2U}) EXPECT_THROW(store->Claim(kA, i, 1), Error);
  EXPECT_EQ(store->Claim(kA, 3, 1), Part(a_, 3, 1));
  store.reset();
  // Another model.
  Restore();
  material = Material(), keys = Keys();
  material[16] = keys[16] = 9;
  Write(MaterialOf(Folder(), kHexA), material);
  Write(KeysOf(Folder(), kHexA), keys);
  Write(Folder() / "model", "09070700000000000000000000000000\n");
  store = std::make_unique<MaterialStore>(Folder(), ModelId{9, 7, 7}, 100);
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 4, 0}}));
  for (const std::uint32_t i : {0U, 1U, 2U, 3U}) EXPECT_THROW(store->Claim(kA, i, 1), Error);
}

// Zeros that reached the disk in another order: what is before the last is spent, and overwritten.
TEST_F(DamagedStore, KeysBeforeTheLastZeroAreSpent) {
  std::string keys = Keys();
  keys.replace(kFixed + 2 * kKey, kKey, kKey, '\0');
  Write(KeysOf(Folder(), kHexA), keys);
  const auto store = Open(Folder());
  EXPECT_EQ(store->Segments(), (std::vector<SegmentState>{{kA, 4, 3}, {kB, 3, 0}}));
  EXPECT_EQ(ReadTextFile(KeysOf(Folder(), kHexA)).substr(kFixed),
            std::string(3 * kKey, '\0') + keys.substr(kFixed + 3 * kKey));
  for (const std::uint32_t i : {0U, 1U, 2U}) EXPECT_THROW(store->Claim(kA, i, 1), Error);
  EXPECT_EQ(store->Claim(kA, 3, 1), Part(a_, 3, 1));
}

TEST_F(DamagedStore, HalfMadeSegmentsAreDestroyed) {
  fs::remove(MaterialOf(Folder(), kHexA));
  Write(Folder() / ".sotto-0123456789abcdef.part", "half a file");
  const int keys = ::open(KeysOf(Folder(), kHexA).c_str(), O_RDONLY);
  ExpectRemoved("keys alone");
  std::string now(4 * kKey, 'x');
  EXPECT_EQ(::pread(keys, now.data(), now.size(), kFixed), static_cast<ssize_t>(now.size()));
  EXPECT_EQ(now, std::string(4 * kKey, '\0'));
  ::close(keys);
}

TEST(MaterialStore, TakesWhatFits) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store", 5);
  const auto refused = [&](const SegmentId& id, const std::vector<SecretBytes>& pieces,
                           const std::string& part) {
    ExpectError([&] { store->Add(id, pieces); }, part);
  };
  const auto three = Pieces(1, 3);
  store->Add(kA, three);
  refused(kA, Pieces(2, 1), "one of this id is here");
  refused(kB, Pieces(2, 3), "it has 3 pieces and there is room for 2");
  refused(kB, {}, "it has 0 pieces; 1 to 256 allowed");
  refused(kB, Pieces(2, 257), "it has 257 pieces; 1 to 256 allowed");
  refused(kB, Pieces(2, {10, 0}), "a piece has 0 bytes");
  std::vector<SecretBytes> large;
  large.emplace_back(MaterialStore::kMaxPieceBytes + 1);
  refused(kB, large, "a piece has 268435457 bytes; 1 to 268435456 allowed");
  EXPECT_EQ(NamesIn(folder / "store").size(), 4U);
  store->Add(kB, Pieces(2, 2));
  EXPECT_EQ(store->Room(), 0U);
  store->Drop(kB);
  store->Drop(kB);  // nothing happens
  EXPECT_EQ(store->Room(), 2U);
  EXPECT_EQ(store->Claim(kA, 0, 3), three);
  store->Add(kA, Pieces(3, 5));
  EXPECT_EQ(store->Claim(kA, 4, 1), Part(Pieces(3, 5), 4, 1));
  const auto most = Open(folder / "most", 256);
  most->Add(kA, Pieces(4, 256));
  EXPECT_EQ(most->Claim(kA, 0, 256), Pieces(4, 256));
}

TEST(MaterialStore, AnotherProcessIsLockedOut) {
  const TemporaryFolder folder;
  auto store = Open(folder / "store");
  store->Add(kA, Pieces(1, 2));
  ExpectError([&] { Open(folder / "store"); }, "another process has this store of material open");
  const auto in_a_child = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      bool refused = false;
      try {
        Open(folder / "store");
      } catch (const Error&) {
        refused = true;
      }
      ::_exit(refused ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(in_a_child(), 1);
  EXPECT_EQ(store->Claim(kA, 0, 1), Part(Pieces(1, 2), 0, 1));
  store.reset();
  EXPECT_EQ(in_a_child(), 0);
  EXPECT_EQ(Open(folder / "store")->Unspent(), 1U);
}

TEST(MaterialStore, AFullDiskLeavesNothingAndTheRestServes) {
  const TemporaryFolder folder;
  const auto store = Open(folder / "store");
  const auto a = Pieces(1, 4);
  store->Add(kA, a);
  const auto names = NamesIn(folder / "store");
  // A limit on file size stands in for a full disk: write() fails in the same way.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {0U, 100U, 5000U, 200000U}) {
    const rlimit small{bytes, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string error = ErrorOf([&] { store->Add(kB, Pieces(2, {1000, 300000, 20})); });
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_NE(error.find("File too large"), std::string::npos) << error;
    EXPECT_NE(error.find(std::string(kHexB) + ".material"), std::string::npos) << error;
    EXPECT_EQ(NamesIn(folder / "store"), names) << bytes;
    EXPECT_EQ(store->Room(), 996U);
  }
  const rlimit small{200, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(store->Claim(kA, 1, 1), Part(a, 1, 1));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  store->Add(kB, Pieces(2, 1));
  EXPECT_EQ(store->Claim(kB, 0, 1), Pieces(2, 1));
}

TEST(MaterialStore, AFolderIsOfOneModel) {
  const TemporaryFolder folder;
  Open(folder / "store")->Add(kA, Pieces(1, 2));
  ExpectError([&] { MaterialStore(folder / "store", ModelId{8}, 10); },
              "holds material of another model than 08000000000000000000000000000000");
  Write(folder / "store/model", "\x1b[2J");
  ExpectError([&] { Open(folder / "store"); }, "another model");
  Write(folder / "store/model", "07070700000000000000000000000000\n");
  EXPECT_EQ(Open(folder / "store")->Unspent(), 2U);
}

TEST(MaterialStore, IsClosedToOthers) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "store");
  fs::permissions(folder / "store", fs::perms::all);
  const auto store = Open(folder / "store/");
  store->Add(kA, Pieces(1, 1));
  EXPECT_EQ(fs::status(folder / "store").permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder / "store")) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  // A folder of other files is not.
  fs::create_directory(folder / "other");
  fs::permissions(folder / "other", fs::perms::all);
  Write(folder / "other/diary", "");
  ExpectError([&] { Open(folder / "other"); }, "holds other files ('diary')");
  EXPECT_EQ(fs::status(folder / "other").permissions(), fs::perms::all);
  EXPECT_EQ(NamesIn(folder / "other"), std::set<std::string>{"diary"});
  ExpectError([&] { Open(folder / "other/diary"); }, "is not a folder");
  fs::create_symlink(folder / "nowhere", folder / "link");
  ExpectError([&] { Open(folder / "link"); }, "cannot read");
}

TEST(MaterialStore, DestroyLeavesNothing) {
  const TemporaryFolder folder;
  auto store = Open(folder / "store");
  store->Add(kA, Pieces(1, 2));
  store->Add(kB, Pieces(2, 2));
  const int keys = ::open(KeysOf(folder / "store", kHexB).c_str(), O_RDONLY);
  store->Claim(kB, 0, 1);
  store->Destroy();
  EXPECT_FALSE(fs::exists(folder / "store"));
  std::string now(2 * kKey, 'x');
  EXPECT_EQ(::pread(keys, now.data(), now.size(), kFixed), static_cast<ssize_t>(now.size()));
  EXPECT_EQ(now, std::string(2 * kKey, '\0'));
  ::close(keys);
  EXPECT_THROW(store->Claim(kA, 0, 1), Error);
  EXPECT_THROW(store->Add(kA, Pieces(1, 2)), Error);
  EXPECT_FALSE(fs::exists(folder / "store"));
  // Another one may take its place at once, of another model too.
  MaterialStore(folder / "store", ModelId{8}, 10).Add(kA, Pieces(1, 2));
  store.reset();
  // What is not the store's stays, and is told of.
  store = std::make_unique<MaterialStore>(folder / "store", ModelId{8}, 10);
  Write(folder / "store/diary", "");
  ExpectError([&] { store->Destroy(); }, "cannot remove");
  EXPECT_EQ(NamesIn(folder / "store"), std::set<std::string>{"diary"});
}

TEST(SegmentHeader, ComesBackAsItWas) {
  const SegmentHeader material{kModel, kA, 3, {1, MaterialStore::kMaxPieceBytes, 70}};
  const SegmentHeader keys{kModel, kA, 3, {}};
  for (const auto& [kind, header] : {std::pair(File::kMaterial, material), {File::kKeys, keys}}) {
    const auto bytes = header.Serialise(kind);
    const auto size = header.FileBytes(kind);
    EXPECT_EQ(SegmentHeader::Parse(kind, bytes, size), header);
    EXPECT_FALSE(SegmentHeader::Parse(kind, bytes, size - 1));
    EXPECT_FALSE(SegmentHeader::Parse(kind, bytes, size + 1));
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      EXPECT_FALSE(SegmentHeader::Parse(kind, std::span(bytes).first(n), size));
    }
    EXPECT_FALSE(
        SegmentHeader::Parse(kind == File::kKeys ? File::kMaterial : File::kKeys, bytes, size));
  }
  EXPECT_EQ(keys.FileBytes(File::kKeys), 96U);
  // Lengths that no piece has.
  for (const std::uint64_t length :
       {std::uint64_t{0}, MaterialStore::kMaxPieceBytes + 1, ~std::uint64_t{0}}) {
    SegmentHeader wrong = material;
    wrong.lengths[1] = length;
    EXPECT_FALSE(SegmentHeader::Parse(File::kMaterial, wrong.Serialise(File::kMaterial),
                                      wrong.FileBytes(File::kMaterial)));
  }
}

}  // namespace
}  // namespace sotto

#include "privasp/material_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

namespace {

namespace fs = std::filesystem;
using File = SegmentHeader::File;

constexpr std::size_t kKeyBytes = SegmentHeader::kKeyBytes, kTagBytes = SegmentHeader::kTagBytes;
constexpr std::uint32_t kVersion = 1;
constexpr std::array<std::uint8_t, 4> kMaterialLetters = {'S', 'M', 'A', 'T'};
constexpr std::array<std::uint8_t, 4> kKeyLetters = {'S', 'K', 'E', 'Y'};
constexpr std::string_view kMaterial = ".material", kKeys = ".keys";

// Encrypted and written at a time: what the cipher has made is still in the cache when the system
// copies it.
constexpr std::size_t kChunk = std::size_t{128} << 10;

[[noreturn]] void Cannot(const char* what, const fs::path& path) {
  throw Error(fmt::format("cannot {} '{}': {}", what, path.string(), SystemReason()));
}

// The id a file of this name is of.
std::optional<SegmentId> IdOf(const fs::path& name) {
  const std::string stem = name.stem().string();
  SegmentId id{};
  if (name.extension() != kMaterial && name.extension() != kKeys) return std::nullopt;
  if (stem.size() != 2 * id.size()) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const std::size_t digit = kDigits.find(stem[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    id[i / 2] = static_cast<std::uint8_t>(id[i / 2] << 4 | digit);
  }
  return id;
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<fs::path> Names(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
       entry.increment(code)) {
    names.push_back(entry->path().filename());
  }
  if (code) throw Error(fmt::format("cannot read '{}': {}", folder.string(), code.message()));
  return names;
}

// Before the folder is closed to others and a lock is left in it.
void RequireStoreOrEmpty(const fs::path& folder) {
  if (Exists(folder / "model")) return;
  for (const fs::path& name : Names(folder)) {
    // What a store has before its model; it may get that at this moment.
    if (name == "lock" || name.string().starts_with(".sotto-") || Exists(folder / "model")) {
      continue;
    }
    throw Error(fmt::format("'{}' holds other files ('{}'): name a folder for this alone",
                            folder.string(), name.string()));
  }
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  explicit operator bool() const { return fd_ >= 0; }
  int Get() const { return fd_; }

 private:
  int fd_ = -1;
};

// None where there is no such file. Whatever else fails is an Error: a segment must not be taken
// for half-made and destroyed because too many files are open.
Descriptor OpenIfThere(const fs::path& path, int flags, std::uint64_t* size = nullptr) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return file;
  struct stat info {};
  if (!file || ::fstat(file.Get(), &info) != 0) Cannot("open", path);
  if (!S_ISREG(info.st_mode)) {
    throw Error(fmt::format("cannot open '{}': it is not a file", path.string()));
  }
  if (size != nullptr) *size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

void ReadAt(const Descriptor& file, std::span<std::uint8_t> to, std::uint64_t at,
            const fs::path& path) {
  while (!to.empty()) {
    const ssize_t n = ::pread(file.Get(), to.data(), to.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) Cannot("read", path);
    if (n == 0) throw Error(fmt::format("cannot read '{}': it was cut", path.string()));
    to = to.subspan(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
}

// In their own place, synced: a file written anew would leave the keys in the blocks of the old
// one.
void OverwriteWithZeros(const Descriptor& file, std::uint64_t at, std::size_t bytes,
                        const fs::path& path) {
  const std::vector<std::uint8_t> zeros(bytes);
  std::span<const std::uint8_t> rest = zeros;
  while (!rest.empty()) {
    const ssize_t n = ::pwrite(file.Get(), rest.data(), rest.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) Cannot("write", path);
    rest = rest.subspan(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  if (::fdatasync(file.Get()) != 0) Cannot("write", path);
}

fs::path ParentOf(const fs::path& path) {
  return fs::absolute(path).lexically_normal().parent_path();
}

bool IsGone(const fs::path& path) { return ::unlink(path.c_str()) == 0 || errno == ENOENT; }

void Remove(const fs::path& path) {
  if (!IsGone(path)) Cannot("remove", path);
}

std::optional<SegmentHeader> ReadHeader(File kind, const Descriptor& file, std::uint64_t size,
                                        const fs::path& path) {
  std::vector<std::uint8_t> start(std::min<std::uint64_t>(size, SegmentHeader::kMostBytes));
  ReadAt(file, start, 0, path);
  return SegmentHeader::Parse(kind, start, size);
}

bool IsZero(std::span<const std::uint8_t> key) {
  return std::all_of(key.begin(), key.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::span<const std::uint8_t> KeyAt(std::span<const std::uint8_t> keys, std::size_t i) {
  return keys.subspan(i * kKeyBytes, kKeyBytes);
}

// AES-128-GCM. A key serves for one piece, and GCM asks for no more than a nonce that is not used
// twice under one key: it is zero. What a piece is of goes in as additional data, so that none
// takes the place of another.
class PieceCipher {
 public:
  enum class Direction { kDecrypt = 0, kEncrypt = 1 };

  PieceCipher(Direction direction, const ModelId& model, const SegmentId& id)
      : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    std::copy(model.begin(), model.end(), whose_.begin());
    std::copy(id.begin(), id.end(), whose_.begin() + model.size());
    Check(context_ != nullptr &&
          EVP_CipherInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr, nullptr, nullptr,
                            static_cast<int>(direction)) == 1);
  }

  void Start(std::span<const std::uint8_t> key, std::uint32_t index) {
    constexpr std::array<std::uint8_t, 12> kNonce{};
    std::memcpy(whose_.data() + whose_.size() - sizeof index, &index, sizeof index);
    int done = 0;
    Check(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, key.data(), kNonce.data(), -1) == 1 &&
          EVP_CipherUpdate(context_.get(), nullptr, &done, whose_.data(),
                           static_cast<int>(whose_.size())) == 1);
  }
  // `to` may be `from`.
  void Update(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
    int done = 0;
    Check(EVP_CipherUpdate(context_.get(), to, &done, from, static_cast<int>(bytes)) == 1 &&
          done == static_cast<int>(bytes));
  }
  void WriteTag(std::uint8_t* tag) {
    int done = 0;
    Check(EVP_CipherFinal_ex(context_.get(), nullptr, &done) == 1 &&
          EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1);
  }
  bool HasTag(std::uint8_t* tag) {
    int done = 0;
    Check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag) == 1);
    return EVP_CipherFinal_ex(context_.get(), nullptr, &done) == 1;
  }

 private:
  static void Check(bool worked) {
    if (!worked) throw Error("AES-128-GCM of OpenSSL does not work");
  }

  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;  // wipes its key
  std::array<std::uint8_t, sizeof(ModelId) + sizeof(SegmentId) + sizeof(std::uint32_t)> whose_{};
};

std::string_view Text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::uint64_t SegmentHeader::FileBytes(File file) const {
  if (file == File::kKeys) return kFixedBytes + std::uint64_t{pieces} * kKeyBytes;
  std::uint64_t bytes = kFixedBytes + 8 * lengths.size();
  for (const std::uint64_t length : lengths) bytes += length + kTagBytes;
  return bytes;
}

std::vector<std::uint8_t> SegmentHeader::Serialise(File file) const {
  std::vector<std::uint8_t> bytes(kFixedBytes + 8 * lengths.size());
  std::uint8_t* to = bytes.data();
  const auto append = [&](const void* from, std::size_t n) {
    if (n > 0) std::memcpy(to, from, n);
    to += n;
  };
  const std::array<std::uint32_t, 3> numbers = {kVersion, pieces, 0};
  append((file == File::kKeys ? kKeyLetters : kMaterialLetters).data(), 4);
  append(numbers.data(), sizeof numbers);
  append(model.data(), model.size());
  append(id.data(), id.size());
  append(lengths.data(), 8 * lengths.size());
  return bytes;
}

std::optional<SegmentHeader> SegmentHeader::Parse(File file, std::span<const std::uint8_t> start,
                                                  std::uint64_t file_bytes) {
  if (start.size() < kFixedBytes) return std::nullopt;
  const auto take = [&](void* to, std::size_t n) {
    std::memcpy(to, start.data(), n);
    start = start.subspan(n);
  };
  SegmentHeader header;
  std::array<std::uint8_t, 4> letters{};
  std::array<std::uint32_t, 3> numbers{};
  take(letters.data(), letters.size());
  take(numbers.data(), sizeof numbers);
  take(header.model.data(), header.model.size());
  take(header.id.data(), header.id.size());
  header.pieces = numbers[1];
  if (letters != (file == File::kKeys ? kKeyLetters : kMaterialLetters) || numbers[0] != kVersion ||
      header.pieces == 0 || header.pieces > MaterialStore::kMaxPieces || numbers[2] != 0) {
    return std::nullopt;
  }
  if (file == File::kMaterial) {
    if (start.size() < std::size_t{8} * header.pieces) return std::nullopt;
    header.lengths.resize(header.pieces);
    take(header.lengths.data(), 8 * header.lengths.size());
    const bool all_fit =
        std::all_of(header.lengths.begin(), header.lengths.end(), [](std::uint64_t length) {
          return length > 0 && length <= MaterialStore::kMaxPieceBytes;  // nor does the sum wrap
        });
    if (!all_fit) return std::nullopt;
  }
  if (header.FileBytes(file) != file_bytes) return std::nullopt;
  return header;
}

struct MaterialStore::Segment {
  std::uint32_t pieces = 0, spent = 0;
  std::vector<std::uint64_t> lengths;  // of the pieces
};

// What a claim takes with it: keys that nobody else will read, and the files, which stay open
// whoever removes them.
struct MaterialStore::Claimed {
  std::uint32_t burnt = 0, first = 0, end = 0;  // [burnt, end) are spent, [first, end) asked for
  SecretBytes keys;
  std::vector<std::uint64_t> lengths;
  Descriptor key_file, material;
};

fs::path MaterialStore::PathOf(const SegmentId& id, std::string_view extension) const {
  return folder_ / (HexText(id) + std::string(extension));
}

MaterialStore::MaterialStore(fs::path folder, const ModelId& model, std::size_t capacity)
    : folder_(folder.has_filename() ? std::move(folder) : folder.parent_path()),
      model_(model),
      capacity_(capacity) {
  try {
    Lock();
    CheckModel();
    SweepTemporaries(folder_);
    Load();
  } catch (...) {
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

MaterialStore::~MaterialStore() { ::close(lock_); }

void MaterialStore::Lock() {
  const fs::path path = folder_ / "lock";
  MakeFolder(ParentOf(folder_));
  while (true) {
    const bool fresh = ::mkdir(folder_.c_str(), 0700) == 0;
    if (!fresh && errno != EEXIST) Cannot("create", folder_);
    struct stat info {
    }, own{};
    // ENOENT, here and below: a store that was destroyed has taken the folder away since.
    if (::stat(folder_.c_str(), &info) != 0) {
      if (errno == ENOENT && !fs::is_symlink(folder_)) continue;
      Cannot("read", folder_);
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
      throw Error(fmt::format("'{}' is not a folder of one's own", folder_.string()));
    }
    if (!fresh) RequireStoreOrEmpty(folder_);
    if ((info.st_mode & 077) != 0 && ::chmod(folder_.c_str(), 0700) != 0) {
      Cannot("close to others", folder_);
    }
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) Cannot("create", path);
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) Cannot("lock", path);
      throw Error(
          fmt::format("'{}': another process has this store of material open", folder_.string()));
    }
    // The lock counts only while the file has its name.
    if (::fstat(lock_, &own) == 0 && ::lstat(path.c_str(), &info) == 0 &&
        own.st_ino == info.st_ino && own.st_dev == info.st_dev) {
      break;
    }
    ::close(std::exchange(lock_, -1));
  }
}

void MaterialStore::CheckModel() const {
  const fs::path path = folder_ / "model";
  const std::string own = HexText(model_) + "\n";
  if (!Exists(path)) {
    try {
      SyncFolder(ParentOf(folder_));
    } catch (const Error&) {
      // A folder that may be passed through and not read. With the name of this one all would be
      // lost, and what is lost is not used twice.
    }
    WritePrivateFile(path, own, IfExists::kReplace);
  }
  if (ReadTextFile(path, own.size()) != own) {
    throw Error(fmt::format("'{}' holds material of another model than {}", folder_.string(),
                            HexText(model_)));
  }
}

void MaterialStore::Load() {
  std::vector<SegmentId> ids;
  for (const fs::path& name : Names(folder_)) {
    if (const auto id = IdOf(name)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (const SegmentId& id : ids) {
    if (auto segment = LoadSegment(id)) {
      segments_.emplace(id, std::move(*segment));
    } else {
      DestroyFiles(id);
    }
  }
}

// Absent unless both files are whole and a piece is unspent.
std::optional<MaterialStore::Segment> MaterialStore::LoadSegment(const SegmentId& id) const {
  const fs::path material_path = PathOf(id, kMaterial), key_path = PathOf(id, kKeys);
  std::uint64_t material_size = 0, key_size = 0;
  const Descriptor material = OpenIfThere(material_path, O_RDONLY, &material_size);
  const Descriptor key_file = OpenIfThere(key_path, O_RDWR, &key_size);
  if (!material || !key_file) return std::nullopt;
  auto header = ReadHeader(File::kMaterial, material, material_size, material_path);
  const auto key_header = ReadHeader(File::kKeys, key_file, key_size, key_path);
  const SegmentHeader expected{model_, id, header ? header->pieces : 0, {}};
  if (!header || key_header != expected || header->model != model_ || header->id != id) {
    return std::nullopt;
  }
  SecretBytes keys(std::size_t{header->pieces} * kKeyBytes);
  ReadAt(key_file, keys, SegmentHeader::kFixedBytes, key_path);
  // Claims come from the front, but a disk that loses its power may have written the zeros of a
  // later place only: what is before them was given up as well.
  std::uint32_t spent = header->pieces;
  while (spent > 0 && !IsZero(KeyAt(keys, spent - 1))) --spent;
  if (spent == header->pieces) return std::nullopt;
  if (!IsZero(std::span(keys).first(spent * kKeyBytes))) {
    OverwriteWithZeros(key_file, SegmentHeader::kFixedBytes, spent * kKeyBytes, key_path);
  }
  return Segment{header->pieces, spent, std::move(header->lengths)};
}

std::vector<SegmentState> MaterialStore::Segments() const {
  const std::lock_guard lock(mutex_);
  std::vector<SegmentState> states;
  for (const auto& [id, segment] : segments_) states.push_back({id, segment.pieces, segment.spent});
  return states;
}

std::size_t MaterialStore::Unspent() const {
  const std::lock_guard lock(mutex_);
  std::size_t unspent = 0;
  for (const auto& [id, segment] : segments_) unspent += segment.pieces - segment.spent;
  return unspent;
}

std::size_t MaterialStore::Room() const {
  const std::lock_guard lock(mutex_);
  return RoomLocked();
}

std::size_t MaterialStore::RoomLocked() const {
  std::size_t pieces = 0;
  for (const auto& [id, segment] : segments_) pieces += segment.pieces;
  return capacity_ - std::min(capacity_, pieces);
}

void MaterialStore::Add(const SegmentId& id, std::span<const SecretBytes> pieces) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(
        fmt::format("'{}' does not take segment {}: {}", folder_.string(), HexText(id), reason));
  };
  if (pieces.empty() || pieces.size() > kMaxPieces) {
    refuse(fmt::format("it has {} pieces; 1 to {} allowed", pieces.size(), kMaxPieces));
  }
  for (const SecretBytes& piece : pieces) {
    if (!piece.empty() && piece.size() <= kMaxPieceBytes) continue;
    refuse(fmt::format("a piece has {} bytes; 1 to {} allowed", piece.size(), kMaxPieceBytes));
  }
  const std::lock_guard adding(adding_);
  Segment segment{static_cast<std::uint32_t>(pieces.size()), 0, {}};
  for (const SecretBytes& piece : pieces) segment.lengths.push_back(piece.size());
  {
    const std::lock_guard lock(mutex_);
    if (segments_.contains(id)) refuse("one of this id is here");
    if (pieces.size() > RoomLocked()) {
      refuse(fmt::format("it has {} pieces and there is room for {}", pieces.size(), RoomLocked()));
    }
  }
  SecretBytes keys(pieces.size() * kKeyBytes);
  SecureRandomBytes(keys);
  try {
    // The keys last: without them there is no segment.
    WriteMaterial(id, pieces, keys);
    WriteKeys(id, keys);
    const std::lock_guard lock(mutex_);
    segments_.emplace(id, std::move(segment));
  } catch (...) {
    try {
      DestroyFiles(id);
    } catch (const Error&) {
      // The first reason is the one to tell. What is left of a segment is removed on opening.
    }
    throw;
  }
}

void MaterialStore::WriteMaterial(const SegmentId& id, std::span<const SecretBytes> pieces,
                                  std::span<const std::uint8_t> keys) const {
  const fs::path path = PathOf(id, kMaterial);
  SegmentHeader header{model_, id, static_cast<std::uint32_t>(pieces.size()), {}};
  for (const SecretBytes& piece : pieces) header.lengths.push_back(piece.size());
  PendingFile file(path, {IfExists::kReplace, {}, /*is_private=*/true});
  WriteAll(file.Descriptor(), Text(header.Serialise(File::kMaterial)), path);
  PieceCipher cipher(PieceCipher::Direction::kEncrypt, model_, id);
  std::vector<std::uint8_t> buffer(kChunk + kTagBytes);
  for (std::uint32_t i = 0; i < header.pieces; ++i) {
    cipher.Start(KeyAt(keys, i), i);
    std::span<const std::uint8_t> rest = pieces[i];
    while (!rest.empty()) {
      std::size_t n = std::min(rest.size(), kChunk);
      cipher.Update(rest.data(), buffer.data(), n);
      rest = rest.subspan(n);
      if (rest.empty()) {
        cipher.WriteTag(buffer.data() + n);
        n += kTagBytes;
      }
      WriteAll(file.Descriptor(), Text(std::span(buffer).first(n)), path);
    }
  }
  file.Commit();
}

void MaterialStore::WriteKeys(const SegmentId& id, std::span<const std::uint8_t> keys) const {
  const fs::path path = PathOf(id, kKeys);
  const auto pieces = static_cast<std::uint32_t>(keys.size() / kKeyBytes);
  PendingFile file(path, {IfExists::kReplace, {}, /*is_private=*/true});
  WriteAll(file.Descriptor(), Text(SegmentHeader{model_, id, pieces, {}}.Serialise(File::kKeys)),
           path);
  WriteAll(file.Descriptor(), Text(keys), path);
  file.Commit();
}

std::vector<SecretBytes> MaterialStore::Claim(const SegmentId& id, std::uint32_t first,
                                              std::uint32_t count) {
  const Claimed claimed = Spend(id, first, count);
  try {
    std::vector<SecretBytes> pieces = Read(id, claimed);
    RemoveIfSpent(id);
    return pieces;
  } catch (...) {
    RemoveIfSpent(id);
    throw;
  }
}

// In memory, which makes the pieces this claim's; the disk and the slow part come without the lock.
MaterialStore::Claimed MaterialStore::Spend(const SegmentId& id, std::uint32_t first,
                                            std::uint32_t count) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(fmt::format("'{}': segment {}: {}", folder_.string(), HexText(id), reason));
  };
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end()) refuse("there is none of this id");
  Segment& segment = found->second;
  if (count == 0 || count > segment.pieces || first > segment.pieces - count) {
    refuse(fmt::format("{} pieces from piece {} on are asked for, of {}", count, first,
                       segment.pieces));
  }
  if (first < segment.spent) {
    refuse(fmt::format("piece {} is asked for, and the first {} are spent", first, segment.spent));
  }
  Claimed claimed;
  claimed.burnt = segment.spent;
  claimed.first = first;
  claimed.end = first + count;
  claimed.lengths = segment.lengths;
  claimed.keys.resize(count * kKeyBytes);
  const fs::path key_path = PathOf(id, kKeys), material_path = PathOf(id, kMaterial);
  claimed.key_file = OpenIfThere(key_path, O_RDWR);
  claimed.material = OpenIfThere(material_path, O_RDONLY);
  if (!claimed.key_file || !claimed.material) refuse("its files are gone");
  ReadAt(claimed.key_file, claimed.keys, SegmentHeader::kFixedBytes + first * kKeyBytes, key_path);
  segment.spent = claimed.end;
  return claimed;
}

std::vector<SecretBytes> MaterialStore::Read(const SegmentId& id, const Claimed& claimed) const {
  const fs::path path = PathOf(id, kMaterial);
  std::uint64_t at = SegmentHeader::kFixedBytes + 8 * claimed.lengths.size();
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < claimed.end; ++i) {
    (i < claimed.first ? at : bytes) += claimed.lengths[i] + kTagBytes;
  }
  // The disk fetches them while it also writes the zeros.
  ::posix_fadvise(claimed.material.Get(), static_cast<off_t>(at), static_cast<off_t>(bytes),
                  POSIX_FADV_WILLNEED);
  OverwriteWithZeros(claimed.key_file, SegmentHeader::kFixedBytes + claimed.burnt * kKeyBytes,
                     (claimed.end - claimed.burnt) * kKeyBytes, PathOf(id, kKeys));
  PieceCipher cipher(PieceCipher::Direction::kDecrypt, model_, id);
  std::vector<SecretBytes> pieces;
  pieces.reserve(claimed.end - claimed.first);
  for (std::uint32_t i = claimed.first; i < claimed.end; ++i) {
    const std::size_t length = claimed.lengths[i];
    const auto key = KeyAt(claimed.keys, i - claimed.first);
    SecretBytes& piece = pieces.emplace_back(length + kTagBytes);
    ReadAt(claimed.material, piece, at, path);
    at += piece.size();
    if (!IsZero(key)) {
      cipher.Start(key, i);
      cipher.Update(piece.data(), piece.data(), length);
    }
    if (IsZero(key) || !cipher.HasTag(piece.data() + length)) {
      throw Error(fmt::format("'{}': piece {} or its key is damaged", path.string(), i));
    }
    piece.resize(length);
  }
  return pieces;
}

// Its keys are zeros: the names need not go durably, and what stays of them is removed on opening.
void MaterialStore::RemoveIfSpent(const SegmentId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found == segments_.end() || found->second.spent < found->second.pieces) return;
  if (IsGone(PathOf(id, kKeys)) && IsGone(PathOf(id, kMaterial))) segments_.erase(found);
}

void MaterialStore::Drop(const SegmentId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = segments_.find(id);
  if (found != segments_.end()) DropLocked(found);
}

void MaterialStore::DropLocked(std::map<SegmentId, Segment>::iterator segment) {
  segment->second.spent = segment->second.pieces;  // also where the disk fails
  DestroyFiles(segment->first);
  segments_.erase(segment);
}

void MaterialStore::DestroyFiles(const SegmentId& id) const {
  const fs::path path = PathOf(id, kKeys);
  std::uint64_t size = 0;
  if (const Descriptor key_file = OpenIfThere(path, O_RDWR, &size)) {
    constexpr std::size_t kMost = kMaxPieces * kKeyBytes;  // more are not ours
    if (size > SegmentHeader::kFixedBytes) {
      const std::uint64_t bytes = std::min<std::uint64_t>(size - SegmentHeader::kFixedBytes, kMost);
      OverwriteWithZeros(key_file, SegmentHeader::kFixedBytes, bytes, path);
    }
  }
  Remove(path);
  Remove(PathOf(id, kMaterial));
}

void MaterialStore::Destroy() {
  const std::lock_guard adding(adding_);
  const std::lock_guard lock(mutex_);
  while (!segments_.empty()) DropLocked(segments_.begin());
  SweepTemporaries(folder_);
  // A folder with segments and without the name of their model would not be opened again.
  SyncFolder(folder_);
  Remove(folder_ / "model");
  Remove(folder_ / "lock");
  if (::rmdir(folder_.c_str()) != 0) Cannot("remove", folder_);
}

}  // namespace sotto

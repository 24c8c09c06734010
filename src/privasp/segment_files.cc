#include "privasp/segment_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
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

// None where there is no such file. Whatever else fails is an Error: a segment must not be taken
// for half-made and destroyed because too many files are open.
FileDescriptor OpenIfThere(const fs::path& path, int flags, std::uint64_t* size = nullptr) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return file;
  struct stat info {};
  if (!file || ::fstat(file.Get(), &info) != 0) Cannot("open", path);
  if (!S_ISREG(info.st_mode)) {
    throw Error(fmt::format("cannot open '{}': it is not a file", path.string()));
  }
  if (size != nullptr) *size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

void ReadAt(const FileDescriptor& file, std::span<std::uint8_t> to, std::uint64_t at,
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
void OverwriteWithZeros(const FileDescriptor& file, std::uint64_t at, std::size_t bytes,
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

bool IsGone(const fs::path& path) { return ::unlink(path.c_str()) == 0 || errno == ENOENT; }

void RemoveFile(const fs::path& path) {
  if (!IsGone(path)) Cannot("remove", path);
}

std::optional<SegmentHeader> ReadHeader(File kind, const FileDescriptor& file, std::uint64_t size,
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

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<SegmentId> SegmentIdOf(const fs::path& name) {
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
      header.pieces == 0 || header.pieces > kMaxPieces || numbers[2] != 0) {
    return std::nullopt;
  }
  if (file == File::kMaterial) {
    if (start.size() < std::size_t{8} * header.pieces) return std::nullopt;
    header.lengths.resize(header.pieces);
    take(header.lengths.data(), 8 * header.lengths.size());
    const bool all_fit =
        std::all_of(header.lengths.begin(), header.lengths.end(), [](std::uint64_t length) {
          return length > 0 && length <= kMaxPieceBytes;  // nor does the sum wrap
        });
    if (!all_fit) return std::nullopt;
  }
  if (header.FileBytes(file) != file_bytes) return std::nullopt;
  return header;
}

SegmentFiles::SegmentFiles(const fs::path& folder, const ModelId& model, const SegmentId& id)
    : model_(model),
      id_(id),
      material_(folder / (HexText(id) + std::string(kMaterial))),
      keys_(folder / (HexText(id) + std::string(kKeys))) {}

void SegmentFiles::Write(std::span<const SecretBytes> pieces) const {
  SecretBytes keys(pieces.size() * kKeyBytes);
  SecureRandomBytes(keys);
  // The keys last: without them there is no segment.
  WriteMaterial(pieces, keys);
  WriteKeys(keys);
}

void SegmentFiles::WriteMaterial(std::span<const SecretBytes> pieces,
                                 std::span<const std::uint8_t> keys) const {
  SegmentHeader header{model_, id_, static_cast<std::uint32_t>(pieces.size()), {}};
  for (const SecretBytes& piece : pieces) header.lengths.push_back(piece.size());
  PendingFile file(material_, {IfExists::kReplace, {}, /*is_private=*/true});
  WriteAll(file.Descriptor(), Text(header.Serialise(File::kMaterial)), material_);
  PieceCipher cipher(PieceCipher::Direction::kEncrypt, model_, id_);
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
      WriteAll(file.Descriptor(), Text(std::span(buffer).first(n)), material_);
    }
  }
  file.Commit();
}

void SegmentFiles::WriteKeys(std::span<const std::uint8_t> keys) const {
  const auto pieces = static_cast<std::uint32_t>(keys.size() / kKeyBytes);
  PendingFile file(keys_, {IfExists::kReplace, {}, /*is_private=*/true});
  WriteAll(file.Descriptor(), Text(SegmentHeader{model_, id_, pieces, {}}.Serialise(File::kKeys)),
           keys_);
  WriteAll(file.Descriptor(), Text(keys), keys_);
  file.Commit();
}

std::optional<SegmentContent> SegmentFiles::Load() const {
  std::uint64_t material_size = 0, key_size = 0;
  const FileDescriptor material = OpenIfThere(material_, O_RDONLY, &material_size);
  const FileDescriptor key_file = OpenIfThere(keys_, O_RDWR, &key_size);
  if (!material || !key_file) return std::nullopt;
  auto header = ReadHeader(File::kMaterial, material, material_size, material_);
  const auto key_header = ReadHeader(File::kKeys, key_file, key_size, keys_);
  const SegmentHeader expected{model_, id_, header ? header->pieces : 0, {}};
  if (!header || key_header != expected || header->model != model_ || header->id != id_) {
    return std::nullopt;
  }
  SecretBytes keys(std::size_t{header->pieces} * kKeyBytes);
  ReadAt(key_file, keys, SegmentHeader::kFixedBytes, keys_);
  // Claims come from the front, but a disk that loses its power may have written the zeros of a
  // later place only: what is before them was given up as well.
  std::uint32_t spent = header->pieces;
  while (spent > 0 && !IsZero(KeyAt(keys, spent - 1))) --spent;
  if (spent == header->pieces) return std::nullopt;
  if (!IsZero(std::span(keys).first(spent * kKeyBytes))) {
    OverwriteWithZeros(key_file, SegmentHeader::kFixedBytes, spent * kKeyBytes, keys_);
  }
  return SegmentContent{header->pieces, spent, std::move(header->lengths)};
}

ClaimedPieces SegmentFiles::Open(const SegmentContent& segment, std::uint32_t first,
                                 std::uint32_t count) const {
  ClaimedPieces claimed;
  claimed.burnt = segment.spent;
  claimed.first = first;
  claimed.end = first + count;
  claimed.lengths = segment.lengths;
  claimed.keys.resize(count * kKeyBytes);
  claimed.key_file = OpenIfThere(keys_, O_RDWR);
  claimed.material = OpenIfThere(material_, O_RDONLY);
  if (!claimed.key_file || !claimed.material) return claimed;
  ReadAt(claimed.key_file, claimed.keys, SegmentHeader::kFixedBytes + first * kKeyBytes, keys_);
  return claimed;
}

std::vector<SecretBytes> SegmentFiles::Read(const ClaimedPieces& claimed) const {
  std::uint64_t at = SegmentHeader::kFixedBytes + 8 * claimed.lengths.size();
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < claimed.end; ++i) {
    (i < claimed.first ? at : bytes) += claimed.lengths[i] + kTagBytes;
  }
  // The disk fetches them while it also writes the zeros.
  ::posix_fadvise(claimed.material.Get(), static_cast<off_t>(at), static_cast<off_t>(bytes),
                  POSIX_FADV_WILLNEED);
  OverwriteWithZeros(claimed.key_file, SegmentHeader::kFixedBytes + claimed.burnt * kKeyBytes,
                     (claimed.end - claimed.burnt) * kKeyBytes, keys_);
  PieceCipher cipher(PieceCipher::Direction::kDecrypt, model_, id_);
  std::vector<SecretBytes> pieces;
  pieces.reserve(claimed.end - claimed.first);
  for (std::uint32_t i = claimed.first; i < claimed.end; ++i) {
    const std::size_t length = claimed.lengths[i];
    const auto key = KeyAt(claimed.keys, i - claimed.first);
    SecretBytes& piece = pieces.emplace_back(length + kTagBytes);
    ReadAt(claimed.material, piece, at, material_);
    at += piece.size();
    if (!IsZero(key)) {
      cipher.Start(key, i);
      cipher.Update(piece.data(), piece.data(), length);
    }
    if (IsZero(key) || !cipher.HasTag(piece.data() + length)) {
      throw Error(fmt::format("'{}': piece {} or its key is damaged", material_.string(), i));
    }
    piece.resize(length);
  }
  return pieces;
}

bool SegmentFiles::Remove() const { return IsGone(keys_) && IsGone(material_); }

void SegmentFiles::Destroy() const {
  std::uint64_t size = 0;
  if (const FileDescriptor key_file = OpenIfThere(keys_, O_RDWR, &size)) {
    constexpr std::size_t kMost = SegmentHeader::kMaxPieces * kKeyBytes;  // more are not ours
    if (size > SegmentHeader::kFixedBytes) {
      const std::uint64_t bytes = std::min<std::uint64_t>(size - SegmentHeader::kFixedBytes, kMost);
      OverwriteWithZeros(key_file, SegmentHeader::kFixedBytes, bytes, keys_);
    }
  }
  RemoveFile(keys_);
  RemoveFile(material_);
}

void EraseFile(const fs::path& path) {
  std::uint64_t size = 0;
  if (const FileDescriptor file = OpenIfThere(path, O_RDWR, &size)) {
    OverwriteWithZeros(file, 0, size, path);
    RemoveFile(path);
    SyncFolder(path.parent_path());
  }
}

}  // namespace sotto

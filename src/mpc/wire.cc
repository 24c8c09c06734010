#include "mpc/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace sotto {

static_assert(std::endian::native == std::endian::little, "messages are little-endian");

namespace {
constexpr std::array<std::uint8_t, 4> kLetters = {'S', 'M', 'P', 'C'};
}

MessageKind KindOf(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < 6 || !std::equal(kLetters.begin(), kLetters.end(), bytes.begin())) {
    throw Error("message: does not begin with SMPC");
  }
  if (bytes[4] != kWireVersion) {
    throw Error(fmt::format("message: version is {}; {} allowed", bytes[4], kWireVersion));
  }
  return static_cast<MessageKind>(bytes[5]);
}

WireWriter::WireWriter(MessageKind kind, std::size_t values) {
  bytes_.reserve(256 + 8 * values);
  Fixed(kLetters);
  Number(kWireVersion);
  Number(static_cast<std::uint8_t>(kind));
}

void WireWriter::Append(const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::uint8_t*>(from);
  bytes_.insert(bytes_.end(), first, first + bytes);
}

WireReader::WireReader(std::span<const std::uint8_t> bytes, MessageKind kind, const char* name)
    : rest_(bytes), name_(name) {
  std::array<std::uint8_t, 4> letters{};
  Fixed(letters, "header");
  if (letters != kLetters) throw Error(fmt::format("{} message: does not begin with SMPC", name));
  const auto version = Number<std::uint8_t>("version");
  if (version != kWireVersion) Refuse("version", version, std::to_string(kWireVersion));
  const auto found = Number<std::uint8_t>("kind");
  if (found != static_cast<std::uint8_t>(kind)) {
    Refuse("kind", found, std::to_string(static_cast<int>(kind)));
  }
}

bool WireReader::Flag(const char* field) {
  const auto value = Number<std::uint8_t>(field);
  if (value > 1) Refuse(field, value, "0 or 1");
  return value == 1;
}

void WireReader::Finish() const {
  if (rest_.empty()) return;
  throw Error(fmt::format("{} message: {} bytes too long", name_, rest_.size()));
}

void WireReader::Refuse(const char* field, std::uint64_t found, const std::string& allowed) const {
  throw Error(fmt::format("{} message: {} is {}; {} allowed", name_, field, found, allowed));
}

void WireReader::Require(std::size_t count, std::size_t size, const char* field) const {
  if (count <= rest_.size() / size) return;
  throw Error(fmt::format("{} message: ends {} bytes after '{}' begins; {} × {} expected", name_,
                          rest_.size(), field, count, size));
}

void WireReader::CheckCount(std::size_t count, std::size_t limit, const char* field) const {
  if (count > limit) Refuse(field, count, fmt::format("at most {} values", limit));
}

void WireReader::Copy(void* to, std::size_t bytes, const char* field) {
  if (bytes == 0) return;
  Require(bytes, 1, field);
  std::memcpy(to, rest_.data(), bytes);
  rest_ = rest_.subspan(bytes);
}

}  // namespace sotto

// Messages as bytes: a header (four letters, version, kind), then fields of fixed size or preceded
// by their count; little-endian. The reader trusts nothing: it allocates no more than what is
// there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpc/secret.h"

namespace sotto {

inline constexpr std::uint8_t kWireVersion = 1;

enum class MessageKind : std::uint8_t {
  kHello = 1,
  kModelCard,
  kPublicModel,
  kModelShare,
  kMaskShare,
  kOpenedMask,
  kMaterial,
  kReservation,
  kInput,
  kExchange,
  kResult,
  // Of the service around the protocol (privasp/service_messages.h).
  kRefusal = 32,
  kAccepted,
  kAskOffer,
  kOffer,
  kAskReservation,
  kLoadModel,
  kRetire,
  kAskStatus,
  kStatus,
  kAskDemand,
  kDemand,
  kSegment,
  kAnnounce,
  kClaim,
  kClaimed,
  kPing,
  kBurn,
  kPiece,
};

// What the header of a message says; Error when there is none of this version.
MessageKind KindOf(std::span<const std::uint8_t> bytes);

class WireWriter {
 public:
  // `values`: ring elements to come, as far as known; long messages are then not copied as they
  // grow.
  explicit WireWriter(MessageKind kind, std::size_t values = 0);

  template <class T>
  void Number(T value) {
    static_assert(std::is_integral_v<T>);
    Append(&value, sizeof(T));
  }
  // An array of known size.
  template <class Range>
  void Fixed(const Range& values) {
    Append(values.data(), values.size() * sizeof(values[0]));
  }
  // Preceded by its count.
  template <class Range>
  void Counted(const Range& values) {
    Number(static_cast<std::uint32_t>(values.size()));
    if constexpr (std::is_integral_v<typename Range::value_type>) {
      Fixed(values);
    } else {
      for (const auto& value : values) Fixed(value);
    }
  }
  SecretBytes Take() { return std::move(bytes_); }

 private:
  void Append(const void* from, std::size_t bytes);

  SecretBytes bytes_;
};

class WireReader {
 public:
  // Error when the header is not that of `kind`. `name` appears in messages.
  WireReader(std::span<const std::uint8_t> bytes, MessageKind kind, const char* name);

  template <class T>
  T Number(const char* field) {
    T value{};
    Copy(&value, sizeof(T), field);
    return value;
  }
  template <class Array>
  void Fixed(Array& values, const char* field) {
    Copy(values.data(), values.size() * sizeof(values[0]), field);
  }
  // A count, then as many elements, at most `limit`.
  template <class Vector>
  void Counted(Vector& values, std::size_t limit, const char* field) {
    const auto count = Number<std::uint32_t>(field);
    CheckCount(count, limit, field);
    Sized(values, count, field);
  }
  template <class Vector>
  void Sized(Vector& values, std::size_t count, const char* field) {
    using T = typename Vector::value_type;
    Require(count, sizeof(T), field);
    values.resize(count);
    if constexpr (std::is_integral_v<T>) {
      Copy(values.data(), count * sizeof(T), field);
    } else {
      for (auto& value : values) Fixed(value, field);
    }
  }
  // 0 or 1.
  bool Flag(const char* field);
  // Error when bytes are left.
  void Finish() const;
  // Error: `field` is `found`, and what is allowed.
  [[noreturn]] void Refuse(const char* field, std::uint64_t found,
                           const std::string& allowed) const;

 private:
  void Require(std::size_t count, std::size_t size, const char* field) const;
  void CheckCount(std::size_t count, std::size_t limit, const char* field) const;
  void Copy(void* to, std::size_t bytes, const char* field);

  std::span<const std::uint8_t> rest_;
  const char* name_;
};

}  // namespace sotto

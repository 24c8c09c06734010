// A name for content: the same bytes have the same name everywhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sotto {

// Two hexadecimal digits a byte.
std::string HexText(std::span<const std::uint8_t> bytes);

// BLAKE2b-256 (libsodium) as 64 hexadecimal digits. Public: it hides nothing that can be guessed.
std::string ContentDigest(std::string_view bytes);

// The same of what an open file holds, from its start, in bounded memory; its position moves. Error
// names `path` when it cannot be read.
std::string FileDigest(int descriptor, const std::filesystem::path& path);
std::string FileDigest(const std::filesystem::path& path);

// SHA-256 (FIPS 180-4), as other programs print it (sha256sum).
std::string Sha256(std::string_view bytes);

}  // namespace sotto

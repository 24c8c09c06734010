// A name for content: the same bytes have the same name everywhere.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// BLAKE2b-256 (libsodium) as 64 hexadecimal digits. Public: it hides nothing that can be guessed.
std::string ContentDigest(std::string_view bytes);

}  // namespace sotto

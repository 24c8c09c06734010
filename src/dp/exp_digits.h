// The binary digits of e^(−i/64), as far as anybody asks: what an exact comparison of a uniform
// number with such a power needs. The first 64 decide all but one comparison in 10^17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto {

// Digits 64·place+1 … 64·place+64 behind the binary point of e^(−i/64), the first of them as the
// highest bit; i from 1 to 256. Takes about a microsecond at place 0, and quadratically longer
// behind.
std::uint64_t ExpMinus64thDigits(std::uint32_t i, std::size_t place);

}  // namespace sotto

// Any bytes as a pool or a profile: an Error, or a file that comes back as it was. The checksum is
// put right first, so that the parser behind it is reached.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "targets/pool.h"

namespace {

template <typename Parse, typename Serialise>
void RoundTrip(const std::string& bytes, const Parse& parse, const Serialise& serialise) {
  try {
    if (serialise(parse(bytes, "fuzz")) != bytes) std::abort();
  } catch (const sotto::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  RoundTrip(bytes, sotto::ParsePool, sotto::SerialisePool);
  const auto sum = crc32(0, data, static_cast<uInt>(size));
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(sum >> shift);
  RoundTrip(bytes, sotto::ParsePool, sotto::SerialisePool);
  RoundTrip(bytes, sotto::ParseProfile, sotto::SerialiseProfile);
  return 0;
}

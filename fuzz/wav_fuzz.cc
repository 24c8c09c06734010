// Any bytes as a sound file: an Error or finite samples, never anything else.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "audio/sound_file.h"
#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("fuzz", 0);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    sotto::SoundReader reader("/proc/self/fd/" + std::to_string(fd));
    std::vector<float> block(1024 * static_cast<std::size_t>(reader.Format().channels));
    while (const std::size_t frames = reader.Read(block)) {
      for (std::size_t i = 0; i < frames; ++i) {
        if (!std::isfinite(block[i])) std::abort();
      }
      // A few bytes can stand for hours of silence: that much is enough.
      if (reader.Position() > 1000000) break;
    }
  } catch (const sotto::Error&) {
  }
  ::close(fd);
  return 0;
}

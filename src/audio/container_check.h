// Is a sound file all there? Decoders play what is left of a file cut short without a word; here
// that is an error, since a silently shortened recording is a wrong result.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sotto {

struct ContainerVerdict {
  // A WAV whose header leaves the length open, as programs that write to a pipe do.
  bool open_length = false;
  std::uint64_t bytes = 0;  // of the whole file
};

// Walks the chunks of a WAV, the last page of an Ogg stream, the frames of an MP3. Throws Error
// when the file is absent, no regular file, empty, of no container read here (so that no decoder
// for another is ever reached), or ends before its own structure does. FLAC counts its samples
// itself.
ContainerVerdict CheckContainer(const std::filesystem::path& path);

}  // namespace sotto

// Any text as a manifest: problems or an Error, and no path that leaves the corpus.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto scan =
        sotto::ParseManifest({reinterpret_cast<const char*>(data), size}, "corpus/m.tsv");
    for (const sotto::Recording& recording : scan.corpus.recordings) {
      if (sotto::FindUnclean(recording.id) != std::string::npos) std::abort();
      for (const auto& part : recording.path) {
        if (part == "..") std::abort();
      }
    }
  } catch (const sotto::Error&) {
  }
  return 0;
}

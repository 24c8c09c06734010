// Any bytes as sentences with labels: an Error, or what is written and read again as it was.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "text/tagged_sentences.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto sentences =
        sotto::ParseTaggedSentences({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto again = sotto::ParseTaggedSentences(sotto::WriteTaggedSentences(sentences), "again");
    if (again != sentences) std::abort();
  } catch (const sotto::Error&) {
  }
  return 0;
}

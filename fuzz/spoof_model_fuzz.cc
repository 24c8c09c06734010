// Any bytes as a countermeasure: an Error, or a net whose ranges fit and that is written as it was
// read.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "spoof/spoof_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sotto::SpoofModel model =
        sotto::ParseSpoofModel({reinterpret_cast<const char*>(data), size}, "fuzz");
    sotto::CheckRanges(model.net);
    const std::string bytes = sotto::SerialiseSpoofModel(model);
    if (sotto::SerialiseSpoofModel(sotto::ParseSpoofModel(bytes, "again")) != bytes) std::abort();
  } catch (const sotto::Error&) {
  }
  return 0;
}

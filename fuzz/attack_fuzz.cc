// The readers of run records, attackers' headers and trial lists on any bytes. The first byte
// chooses the reader.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attack/attacker_header.h"
#include "attack/trial_plan.h"
#include "base/error.h"
#include "release/release_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  using namespace sotto;
  try {
    switch (data[0] % 5) {
      case 0:
        if (ParseReleaseRecord(text, "fuzz").Describe().empty()) std::abort();
        break;
      case 1:
        RequireAttackerOf(text, ReleaseRecord{}, "0123456789abcdef", "fuzz");
        break;
      case 2:
        ParseTrainingCurve(text, "fuzz");
        break;
      case 3:
        if (ParsePoolRule(text, "fuzz").text.empty()) std::abort();
        break;
      default:
        if (ParseTrialList(text, "fuzz").empty()) std::abort();
    }
  } catch (const Error&) {
    // Refusing is allowed; crashing, looping and undefined behaviour are not.
  }
  return 0;
}

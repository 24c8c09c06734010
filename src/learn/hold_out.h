// Who is kept from a training to be asked in its validations.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sotto {

struct HoldOut {
  std::int64_t count = 20;         // speakers
  std::vector<std::string> names;  // among them in any case
};

// Those named and, up to the count, others drawn by the seed. `candidates`: speakers with at least
// `utterances` utterances, in alphabetical order. Throws Error when one that is named is not among
// them, or they are too few.
std::set<std::string> ChooseHeldOut(std::vector<std::string> candidates, const HoldOut& hold_out,
                                    int utterances, std::uint64_t seed);

}  // namespace sotto

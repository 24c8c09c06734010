// A pattern drawn anew in its own form: digits for digits, letters for letters, "seven" for
// another digit's name, and a checksum that holds where the original's did. What stays is told:
// where digits and letters stand and their capitals, separators and words such as "double" and
// "at", the last part of a host's name, the country of an IBAN, the number of digits of an IP's
// parts.
//
// Every text of the form is as likely as any other.
#pragma once

#include <string>
#include <string_view>

#include "dp/bits.h"
#include "text/entity.h"

namespace sotto {

struct DrawnForm {
  std::string text;
  double log_share = 0.0;  // ln of 1 / the number of texts of this form
  // False: the original holds letters that are never drawn (of other alphabets), so that keeping it
  // would tell it.
  bool original_is_drawn = true;
};

DrawnForm DrawSameForm(EntityType type, std::string_view original, BitSource& bits);

}  // namespace sotto

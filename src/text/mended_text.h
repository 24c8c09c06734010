// Published corpora whose files are not quite UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// A file's own text, as UTF-8: a character outside the first plane as a pair of surrogates (CESU-8)
// becomes that character, other bytes that are no UTF-8 are read as Latin-1.
std::string MendedText(std::string_view bytes);

}  // namespace sotto

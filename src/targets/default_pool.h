// The default pool, made a part of the program by CMakeLists.txt (docs/provenance.md).
#pragma once

#include <string_view>

namespace sotto {

extern const std::string_view kDefaultPoolBytes;  // default_pool.bin

}  // namespace sotto

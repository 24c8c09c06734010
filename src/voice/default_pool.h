// The bytes of default_pool.bin, made a part of the program by CMakeLists.txt.
#pragma once

#include <cstddef>

namespace sotto {

extern const unsigned char kDefaultPoolBytes[];
extern const std::size_t kDefaultPoolSize;

}  // namespace sotto

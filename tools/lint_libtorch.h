// Read before each source of src/learn by clang-tidy alone (./do lint). clang 14 instantiates the
// constexpr members of std::vector where they are named, and libtorch 1.13 names those of a vector
// of a class that is not complete there. With this the vector of libstdc++ 12 is the one of C++17.
#pragma once

#include <memory>
#include <string>

#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#define __fill_a1 __fill_a1_of_bits  // declared constexpr before
#include <vector>
#undef __fill_a1
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR constexpr

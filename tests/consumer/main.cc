// A program of somebody else: protects half a second of noise through the streaming interface.
#include <cstdio>
#include <vector>

#include "base/random.h"
#include "voice/mcadams.h"

int main() {
  sotto::SeededRng rng(1);
  std::vector<float> in(8000), out;
  for (float& x : in) x = static_cast<float>(0.1 * rng.Gaussian());
  const auto transformer = sotto::MakeMcAdams(16000, {});
  transformer->Push(in, out);
  transformer->Finish(out);
  std::printf("%zu samples in, %zu out\n", in.size(), out.size());
  return in.size() == out.size() && in != out ? 0 : 1;
}

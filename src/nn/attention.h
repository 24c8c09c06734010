// Attention within reach, for nets that hear what is further away than convolutions carry it
// (Vaswani et al. 2017, "Attention is all you need", equation 1; positions by turning keys and
// queries, Su et al. 2021, "RoFormer", equation 16): what a word sounds like in a voice or a room
// is told by the seconds around it. Every head is softmax(qᵀk/√key) of the frames no further than
// `reach`, times their values; the layer adds a linear function of all heads to its input.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace sotto {

struct AttentionShape {
  std::int64_t heads = 4;
  std::int64_t key = 16, value = 28;  // of each head; `key` is even
  std::int64_t reach = 128;           // frames to either side

  // By which pair i of a key is turned from one frame to the next, radians.
  double Turn(std::int64_t i) const {
    return std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(key));
  }
};

// x + NAME.out(Attend(NAME.query, NAME.key, NAME.value of the normalised x)).
template <class Backend>
typename Backend::Tensor AttentionLayer(Backend& b, const typename Backend::Tensor& x,
                                        const std::string& name, std::int64_t channels,
                                        const AttentionShape& s) {
  using Tensor = typename Backend::Tensor;
  const Tensor y = b.LayerNorm(x, name + ".norm");
  const Tensor heads = b.Attend(b.Linear(y, name + ".query", channels, s.heads * s.key),
                                b.Linear(y, name + ".key", channels, s.heads * s.key),
                                b.Linear(y, name + ".value", channels, s.heads * s.value), s);
  return b.Add(b.Linear(heads, name + ".out", s.heads * s.value, channels), x);
}

}  // namespace sotto

// Lesson 3: is this the enrolled speaker? Two servers compare a voiceprint with an enrolled one;
// neither sees either of the two, nor how alike they are: only the decision is opened.
//
//   03_secure_speaker_comparison
//
// A dealer, who sees nothing, hands the servers random numbers made for each other. The voiceprints
// here are random vectors; those of `sotto embed` serve as well.
#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <numeric>

#include "base/random.h"
#include "mpc/gates.h"

namespace sotto::examples {
namespace {

constexpr std::size_t kDimension = 192;
constexpr double kThreshold = 0.5;    // of the cosine
constexpr double kUnit = 1 << 13;     // fixed point: 13 fraction bits, so 26 in a cosine
constexpr unsigned kCosineBits = 28;  // |cosine − threshold| < 4, with room for rounding

using Voiceprint = std::vector<double>;

Voiceprint Normalised(Voiceprint v) {
  const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  for (double& value : v) value /= norm;
  return v;
}

// `likeness` of 1 is the same speaker in the same words, 0 somebody else.
Voiceprint Draw(SeededRng& rng, const Voiceprint& speaker, double likeness) {
  Voiceprint v(kDimension);
  for (std::size_t i = 0; i < kDimension; ++i) {
    v[i] = rng.Gaussian() / std::sqrt(kDimension) * (1 - likeness);
    if (!speaker.empty()) v[i] += speaker[i] * likeness;
  }
  return Normalised(v);
}

RingVector FixedPoint(const Voiceprint& v) {
  RingVector fixed;
  for (const double value : v) {
    fixed.push_back(static_cast<std::uint64_t>(std::llround(value * kUnit)));
  }
  return fixed;
}

// What the servers keep of an enrolled speaker, and what the dealer keeps for them.
struct Enrolled {
  std::array<SharedMatrix, 2> at_server;
  std::array<Seed, 2> masks;
};

Enrolled Enrol(const Voiceprint& reference) {
  Enrolled enrolled{{}, {FreshSeed(), FreshSeed()}};   // the seeds: dealer → servers, one each
  const Shares shares = Split(FixedPoint(reference));  // the speaker's device → servers: one each
  std::array<RingMatrix, 2> hidden;                    // server ↔ server
  for (std::size_t p = 0; p < 2; ++p) {
    hidden[p] = HideMatrix(RingMatrix{1, kDimension, shares[p]}, enrolled.masks[p]);
  }
  for (std::size_t p = 0; p < 2; ++p) {
    enrolled.at_server[p] = FinishMatrix(p == 1, hidden[p], hidden[1 - p], enrolled.masks[p]);
  }
  return enrolled;
}

bool Verify(const Enrolled& enrolled, const Voiceprint& probe) {
  // Ahead of time, dealer → servers.
  const auto linear = DealLinear(enrolled.masks, 1, kDimension);
  const auto gate = DealGate(Gate::kSign, kCosineBits, 1);
  // The device that heard the voice has the servers' seeds and sends E to both.
  const RingVector e = HideInput(FixedPoint(probe), {linear[0].input_mask, linear[1].input_mask});
  Shares message;  // server ↔ server: the only one
  for (std::size_t p = 0; p < 2; ++p) {
    const SharedMatrix& reference = enrolled.at_server[p];
    RingVector cosine = ApplyLinear(reference, e, PrepareLinear(reference, linear[p]));
    if (p == 0) cosine[0] -= static_cast<std::uint64_t>(std::llround(kThreshold * kUnit * kUnit));
    message[p] = HideShare(gate[p], cosine);
  }
  const RingVector opened = Open(message[0], message[1]);  // the cosine behind a random number
  return Open(SelectShares(gate[0], opened), SelectShares(gate[1], opened))[0] == 1;
}

int Run() {
  SeededRng rng(1);
  const Voiceprint speaker = Draw(rng, {}, 0);
  const Enrolled enrolled = Enrol(speaker);
  int wrong = 0;
  fmt::print("threshold {}\n\n  cosine   servers say\n", kThreshold);
  for (const double likeness : {0.9, 0.6, 0.45, 0.4, 0.35, 0.33, 0.3, 0.2, 0.0}) {
    const Voiceprint probe = Draw(rng, speaker, likeness);
    const double cosine = std::inner_product(probe.begin(), probe.end(), speaker.begin(), 0.0);
    const bool accepted = Verify(enrolled, probe);
    fmt::print("{:8.4f}   {}\n", cosine, accepted ? "the same speaker" : "somebody else");
    // Rounding moves a cosine by less than 0.001.
    if (std::abs(cosine - kThreshold) > 0.001 && accepted != (cosine > kThreshold)) ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sotto::examples

int main() {
  try {
    return sotto::examples::Run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

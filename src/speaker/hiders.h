// The defences there are, each in files of its own; only their table (hiders.cc) names them.
#pragma once

#include <memory>

namespace sotto {

class HiderMethod;

// Auto-encoder against a discriminator, with Laplace noise between (speaker/gender_aae.h).
std::shared_ptr<const HiderMethod> GenderAaeMethod();
// Least-squares concept erasure (speaker/linear_hiders.h).
std::shared_ptr<const HiderMethod> LeaceMethod();
// Iterative null-space projection (speaker/linear_hiders.h).
std::shared_ptr<const HiderMethod> InlpMethod();
// Incremental variable elimination (speaker/ive.h).
std::shared_ptr<const HiderMethod> IveMethod();
// A map against an ensemble of informed attackers (speaker/adversarial_hider.h).
std::shared_ptr<const HiderMethod> AdversarialMethod();
// Each group's distribution onto the common one (speaker/transport.h).
std::shared_ptr<const HiderMethod> TransportMethod();
// What still tells is cut down to a few coordinates, and these are noised (speaker/erase_noise.h).
std::shared_ptr<const HiderMethod> EraseNoiseMethod();

}  // namespace sotto

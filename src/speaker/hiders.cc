// The table of defences that hide attributes.
#include "speaker/hiders.h"

#include "speaker/hider.h"

namespace sotto {

const HiderMethods& ProgramHiders() {
  static const HiderMethods methods = [] {
    HiderMethods all;
    for (const auto& method : std::initializer_list<std::shared_ptr<const HiderMethod>>{
             GenderAaeMethod(), LeaceMethod(), InlpMethod(), IveMethod(), AdversarialMethod(),
             TransportMethod(), EraseNoiseMethod()}) {
      all.Add(method);
    }
    return all;
  }();
  return methods;
}

}  // namespace sotto

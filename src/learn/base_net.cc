#include "learn/base_net.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sotto {
namespace {

using torch::Tensor;

// Of a name "blocks.7.…"; −1 where it is none.
std::int64_t BlockOf(const std::string& name) {
  constexpr std::string_view kPrefix = "blocks.";
  return name.starts_with(kPrefix) ? std::stoll(name.substr(kPrefix.size())) : -1;
}

}  // namespace

void BeginFrom(const TensorFile& base, const ConvNextOptions& its_body, const ConvNextOptions& body,
               TorchBackend& backend) {
  torch::NoGradGuard no_grad;
  for (auto& [name, value] : backend.ParameterMap()) {
    if (BlockOf(name) >= its_body.blocks) {
      if (name.find(".narrow.") != std::string::npos) value.zero_();
      continue;
    }
    if (name.starts_with("attend.") && !base.tensors.contains(name)) {
      if (name.find(".out.") != std::string::npos) value.zero_();
      continue;
    }
    value.copy_(AsTensor(base.Get(name, value.sizes().vec())));
  }
  for (std::int64_t i = 0; i < std::min(its_body.blocks, body.blocks); ++i) {
    const std::int64_t move = its_body.Depthwise(i).ahead - body.Depthwise(i).ahead;
    if (move == 0) continue;
    Tensor& taps = backend.ParameterMap().at("blocks." + std::to_string(i) + ".depthwise.weight");
    const Tensor moved = torch::zeros_like(taps);
    const std::int64_t kept = body.kernel - std::abs(move);
    if (kept > 0) {
      moved.narrow(1, std::max<std::int64_t>(0, move), kept)
          .copy_(taps.narrow(1, std::max<std::int64_t>(0, -move), kept));
    }
    taps.copy_(moved);
  }
}

}  // namespace sotto

#include "utility/dnsmos.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::size_t kWindow = 144160;  // 9.01 s
constexpr std::size_t kHop = 16000;

}  // namespace

DnsMosJudge::DnsMosJudge(const OnnxRuntimePtr& runtime, const ModelFolders& models)
    : session_(runtime, models, "dnsmos/sig_bak_ovr.onnx") {
  session_.Input("input_1");
  session_.Output("Identity:0");
}

DnsMos MapDnsMos(double sig, double bak, double ovr) {
  return {(-0.08397278 * sig + 1.22083953) * sig + 0.0052439,
          (-0.13166888 * bak + 1.60915514) * bak - 0.39604546,
          (-0.06766283 * ovr + 1.11546468) * ovr + 0.04602535};
}

DnsMos DnsMosJudge::Judge(std::span<const float> x) const {
  if (x.empty()) throw Error("DNSMOS: no samples");
  std::vector<float> sound(x.begin(), x.end());
  while (sound.size() < kWindow) {
    const std::size_t n = sound.size();
    sound.resize(2 * n);
    std::copy_n(sound.begin(), n, sound.begin() + static_cast<std::ptrdiff_t>(n));
  }
  const std::array<std::string, 1> outputs = {"Identity:0"};
  DnsMos sum;
  std::size_t windows = 0;
  // One window for every whole second beyond the first 9.01 s.
  for (std::size_t begin = 0; begin == 0 || begin + kWindow <= sound.size() / kHop * kHop;
       begin += kHop) {
    const OnnxTensor input =
        OnnxTensor::Floats(session_.Runtime(), std::span(sound).subspan(begin, kWindow),
                           {1, static_cast<std::int64_t>(kWindow)});
    const std::array<OnnxSession::Named, 1> inputs = {{{"input_1", &input}}};
    const auto results = session_.Run(inputs, outputs);
    const std::span<const float> raw = results[0].Floats();
    if (raw.size() != 3) throw Error("dnsmos/sig_bak_ovr.onnx: three outputs are expected");
    const DnsMos mapped = MapDnsMos(raw[0], raw[1], raw[2]);
    sum.sig += mapped.sig;
    sum.bak += mapped.bak;
    sum.ovr += mapped.ovr;
    ++windows;
  }
  const auto count = static_cast<double>(windows);
  return {sum.sig / count, sum.bak / count, sum.ovr / count};
}

}  // namespace sotto

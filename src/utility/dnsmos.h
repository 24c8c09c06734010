// DNSMOS P.835 (Reddy, Gopal & Cutler 2022): what listeners of ITU-T P.835 would say about the
// speech (SIG), the background (BAK) and the whole (OVR), 1 to 5, without a reference.
//
// The network hears 9.01 s at 16 kHz; its outputs are mapped to the scale of the listening tests by
// the polynomials its authors published with it. Shorter recordings are repeated until they are
// long enough, longer ones are heard every second and averaged. It was trained on noisy calls: it
// judges noise and distortion, not whether the words survive.
#pragma once

#include <span>

#include "onnx/session.h"

namespace sotto {

struct DnsMos {
  double sig = 0.0, bak = 0.0, ovr = 0.0;
};

class DnsMosJudge {
 public:
  static constexpr int kRateHz = 16000;

  // Throws Error when dnsmos/sig_bak_ovr.onnx is not installed.
  DnsMosJudge(const OnnxRuntimePtr& runtime, const ModelFolders& models);

  // `x` at 16 kHz, at least one sample (else Error). May be called from several threads.
  DnsMos Judge(std::span<const float> x) const;

 private:
  OnnxSession session_;
};

// The published mapping of the network's three outputs.
DnsMos MapDnsMos(double sig, double bak, double ovr);

}  // namespace sotto

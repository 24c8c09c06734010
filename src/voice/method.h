// A way to protect a voice, ready to transform: what `sotto anonymise --method` chooses.
#pragma once

#include <memory>
#include <string>

#include "voice/mcadams.h"
#include "voice/targets.h"
#include "voice/transformer.h"

namespace sotto {

class VoiceMethod {
 public:
  virtual ~VoiceMethod() = default;
  // A transformer for one channel of one utterance. All channels of an utterance get the same
  // target.
  virtual std::unique_ptr<StreamTransformer> MakeTransformer(
      int rate_hz, double peak_limit, const std::string& speaker,
      const std::string& utterance) const = 0;
};

// A value, or a range to draw from: "0.8" or "0.5:0.9".
struct Range {
  double lo = 0.5;
  double hi = 0.9;
  bool IsFixed() const { return lo == hi; }
  std::string Text() const;
  // Error unless both are numbers and lo ≤ hi.
  static Range Parse(const std::string& text, const std::string& name);
};

class McAdamsMethod : public VoiceMethod {
 public:
  // Throws Error when the range leaves what McAdamsOptions allows.
  McAdamsMethod(Range alpha, TargetDraws draws);
  std::unique_ptr<StreamTransformer> MakeTransformer(int rate_hz, double peak_limit,
                                                     const std::string& speaker,
                                                     const std::string& utterance) const override;

 private:
  Range alpha_;
  TargetDraws draws_;
};

}  // namespace sotto

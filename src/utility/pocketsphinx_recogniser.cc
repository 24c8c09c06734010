// PocketSphinx with its US English model (Huggins-Daines et al. 2006): Gaussian mixtures and a
// trigram. It errs on a quarter of clean read words, so it is the weaker judge; it needs nothing
// but two Debian packages.
#include "base/error.h"
#include "utility/recogniser.h"

#ifdef SOTTO_HAS_POCKETSPHINX

#include <pocketsphinx.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace sotto {
namespace {

class Decoder {
 public:
  Decoder() {
    const std::string model = "/usr/share/pocketsphinx/model/en-us/";
    config_.reset(cmd_ln_init(nullptr, ps_args(), TRUE, "-hmm", (model + "en-us").c_str(), "-lm",
                              (model + "en-us.lm.bin").c_str(), "-dict",
                              (model + "cmudict-en-us.dict").c_str(), "-logfn", "/dev/null",
                              nullptr));
    if (config_) decoder_.reset(ps_init(config_.get()));
    if (!decoder_) throw Error("PocketSphinx or its English model is absent (./do deps)");
  }

  std::string Hear(std::span<const float> x) {
    std::vector<std::int16_t> pcm;
    pcm.reserve(x.size());
    for (const float sample : x) {
      pcm.push_back(
          static_cast<std::int16_t>(std::clamp(std::lround(sample * 32767.0F), -32768L, 32767L)));
    }
    // A fresh stream: what the recogniser has learnt of the channel must not pass from one
    // recording to the next.
    ps_start_stream(decoder_.get());
    ps_start_utt(decoder_.get());
    ps_process_raw(decoder_.get(), pcm.data(), pcm.size(), FALSE, TRUE);
    ps_end_utt(decoder_.get());
    std::int32_t score = 0;
    const char* hypothesis = ps_get_hyp(decoder_.get(), &score);
    return hypothesis == nullptr ? "" : hypothesis;
  }

 private:
  struct Free {
    void operator()(cmd_ln_t* config) const { cmd_ln_free_r(config); }
    void operator()(ps_decoder_t* decoder) const { ps_free(decoder); }
  };
  std::unique_ptr<cmd_ln_t, Free> config_;
  std::unique_ptr<ps_decoder_t, Free> decoder_;
};

class PocketSphinxRecogniser : public Recogniser {
 public:
  PocketSphinxRecogniser() { idle_.push_back(std::make_unique<Decoder>()); }
  std::string Name() const override { return "pocketsphinx"; }
  std::string Model() const override { return "PocketSphinx, US English"; }
  std::string Transcribe(std::span<const float> x) const override {
    std::unique_ptr<Decoder> decoder;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) {
        decoder = std::make_unique<Decoder>();
      } else {
        decoder = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    std::string text = decoder->Hear(x);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(decoder));
    return text;
  }

 private:
  // A decoder serves one thread at a time; threads beyond the first get decoders of their own.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Decoder>> idle_;
};

}  // namespace

std::unique_ptr<Recogniser> OpenPocketSphinx() {
  return std::make_unique<PocketSphinxRecogniser>();
}

}  // namespace sotto

#else

std::unique_ptr<sotto::Recogniser> sotto::OpenPocketSphinx() {
  throw Error("not available: this program was built without PocketSphinx (./do deps)");
}

#endif

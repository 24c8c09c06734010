// A way to protect a voice, ready to transform: what a method of the table (voice/method_table.h)
// makes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "targets/draw_ledger.h"
#include "targets/source_voices.h"
#include "voice/transformer.h"

namespace sotto {

class FolderMethod;
class SpeakerEncoder;

// What a method wants to know of the voices to be protected.
struct FitNeeds {
  bool voices = false;   // pitch and gender
  bool genders = false;  // the gender decides: where nobody states it, it is guessed from the pitch
  bool classes = false;  // the classes of the envelope too
  F0Method f0_method = F0Method::kFast;
  // Where given, the embeddings of their utterances by this encoder.
  const SpeakerEncoder* encoder = nullptr;
  // Where given, all of them at once, to make their files itself (release/folder_run.h).
  const FolderMethod* folder = nullptr;
  bool Any() const { return voices || encoder != nullptr || folder != nullptr; }
};

// Built once in the lab (sotto build), fitted to a user where the method needs it, then it
// transforms.
class VoiceMethod {
 public:
  virtual ~VoiceMethod() = default;
  // What Fit must be given before the first MakeTransformer; nothing once it was.
  virtual FitNeeds Needs() const { return {}; }
  bool NeedsFit() const { return Needs().Any(); }
  virtual void Fit(SourceVoices /*sources*/) {}  // NOLINT(performance-unnecessary-value-param)
  // Throws Error when one of these speakers may not be protected by this method.
  virtual void RefuseSpeakers(const std::vector<std::string>& /*speakers*/) const {}
  // The draws made for this utterance that looked at the source, each of which costs epsilon; empty
  // for methods that draw without a look. From any thread, once its transformers have finished.
  virtual std::vector<TargetDraw> DrawsMade(const std::string& /*utterance*/) const { return {}; }
  // A transformer for one channel of one utterance. All channels of an utterance get the same
  // target; noise that protects differs by `channel`. Error when the method could not be fitted to
  // the speaker.
  std::unique_ptr<StreamTransformer> MakeTransformer(int rate_hz, double peak_limit,
                                                     const std::string& speaker,
                                                     const std::string& utterance,
                                                     std::size_t channel = 0) const {
    return MakeChannel(rate_hz, peak_limit, speaker, utterance, channel);
  }

 private:
  virtual std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                         const std::string& speaker,
                                                         const std::string& utterance,
                                                         std::size_t channel) const = 0;
};

// One channel of one utterance, in a file of its own.
struct FolderFile {
  std::string name;  // below both folders: "0001/000001.wav", the same folder for a speaker's all
  std::string speaker, utterance;
  std::size_t channel = 0;
};

// A method that works on a whole corpus and makes all files itself: a command, or a system that has
// to know all speakers at once. What it makes must follow from the sound, its parameters and its
// draws alone.
class FolderMethod : public VoiceMethod {
 public:
  FitNeeds Needs() const override { return {.folder = this}; }
  // From each file below `in` (WAV, one channel) one of its name, rate and number of samples below
  // `out`, which is empty. Throws Error where it cannot.
  virtual void Protect(const std::filesystem::path& in, const std::filesystem::path& out,
                       const std::vector<FolderFile>& files) const = 0;

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const final;
};

}  // namespace sotto

// The protection as an attacker runs it: the release's method on other speech, with draws of their
// own or those of the release, and the same method backwards.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "attack/voiceprints.h"
#include "audio/corpus.h"
#include "base/random.h"
#include "release/release_record.h"
#include "targets/voice_models.h"
#include "voice/method_table.h"

namespace sotto {

// Only these utterances of a corpus; recordings without any go.
Corpus OnlyUtterances(const Corpus& corpus, const std::set<std::string>& ids);

// The voices of a corpus that a method has to know, modelled once for all attackers. Empty where
// the method needs none. A speaker who cannot be modelled is an Error once asked for.
ModelledVoices ModelFor(const VoiceOptions& voice, const Corpus& corpus, int jobs);

class Protector {
 public:
  // `voices` are those of the speakers to be protected (ModelFor), `corpus` is what they said, for
  // a method that works on whole folders.
  Protector(const VoiceOptions& voice, Strategy strategy, const Key& key,
            const std::string& context, const ModelledVoices& voices, const Corpus& corpus = {});

  // Protects every utterance with its own draw.
  SoundChange Change() const;
  // Protects every utterance with the draw that strategy random gives to `utterance`; not possible
  // with a method that works on whole folders.
  SoundChange ChangeAs(const std::string& utterance) const;
  bool WorksOnFolders() const { return works_on_folders_; }
  // What a cache must know: method, parameters, strategy and a fingerprint of the draws.
  const std::string& Text() const { return text_; }

 private:
  std::shared_ptr<const VoiceMethod> method_;
  bool works_on_folders_ = false;
  std::string text_;
};

// One guess at what was done to a recording, and its inverse.
struct Undoing {
  std::string name;  // "alpha 0.7"
  SoundChange change;
};
// A grid over what the method draws (MethodDefinition::Inverses). Empty where there is nothing to
// undo. `quick` takes fewer points.
std::vector<Undoing> UndoGrid(const VoiceOptions& voice, bool quick);

}  // namespace sotto

// Methods that work on whole folders (voice/method.h), made into methods like the others.
#pragma once

#include <filesystem>
#include <memory>

#include "audio/corpus.h"
#include "voice/method.h"

namespace sotto {

// Cuts the utterances of the corpus, has `method` make all of them, and returns what gives each
// utterance the samples that were made of it. Throws Error unless every one came back as a sound
// file of one channel with the same rate and number of samples. Recordings that cannot be read are
// left out: they fail when their turn comes. The files lie in a folder of mode 0700 below `work`
// (empty: the system's folder for temporary files); it goes with the last transformer.
// `merge_overlaps`: as ProtectRecording.
std::unique_ptr<VoiceMethod> RunFolderMethod(const FolderMethod& method, const Corpus& corpus,
                                             const std::filesystem::path& work,
                                             bool merge_overlaps);

}  // namespace sotto

// What the outputs of a corpus run are made from: sound from files and pipes, and a text of all
// that an output follows from, so that a run that is taken up again sees what has changed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "audio/corpus.h"
#include "base/files.h"
#include "voice/method.h"

namespace sotto {

// The sound of one recording, ready to be read from Path().
class RecordingInput {
 public:
  // Runs the pipe, where the recording is one; what it prints is kept in a file without a name in
  // `work`, so that no original is left behind. Error when there is nothing to read.
  RecordingInput(const Recording& recording, const std::filesystem::path& work);

  std::filesystem::path Path() const;
  // Of the content (base/digest.h). It stays in memory.
  std::string Digest() const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<UnnamedFile> piped_;
};

class RunInputs {
 public:
  // A method that has to be fitted learns a speaker's voice from all recordings of that speaker, or
  // makes the whole corpus at once, so that each output follows from all of them; they are read
  // here then.
  RunInputs(const Corpus& corpus, const FitNeeds& needs, const std::filesystem::path& work,
            int jobs);

  // Of recording i, whose content has this digest.
  std::string Text(std::size_t i, const std::string& digest) const;

 private:
  const Corpus& corpus_;
  std::map<std::string, Gender> genders_;
  const bool whole_;
  std::map<std::string, std::string> fitted_;  // by speaker, or of all under no name
};

// Everything that the corpus says beside the sound.
std::string TablesText(const Corpus& corpus);

// Of every recording (RecordingInput::Digest); kUnreadable where there is nothing to read.
inline constexpr const char* kUnreadable = "unreadable";
std::vector<std::string> ReadDigests(const Corpus& corpus, const std::filesystem::path& work,
                                     int jobs);

// The tables and the digests.
std::string CorpusText(const Corpus& corpus, const std::vector<std::string>& digests);

}  // namespace sotto

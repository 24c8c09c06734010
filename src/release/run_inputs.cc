#include "release/run_inputs.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "base/digest.h"
#include "base/error.h"
#include "base/parallel.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// Unambiguous whatever the fields hold.
void Add(std::string& text, std::string_view field) {
  text += fmt::format("{}:", field.size());
  text += field;
}

void AddSpan(std::string& text, const Span& span) {
  Add(text, span.utterance);
  Add(text, span.speaker);
  text += fmt::format("{:a} {:a}", span.begin_s, span.end_s);
  Add(text, span.times);
}

void AddTable(std::string& text, const Table& table) {
  text += fmt::format("table {}\n", table.size());
  for (const auto& [key, value] : table) {
    Add(text, key);
    Add(text, value);
  }
}

void Fetch(const std::string& command, const UnnamedFile& file) {
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw Error(fmt::format("cannot start '{}': {}", command, SystemReason()));
  std::array<char, 1 << 16> buffer;
  std::string failure;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    if (!failure.empty()) continue;  // read on, so that the command ends by itself
    try {
      WriteAll(file.Descriptor(), {buffer.data(), n}, fmt::format("the output of '{}'", command));
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  const int status = ::pclose(pipe);
  if (status != 0) {
    throw Error(fmt::format("pipe '{}' failed with exit code {}", command,
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  }
  if (!failure.empty()) throw Error(failure);
}

}  // namespace

RecordingInput::RecordingInput(const Recording& recording, const fs::path& work)
    : path_(recording.path) {
  if (recording.pipe.empty()) return;
  piped_ = std::make_unique<UnnamedFile>(work);
  Fetch(recording.pipe, *piped_);
}

fs::path RecordingInput::Path() const { return piped_ ? piped_->Path() : path_; }

std::string RecordingInput::Digest() const {
  return piped_ ? FileDigest(piped_->Descriptor(), piped_->Path()) : FileDigest(path_);
}

RunInputs::RunInputs(const Corpus& corpus, const FitNeeds& needs, const fs::path& work, int jobs)
    : corpus_(corpus), genders_(SpeakerGenders(corpus)), whole_(needs.folder != nullptr) {
  if (!needs.Any()) return;
  const std::vector<std::string> digests = ReadDigests(corpus, work, jobs);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    for (const Span& span : corpus.recordings[i].spans) {
      std::string& text = fitted_[whole_ ? "" : span.speaker];
      Add(text, digests[i]);
      AddSpan(text, span);
    }
  }
}

std::string RunInputs::Text(std::size_t i, const std::string& digest) const {
  const Recording& recording = corpus_.recordings[i];
  std::string text;
  Add(text, recording.id);
  Add(text, digest);
  for (const Span& span : recording.spans) {
    AddSpan(text, span);
    if (const auto gender = genders_.find(span.speaker); gender != genders_.end()) {
      Add(text, Name(gender->second));
    }
    if (const auto speaker = fitted_.find(whole_ ? "" : span.speaker); speaker != fitted_.end()) {
      Add(text, ContentDigest(speaker->second));
    }
  }
  return text;
}

std::string TablesText(const Corpus& corpus) {
  std::string text = fmt::format("kind {}\n", static_cast<int>(corpus.kind));
  for (const Recording& recording : corpus.recordings) {
    Add(text, recording.id);
    if (recording.pipe.empty()) {
      Add(text, fs::absolute(recording.path).lexically_normal().string());
    }
    Add(text, recording.pipe);
    Add(text, recording.relative);
    for (const Span& span : recording.spans) AddSpan(text, span);
    text += "\n";
  }
  AddTable(text, corpus.utt2spk);
  AddTable(text, corpus.spk2gender);
  AddTable(text, corpus.text);
  for (const std::string& title : corpus.header) Add(text, title);
  for (const auto& row : corpus.rows) {
    for (const std::string& field : row) Add(text, field);
    text += "\n";
  }
  return text;
}

std::vector<std::string> ReadDigests(const Corpus& corpus, const fs::path& work, int jobs) {
  std::vector<std::string> digests(corpus.recordings.size(), kUnreadable);
  ParallelFor(digests.size(), jobs, [&](std::size_t i) {
    try {
      digests[i] = RecordingInput(corpus.recordings[i], work).Digest();
    } catch (const Error&) {
      // It fails when its turn comes.
    }
  });
  return digests;
}

std::string CorpusText(const Corpus& corpus, const std::vector<std::string>& digests) {
  std::string text = TablesText(corpus);
  for (const std::string& digest : digests) Add(text, digest);
  return text;
}

}  // namespace sotto

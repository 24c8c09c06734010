// `sotto anonymise` on a corpus: resumption, failures by name, all or nothing in the end.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audio/corpus.h"
#include "release/anonymise.h"
#include "release/output_queue.h"
#include "release/run_inputs.h"
#include "release/run_state.h"
#include "voice/method.h"

namespace sotto {

class CorpusRun {
 public:
  // Takes up the run in options.out, or starts one; see RunState.
  CorpusRun(const AnonymiseOptions& options, Corpus corpus);
  AnonymiseReport Run(const std::string& version);

 private:
  void AddNotes();
  void PlanNames();
  void RemoveWithdrawn();
  void AddChangeNotes();
  bool RemoveOutput(const std::string& file);
  bool IsWhole(const MadeItem& item) const;
  double RunItem(std::size_t i, OutputQueue& queue);
  void Fail(std::size_t i, const std::string& reason);
  void ProtectAll();
  void CountDraws(const MadeItem& item);
  void CheckDraws();
  void WriteRecord(const std::string& text) const;
  void RefuseSecrets() const;
  IfExists IfExistsFor(const std::filesystem::path& secret, const std::string& content);
  void WriteKey();
  void WriteMap(const Corpus& released, const std::vector<std::string>& files);
  void Finish(const std::string& version);
  bool FinishInterrupted();
  void RequireNothingElse() const;
  void RemoveEmptyFolders() const;

  const AnonymiseOptions& options_;
  const Corpus corpus_;
  RunState state_;
  std::unique_ptr<VoiceMethod> method_;
  Naming naming_;
  std::optional<RunInputs> inputs_;
  AnonymiseReport report_;
  std::vector<std::string> stems_, files_;  // below OUT, without and with extension
  std::vector<std::string> digests_;        // of the recordings
  std::set<std::size_t> failed_;
  std::size_t changed_ = 0, damaged_ = 0, withdrawn_ = 0;  // outputs of an interrupted run
  std::map<std::string, std::set<std::string>> draws_;     // by speaker
  std::mutex mutex_;
};

}  // namespace sotto

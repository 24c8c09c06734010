// The verbs of sotto-train, and the flags that they share: tables of options, and the files that
// are written.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "audio/speech_pack.h"
#include "learn/options.h"
#include "learn/training_run.h"
#include "nn/safetensors.h"

namespace sotto {

// The flags of each net's training.
void AddEncoderVerb(CLI::App& app);
void AddContentVerb(CLI::App& app);
void AddSynthVerb(CLI::App& app);
void AddAdainVerb(CLI::App& app);
void AddTaggerVerb(CLI::App& app);

// In --help, of the flags that follow.
inline void Heading(CLI::App& verb, const char* name) { verb.option_defaults()->group(name); }

template <class T>
void AddFlags(CLI::App& verb, const OptionTable<T>& table, T& options) {
  for (const Option<T>& o : table) {
    std::string flag = "--" + std::string(o.name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    std::visit([&](auto member) { verb.add_option(flag, options.*member, o.help); }, o.member);
  }
}

// How long a training runs, how fast it learns, whom it holds out.
void AddRunFlags(CLI::App& verb, RunOptions& run, HoldOut& hold_out);

// Appends `more`; its speakers get `suffix`, so that they may be others than those already there.
void Append(SpeechPack& pack, const SpeechPack& more, const std::string& suffix = "");

// A net, and its training record as JSON. Each file is refused when it is there, before the
// training and again after it, unless --force is given. Checkpoints are no such files: a training
// writes its own again and again.
struct OutputFlags {
  std::string out, curve;
  bool force = false;

  void Add(CLI::App& verb, const std::string& what);
  IfExists OnExisting() const { return force ? IfExists::kReplace : IfExists::kRefuse; }
  // Before the work; `also` is a further file, or empty.
  void Check(const std::string& also = {}) const;
  void Write(const TensorFile& file, StoredAs stored) const;
};

}  // namespace sotto

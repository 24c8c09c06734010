// The files that sotto-train writes: a net, and its training record as JSON. Each is refused when
// it is there, before the training and again after it, unless --force is given. Checkpoints are no
// such files: a training writes its own again and again.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "nn/safetensors.h"

namespace sotto {

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

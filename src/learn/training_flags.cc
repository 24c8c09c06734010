#include "learn/training_flags.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {

void AddRunFlags(CLI::App& verb, RunOptions& r, HoldOut& h) {
  Heading(verb, "Run");
  AddFlags(verb, RunOptions::Table(), r);
  verb.add_option("--checkpoint", r.checkpoint,
                  "Write the state of the training here at each validation");
  verb.add_option("--resume", r.resume, "Go on from this checkpoint");
  verb.add_option("--seed", r.seed, "Seed of all that is drawn");
  verb.add_flag("--bf16", r.bf16, "Compute layers in bfloat16 (CUDA alone)");
  verb.add_option("--device", r.device, "Train on this device: cpu or cuda");
  verb.add_option("--held-out", h.count, "Keep so many speakers for validation");
  verb.add_option("--hold-out", h.names, "Keep these speakers for validation in any case");
}

void Append(SpeechPack& pack, const SpeechPack& more, const std::string& suffix) {
  const std::uint64_t offset = pack.samples.size();
  for (PackedUtterance u : more.utterances) {
    u.begin += offset;
    u.speaker += suffix;
    pack.utterances.push_back(std::move(u));
  }
  pack.samples.insert(pack.samples.end(), more.samples.begin(), more.samples.end());
}

void OutputFlags::Add(CLI::App& verb, const std::string& what) {
  Heading(verb, "Output");
  verb.add_option("-o,--out", out, what)->required();
  verb.add_option("--curve", curve, "Write the training record here, as JSON");
  verb.add_flag("--force", force, "Replace output files that exist");
}

void OutputFlags::Check(const std::string& also) const {
  for (const std::string& path : {out, curve, also}) {
    if (!path.empty()) RefuseExisting(path, OnExisting());
  }
  // The second would be refused when it is too late to say another name.
  RequireDistinct({out, curve, also});
}

void OutputFlags::Write(const TensorFile& file, StoredAs stored) const {
  WriteTensorFile(out, file, stored, OnExisting());
  if (!curve.empty()) {
    WriteFileAtomically(curve, file.Meta("sotto.training") + "\n", {.if_exists = OnExisting()});
  }
}

}  // namespace sotto

#include "learn/output_flags.h"

namespace sotto {

void OutputFlags::Add(CLI::App& verb, const std::string& what) {
  verb.add_option("-o,--out", out, what)->required();
  verb.add_option("--curve", curve, "Write the training record as JSON");
  verb.add_flag("--force", force, "Replace an output file that is there");
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

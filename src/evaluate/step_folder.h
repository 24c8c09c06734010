// The working folder of a long run: every finished step leaves one file, whole or not at all, so
// that a run killed at any moment goes on with the step it was in.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sotto {

// Mode 0700: what lies in it (originals' measures, voiceprints, keys of protected copies) is
// personal data. One run at a time: a second one is an Error.
class StepFolder {
 public:
  explicit StepFolder(const std::filesystem::path& path);
  StepFolder(const StepFolder&) = delete;
  StepFolder& operator=(const StepFolder&) = delete;
  ~StepFolder();

  const std::filesystem::path& Path() const { return path_; }

  // The result of step `name` ("mcadams-perm-1f00/attack"): from its file when that was made under
  // the same fingerprint, else by `make`, and kept. `inputs` is a text of all that decides the
  // result; its digest is the fingerprint.
  nlohmann::ordered_json Do(const std::string& name, const std::string& inputs,
                            const std::function<nlohmann::ordered_json()>& make);

  // True when the step's file holds a result made from these inputs.
  bool IsDone(const std::string& name, const std::string& inputs) const;

  std::size_t Made() const { return made_; }
  std::size_t Found() const { return found_; }  // finished by an earlier run

 private:
  std::filesystem::path path_;
  int lock_ = -1;
  std::size_t made_ = 0, found_ = 0;
};

}  // namespace sotto

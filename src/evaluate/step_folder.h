// The working folder of a long run: every finished step leaves one file, whole or not at all, so
// that a run killed at any moment goes on with the step it was in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sotto {

// How the result of a step is kept for a later run, and shown. Without functions it is neither:
// every run makes the step.
template <typename Result>
struct StepForm {
  std::function<std::string(const Result&)> write;  // a JSON value
  // Of what `write` gave; throws Error that names `where`. What a reader has no use for may be
  // lost.
  std::function<Result(std::string_view text, const std::string& where)> read;
  std::function<std::string(const Result&, const std::string& title)> page;  // HTML
};

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
  // the same fingerprint, else by `make`, and kept; as it is read in either case. `inputs` is a
  // text of all that decides the result; its digest is the fingerprint.
  template <typename Result>
  Result Do(const std::string& name, const std::string& inputs, const StepForm<Result>& form,
            const std::function<Result()>& make) {
    if (const auto kept = form.read ? Find(name, inputs) : std::nullopt) {
      try {
        Result result = form.read(*kept, name);
        ++found_;
        return result;
      } catch (const Error&) {  // damaged: made again
      }
    }
    Result result = make();
    ++made_;
    if (!form.write) return result;
    const std::string text = form.write(result);
    Keep(name, inputs, text);
    return form.read(text, name);
  }

  // True when the step's file holds a result made from these inputs.
  bool IsDone(const std::string& name, const std::string& inputs) const {
    return Find(name, inputs).has_value();
  }

  std::size_t Made() const { return made_; }
  std::size_t Found() const { return found_; }  // finished by an earlier run

 private:
  std::optional<std::string> Find(const std::string& name, const std::string& inputs) const;
  void Keep(const std::string& name, const std::string& inputs, const std::string& text) const;

  std::filesystem::path path_;
  int lock_ = -1;
  std::size_t made_ = 0, found_ = 0;
};

}  // namespace sotto

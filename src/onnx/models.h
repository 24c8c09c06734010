// Where foreign models lie. Nothing of them is part of the program; `./do deps --onnx` fetches what
// Sotto itself asks for. They are code and judges from elsewhere: the SHA-256 of each is part of
// the program, and a file that is not the one Sotto was made for is refused unless it is trusted
// (--trust-models). A file that the user names (--encoder my.onnx) is the user's own choice and not
// under this rule; the library that runs it is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sotto {

// A model or library is there and is not the one that was pinned: no reason to go on without it.
class UntrustedModel : public Error {
 public:
  using Error::Error;
};

// Throws UntrustedModel, which names `where` and --trust-models, unless these bytes are the ones
// pinned for the file of this relative name ("silero/silero_vad_v5.onnx"; libraries for this
// processor).
void RequirePinned(const std::filesystem::path& relative, std::string_view bytes,
                   const std::string& where);

// Folders that are searched one after the other, and why one that could have been there is not.
class ModelFolders {
 public:
  // `given` (--models DIR) where it is not empty, $SOTTO_MODELS, ~/.local/share/sotto/models, then
  // $SOTTO_SHARED/data/weights. A `given` that is no folder is an Error; the others need not exist.
  // With `trust` their files are taken as they are.
  static ModelFolders Default(const std::filesystem::path& given = {}, bool trust = false);
  explicit ModelFolders(std::vector<std::filesystem::path> folders, bool trust = false)
      : folders_(std::move(folders)), trust_(trust) {}

  // The first folder's file of this relative name.
  std::optional<std::filesystem::path> Find(const std::filesystem::path& relative) const;
  // The same, or an Error that names the file and every folder.
  std::filesystem::path Require(const std::filesystem::path& relative) const;

  // What that file holds, checked (RequirePinned) unless the folders are trusted: the very bytes
  // that are used, so that nothing can be changed in between.
  std::string Read(const std::filesystem::path& relative) const;

  bool Trusted() const { return trust_; }
  const std::vector<std::filesystem::path>& Folders() const { return folders_; }
  // "a, b (HOME is not set)"
  std::string Describe() const;

 private:
  std::vector<std::filesystem::path> folders_;
  std::string remark_;
  bool trust_ = false;
};

}  // namespace sotto

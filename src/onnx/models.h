// Where foreign models lie. Nothing of them is part of the program; `./do deps --onnx` fetches what
// Sotto itself asks for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

// Folders that are searched one after the other, and why one that could have been there is not.
class ModelFolders {
 public:
  // `given` (--models DIR) where it is not empty, $SOTTO_MODELS, ~/.local/share/sotto/models, then
  // $SOTTO_SHARED/data/weights. A `given` that is no folder is an Error; the others need not exist.
  static ModelFolders Default(const std::filesystem::path& given = {});
  explicit ModelFolders(std::vector<std::filesystem::path> folders)
      : folders_(std::move(folders)) {}

  // The first folder's file of this relative name.
  std::optional<std::filesystem::path> Find(const std::filesystem::path& relative) const;
  // The same, or an Error that names the file and every folder.
  std::filesystem::path Require(const std::filesystem::path& relative) const;

  const std::vector<std::filesystem::path>& Folders() const { return folders_; }
  // "a, b (HOME is not set)"
  std::string Describe() const;

 private:
  std::vector<std::filesystem::path> folders_;
  std::string remark_;
};

}  // namespace sotto

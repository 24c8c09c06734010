// Folders that hold voiceprints and transcripts: nobody but their owner reads them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sotto {

// Makes the folder with its parents, mode 0700 before anything is in it; one that is there already
// is closed to others, and its files that end in `extension` (".ark") get mode 0600. A folder that
// belongs to somebody else, or where everybody may write (/tmp), is an Error: it cannot be closed.
void MakePrivateFolder(const std::filesystem::path& folder, std::string_view extension);

// As WriteFileAtomically, with mode 0600. Inside such a folder.
void WriteInPrivateFolder(const std::filesystem::path& path, std::string_view content);

// A fresh folder of nobody else, removed with all it holds.
class ScratchFolder {
 public:
  // In `where`, or where that is empty in the system's folder for such.
  explicit ScratchFolder(const std::filesystem::path& where = {});
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& Path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace sotto

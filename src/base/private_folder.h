// Folders that hold voiceprints and transcripts: nobody but their owner reads them.
#pragma once

#include <filesystem>
#include <string_view>

namespace sotto {

// Makes the folder with its parents, mode 0700 before anything is in it; one that is there already
// is closed to others, and its files that end in `extension` (".ark") get mode 0600. A folder that
// belongs to somebody else, or where everybody may write (/tmp), is an Error: it cannot be closed.
void MakePrivateFolder(const std::filesystem::path& folder, std::string_view extension);

// As WriteFileAtomically, with mode 0600. Inside such a folder.
void WriteInPrivateFolder(const std::filesystem::path& path, std::string_view content);

}  // namespace sotto

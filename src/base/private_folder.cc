#include "base/private_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/files.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

void SetMode(const fs::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0) {
    throw Error(fmt::format("cannot close '{}' to others: {}", path.string(), SystemReason()));
  }
}

// A folder that is open, and will not be any more: nothing but what an earlier version has left.
void RefuseOtherFiles(const fs::path& folder, std::string_view extension) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    const bool own = entry.path().extension() == extension &&
                     name.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (own) continue;
    throw Error(
        fmt::format("'{}' holds other files ('{}') and would be closed to others: name a folder "
                    "for this alone",
                    folder.string(), entry.path().filename().string()));
  }
}

}  // namespace

void MakePrivateFolder(const fs::path& given, std::string_view extension) {
  const fs::path folder = given.has_filename() ? given : given.parent_path();  // "cache/"
  if (folder.has_parent_path()) MakeFolder(folder.parent_path());
  const bool fresh = ::mkdir(folder.c_str(), 0700) == 0;
  if (!fresh) MakeFolder(folder);  // says what stands in the way
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw Error(fmt::format("cannot read '{}': {}", folder.string(), SystemReason()));
  }
  if (status.st_uid != ::geteuid() || (status.st_mode & S_ISVTX) != 0) {
    throw Error(fmt::format(
        "'{}' is a folder of others too, and voiceprints are personal: name one of your own",
        folder.string()));
  }
  if (!fresh && (status.st_mode & 077) != 0) RefuseOtherFiles(folder, extension);
  SetMode(folder, 0700);
  if (fresh) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    if (entry.path().extension() == extension) SetMode(entry.path(), 0600);
  }
}

void WriteInPrivateFolder(const fs::path& path, std::string_view content) {
  WritePrivateFile(path, content, IfExists::kReplace);
}

ScratchFolder::ScratchFolder(const std::filesystem::path& where) {
  std::string name =
      (where.empty() ? std::filesystem::temp_directory_path() : where) / "sotto-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(fmt::format("cannot create '{}': {}", name, SystemReason()));
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sotto

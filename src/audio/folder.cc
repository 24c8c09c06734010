// A folder of sound files: the speaker is the folder a file lies in.

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostFolders = 200000, kMostDeep = 60;

std::size_t Depth(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(folder.begin(), folder.end()));
}

// Mounts such as /proc: without end, and never what somebody recorded.
bool IsOfTheSystem(const fs::path& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  constexpr std::array<long, 9> kKinds = {
      PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC,      TRACEFS_MAGIC, SECURITYFS_MAGIC,
      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, BPF_FS_MAGIC};
  return std::find(kKinds.begin(), kKinds.end(), static_cast<long>(info.f_type)) != kKinds.end();
}

// By their names: sound, but of kinds that are not read.
bool IsUnreadSound(const fs::path& file) {
  const std::string extension = LowerExtension(file);
  constexpr std::array<std::string_view, 17> kKnown = {
      ".w64", ".rf64", ".aif", ".aiff", ".aifc", ".m4a",  ".mp4", ".aac", ".wma",
      ".amr", ".3gp",  ".caf", ".au",   ".sph",  ".webm", ".mka", ".weba"};
  return std::find(kKnown.begin(), kKnown.end(), extension) != kKnown.end();
}

// Finds the files. Links are followed, since corpora are often put together from them; every
// folder is entered once, so that a link to a folder above ends there.
class Walker {
 public:
  Walker(fs::path root, CorpusScan& scan) : root_(std::move(root)), scan_(scan) {}

  std::vector<fs::path> Files() {
    std::error_code code;
    fs::directory_iterator entries(root_, code);
    if (code) {
      throw Error(fmt::format("cannot read folder '{}': {}", root_.string(), code.message()));
    }
    Enter({});
    std::sort(files_.begin(), files_.end());
    std::sort(scan_.corpus.left_out.begin(), scan_.corpus.left_out.end());
    return std::move(files_);
  }

 private:
  void Add(const fs::path& file, std::string what, std::string fix) {
    scan_.Add(Printable(file.string()), std::move(what), std::move(fix));
  }

  void Enter(const fs::path& folder) {
    struct stat info {};
    if (::stat((root_ / folder).c_str(), &info) != 0) {
      Add(folder, fmt::format("the folder cannot be read: {}", SystemReason()),
          "make it readable, or move it away");
      return;
    }
    if (IsOfTheSystem(root_ / folder)) {
      Add(folder, "a folder in which the system shows itself, not one of files", "remove the link");
      return;
    }
    if (!folder.empty() && fs::is_symlink(root_ / folder) && HoldsTheCorpus(folder)) {
      Add(folder, "a link to a folder that holds this corpus", "remove the link");
      return;
    }
    if (entered_.size() >= kMostFolders || Depth(folder) > kMostDeep) {
      throw Error(
          fmt::format("'{}': more than {} folders, or {} one in another (at '{}'): a link "
                      "that leads out of the corpus?",
                      root_.string(), kMostFolders, kMostDeep, Printable(folder.string())));
    }
    const auto [before, fresh] = entered_.emplace(std::pair{info.st_dev, info.st_ino}, folder);
    if (!fresh) {
      const std::string other = before->second.empty() ? "." : before->second.string();
      Add(folder,
          fmt::format("a link to the folder '{}', which is part of the corpus already",
                      Printable(other)),
          "remove the link");
      return;
    }
    std::error_code code;
    fs::directory_iterator entries(root_ / folder, code);
    std::vector<fs::path> names;
    for (const auto end = fs::directory_iterator(); !code && entries != end;
         entries.increment(code)) {
      names.push_back(entries->path().filename());
    }
    if (code) {
      Add(folder, fmt::format("the folder cannot be read: {}", code.message()),
          "make it readable, or move it away");
    }
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
      if (!name.string().starts_with('.')) Look(folder / name);
    }
  }

  void Look(const fs::path& file) {
    struct stat info {};
    if (::stat((root_ / file).c_str(), &info) != 0) {
      const int reason = errno;
      const bool link = fs::is_symlink(root_ / file);
      errno = reason;
      Add(file,
          fmt::format("{}: {}", link ? "the link leads nowhere" : "it cannot be looked at",
                      SystemReason()),
          link ? "fix the link or remove it" : "make it readable, or move it away");
    } else if (S_ISDIR(info.st_mode)) {
      Enter(file);
    } else if (!HasSoundExtension(file)) {
      scan_.corpus.left_out.push_back(Printable(file.string()));
      if (IsUnreadSound(file)) {
        scan_.Add(Printable(file.string()),
                  "sound of a kind that is not read: it is not part of the corpus",
                  "convert it to WAV or FLAC", Problem::Severity::kWarning);
      }
    } else if (!S_ISREG(info.st_mode)) {
      Add(file, "named like a sound, but a pipe, a socket or a device", "remove it");
    } else if (const std::string name = file.string();
               FindUnclean(name) != std::string::npos ||
               name.find_first_of("\t\r\n") != std::string::npos) {
      // The name becomes an id in tables of lines and in JSON.
      Add(file, "the name is not UTF-8 or holds control characters", "rename it");
    } else {
      files_.push_back(file);
    }
  }

  // Every link is followed once; one to the corpus itself, or to a folder above it, would take in
  // all that lies there.
  bool HoldsTheCorpus(const fs::path& folder) const {
    std::error_code code;
    const fs::path target = fs::canonical(root_ / folder, code);
    const fs::path root = fs::canonical(root_, code);
    return !code && target != root &&
           std::mismatch(target.begin(), target.end(), root.begin(), root.end()).first ==
               target.end();
  }

  const fs::path root_;
  CorpusScan& scan_;
  std::vector<fs::path> files_;
  std::map<std::pair<dev_t, ino_t>, fs::path> entered_;
};

}  // namespace

CorpusScan ScanFolder(const fs::path& root) {
  CorpusScan scan;
  Corpus& corpus = scan.corpus;
  corpus.kind = CorpusKind::kFolder;
  const std::string own_name = fs::absolute(root).lexically_normal().filename().string();
  for (const fs::path& file : Walker(root, scan).Files()) {
    Recording recording;
    recording.id = fs::path(file).replace_extension().string();
    recording.relative = recording.id;
    recording.path = root / file;
    const std::string folder = file.parent_path().string();
    // Not the name of a file in it: escaped is as good.
    const std::string speaker = folder.empty() ? Printable(own_name) : folder;
    recording.spans = {{recording.id, speaker.empty() ? "." : speaker, 0.0, -1.0, {}}};
    corpus.recordings.push_back(std::move(recording));
  }
  return scan;
}

}  // namespace sotto

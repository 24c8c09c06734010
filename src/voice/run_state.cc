#include "voice/run_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr const char* kWorkName = ".sotto-work";
constexpr std::string_view kTitle = "sotto run state 1";

bool HoldsOtherFiles(const fs::path& out) {
  if (!fs::exists(out)) return false;
  for (const auto& entry : fs::directory_iterator(out)) {
    if (entry.path().filename() != kWorkName) return true;
  }
  return false;
}

}  // namespace

RunState::RunState(const fs::path& out, const std::optional<Key>& given_key,
                   std::initializer_list<std::string_view> parameters)
    : work_(out / kWorkName) {
  if (fs::exists(out) && !fs::is_directory(out)) {
    throw Error(fmt::format("'{}' is a file: the output of a corpus is a folder", out.string()));
  }
  const fs::path state = work_ / "state";
  resumed_ = fs::exists(state);
  if (!resumed_ && HoldsOtherFiles(out)) {
    throw Error(fmt::format("'{}' is not empty: choose a new folder for the output", out.string()));
  }
  const auto digest = [&](const Key& key) { return key.Name(parameters, 64); };
  if (resumed_) {
    lock_ = std::make_unique<FileLock>(state);
    const std::string text = ReadTextFile(state);
    const auto lines = SplitLines(text);
    if (lines.size() != 3 || lines[0] != kTitle) {
      throw Error(fmt::format("'{}' is damaged: remove '{}' and start again", state.string(),
                              out.string()));
    }
    const bool stored = lines[1] != "given";
    if (stored) key_ = Key::FromHex(lines[1], state.string());
    if (!stored) key_ = given_key;
    if (stored == given_key.has_value() || !key_ || digest(*key_) != lines[2]) {
      throw Error(
          fmt::format("'{}' holds an unfinished run with other parameters: start it with the "
                      "same ones, or remove the folder",
                      out.string()));
    }
    for (const auto& entry : fs::directory_iterator(work_)) {
      if (entry.path().extension() == ".part") fs::remove(entry.path());
    }
    return;
  }
  key_ = given_key ? *given_key : Key::FromSystem();
  MakeFolder(out);
  if (::mkdir(work_.c_str(), 0700) != 0 && !fs::is_directory(work_)) {
    throw Error(fmt::format("cannot create '{}': {}", work_.string(), SystemReason()));
  }
  const fs::path fresh = work_ / "state.new";
  fs::remove(fresh);
  WritePrivateFile(
      fresh, fmt::format("{}\n{}\n{}\n", kTitle, given_key ? "given" : key_->Hex(), digest(*key_)));
  fs::rename(fresh, state);
  lock_ = std::make_unique<FileLock>(state);
}

RunState::FileLock::FileLock(const fs::path& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  if (fd_ >= 0) ::close(fd_);
  throw Error(
      fmt::format("another run is writing to '{}'", path.parent_path().parent_path().string()));
}

RunState::FileLock::~FileLock() { ::close(fd_); }

void RunState::Complete() {
  std::error_code code;
  // The key first: whatever happens next, it is gone.
  fs::remove(work_ / "state", code);
  fs::remove_all(work_, code);
  if (code) {
    throw Error(fmt::format("cannot remove '{}': {}", work_.string(), code.message()));
  }
}

}  // namespace sotto

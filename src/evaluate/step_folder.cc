#include "evaluate/step_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/private_folder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// What stands around a result: a step's file is JSON as a whole.
std::string Head(const std::string& inputs) {
  return fmt::format("{{\n \"fingerprint\": \"{}\",\n \"result\": ", ContentDigest(inputs));
}
constexpr std::string_view kTail = "\n}\n";

}  // namespace

StepFolder::StepFolder(const fs::path& path) : path_(path) {
  MakePrivateFolder(path, ".json");
  const fs::path lock = path / ".lock";
  lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) throw Error(fmt::format("cannot write '{}': {}", lock.string(), SystemReason()));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw Error(fmt::format("'{}': another run is working in this folder", path.string()));
  }
}

StepFolder::~StepFolder() { ::close(lock_); }

std::optional<std::string> StepFolder::Find(const std::string& name,
                                            const std::string& inputs) const {
  const fs::path file = path_ / (name + ".json");
  if (!fs::exists(file)) return std::nullopt;
  const std::string text = ReadTextFile(file), head = Head(inputs);
  if (!text.starts_with(head) || !text.ends_with(kTail)) return std::nullopt;
  return text.substr(head.size(), text.size() - head.size() - kTail.size());
}

void StepFolder::Keep(const std::string& name, const std::string& inputs,
                      const std::string& text) const {
  const fs::path file = path_ / (name + ".json");
  MakeFolder(file.parent_path());
  WriteInPrivateFolder(file, Head(inputs) + text + std::string(kTail));
}

}  // namespace sotto

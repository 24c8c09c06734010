#include "evaluate/step_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/private_folder.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::optional<ordered_json> ReadStep(const fs::path& file, const std::string& fingerprint) {
  if (!fs::exists(file)) return std::nullopt;
  ordered_json kept = TryParseOrderedJson(ReadTextFile(file));
  if (!kept.is_object() || kept.value("fingerprint", "") != fingerprint ||
      !kept.contains("result")) {
    return std::nullopt;
  }
  return std::move(kept["result"]);
}

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

bool StepFolder::IsDone(const std::string& name, const std::string& inputs) const {
  return ReadStep(path_ / (name + ".json"), ContentDigest(inputs)).has_value();
}

ordered_json StepFolder::Do(const std::string& name, const std::string& inputs,
                            const std::function<ordered_json()>& make) {
  const fs::path file = path_ / (name + ".json");
  const std::string fingerprint = ContentDigest(inputs);
  if (auto kept = ReadStep(file, fingerprint)) {
    ++found_;
    return *std::move(kept);
  }
  ordered_json result = make();
  MakeFolder(file.parent_path());
  WriteInPrivateFolder(
      file, DumpJson(ordered_json{{"fingerprint", fingerprint}, {"result", result}}, 1) + "\n");
  ++made_;
  return result;
}

}  // namespace sotto

#include "onnx/models.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// The variable's value; an empty one counts as not set, as in the XDG rules.
std::optional<std::string> Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

ModelFolders ModelFolders::Default(const fs::path& given) {
  ModelFolders models({});
  if (!given.empty()) {
    std::error_code ignored;
    if (!fs::is_directory(given, ignored)) {
      throw Error(fmt::format("models '{}': no such folder", given.string()));
    }
    models.folders_.push_back(given);
  }
  if (const auto folder = Environment("SOTTO_MODELS")) models.folders_.emplace_back(*folder);
  if (const auto home = Environment("HOME")) {
    models.folders_.push_back(fs::path(*home) / ".local/share/sotto/models");
  } else {
    models.remark_ = " (HOME is not set)";
  }
  if (const auto shared = Environment("SOTTO_SHARED")) {
    models.folders_.push_back(fs::path(*shared) / "data/weights");
  }
  return models;
}

std::optional<fs::path> ModelFolders::Find(const fs::path& relative) const {
  for (const fs::path& folder : folders_) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / relative, ignored)) return folder / relative;
  }
  return std::nullopt;
}

fs::path ModelFolders::Require(const fs::path& relative) const {
  if (auto found = Find(relative)) return *std::move(found);
  throw Error(fmt::format("{} is in none of: {}", relative.string(), Describe()));
}

std::string ModelFolders::Describe() const {
  std::string text;
  for (const fs::path& folder : folders_) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", folder.string());
  }
  return (text.empty() ? "no folder at all" : text) + remark_;
}

}  // namespace sotto

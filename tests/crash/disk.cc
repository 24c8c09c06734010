#include "disk.h"

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace sotto::testing {
namespace {

constexpr std::size_t kRoot = 1;

using Names = std::map<std::pair<std::size_t, std::string>, std::size_t>;  // folder, name -> node

std::pair<std::string, std::string> Split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::size_t Find(const Names& names, const std::string& path, const std::string& root) {
  if (path == root) return kRoot;
  if (path.size() < root.size()) throw std::runtime_error("outside of the watched folder: " + path);
  const auto [folder, name] = Split(path);
  const auto found = names.find({Find(names, folder, root), name});
  return found == names.end() ? 0 : found->second;
}

}  // namespace

Disk::Disk(std::vector<FileOperation> operations, const std::string& root,
           const std::vector<std::string>& folders)
    : operations_(std::move(operations)), nodes_(2) {
  nodes_[kRoot].is_folder = true;
  // As if they had been made and synced first.
  constexpr std::uint32_t kOwnHandle = ~std::uint32_t{0};
  std::vector<FileOperation> first;
  for (const std::string& folder : folders) {
    first.push_back({.call = FileCall::kMakeFolder, .path = folder});
    first.push_back({.call = FileCall::kOpen, .handle = kOwnHandle, .path = Split(folder).first});
    first.push_back({.call = FileCall::kSync, .handle = kOwnHandle});
  }
  operations_.insert(operations_.begin(), first.begin(), first.end());
  Names names;
  std::map<std::uint32_t, std::size_t> handles;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const FileOperation& operation = operations_[i];
    const auto place = [&](const std::string& path) {
      auto [folder, name] = Split(path);
      return std::pair(Find(names, folder, root), std::move(name));
    };
    const auto appear = [&](std::size_t node, const std::string& path) {
      const auto [folder, name] = place(path);
      changes_.push_back({i, node, folder, 0, name, ""});
      names[{folder, name}] = node;
    };
    const auto vanish = [&](const std::string& path) {
      const auto [folder, name] = place(path);
      changes_.push_back({i, names[{folder, name}], 0, folder, "", name});
      names.erase({folder, name});
    };
    const auto make = [&](bool is_folder) {
      nodes_.push_back({is_folder, {}, {}});
      return nodes_.size() - 1;
    };
    switch (operation.call) {
      case FileCall::kOpen: {
        std::size_t node = Find(names, operation.path, root);
        if (node == 0) appear(node = make(false), operation.path);
        if ((operation.flags & O_TRUNC) != 0) nodes_[node].writes.push_back(i);
        handles[operation.handle] = node;
        break;
      }
      case FileCall::kOpenNameless:
        handles[operation.handle] = make(false);
        break;
      case FileCall::kWrite:
        nodes_[handles.at(operation.handle)].writes.push_back(i);
        break;
      case FileCall::kTruncate:
        nodes_[operation.handle == 0 ? Find(names, operation.path, root)
                                     : handles.at(operation.handle)]
            .writes.push_back(i);
        break;
      case FileCall::kSync:
        nodes_[handles.at(operation.handle)].syncs.push_back(i);
        break;
      case FileCall::kRename: {
        if ((operation.flags & RENAME_EXCHANGE) != 0) throw std::runtime_error("RENAME_EXCHANGE");
        const std::size_t node = Find(names, operation.path, root);
        const auto [old_folder, old_name] = place(operation.path);
        appear(node, operation.path2);
        changes_.back().old_folder = old_folder;
        changes_.back().old_name = old_name;
        names.erase({old_folder, old_name});
        break;
      }
      case FileCall::kLink:
        appear(operation.path.empty() ? handles.at(operation.handle)
                                      : Find(names, operation.path, root),
               operation.path2);
        break;
      case FileCall::kMakeFolder:
        appear(make(true), operation.path);
        break;
      case FileCall::kUnlink:
      case FileCall::kRemoveFolder:
        vanish(operation.path);
        break;
      case FileCall::kLook:
      case FileCall::kMode:
        break;
    }
  }
}

std::string Disk::Bytes(std::size_t file, std::size_t n, bool lost, bool zeroed) const {
  std::size_t synced = 0;  // operations before this one are safe
  for (const std::size_t sync : nodes_[file].syncs) {
    if (sync < n) synced = sync;
  }
  std::string bytes, safe;
  for (const std::size_t i : nodes_[file].writes) {
    if (i >= n) break;
    const FileOperation& operation = operations_[i];
    if (operation.call == FileCall::kWrite) {
      const auto offset = static_cast<std::size_t>(operation.offset);
      bytes.resize(std::max(bytes.size(), offset + operation.data.size()));
      bytes.replace(offset, operation.data.size(), operation.data);
    } else {  // a new length, or an O_TRUNC, whose offset is 0
      bytes.resize(static_cast<std::size_t>(operation.offset));
    }
    if (i < synced) safe = bytes;
  }
  if (!lost) return bytes;
  if (zeroed) safe.resize(bytes.size());
  return safe;
}

Tree Disk::After(std::size_t n, Loss loss, SeededRng& rng) const {
  // Names. A folder's names are safe once it was synced after they changed.
  std::size_t last_sync = 0;
  for (const Node& node : nodes_) {
    for (const std::size_t sync : node.syncs) {
      if (node.is_folder && sync < n) last_sync = std::max(last_sync, sync);
    }
  }
  const std::size_t moment = last_sync + rng.Below(n - last_sync + 1);
  const auto is_safe = [&](std::size_t folder, std::size_t operation) {
    const auto& syncs = nodes_[folder].syncs;
    return std::any_of(syncs.begin(), syncs.end(),
                       [&](std::size_t sync) { return sync > operation && sync < n; });
  };
  Names names;
  for (const NameChange& change : changes_) {
    if (change.operation >= n) break;
    bool happened = true;
    if (loss == Loss::kRecent) happened = change.operation < moment;
    if (loss == Loss::kAll || loss == Loss::kAnything) {
      // A rename between folders is one step: the sync of where it went is what counts.
      happened = is_safe(change.folder != 0 ? change.folder : change.old_folder, change.operation);
      if (loss == Loss::kAnything && !happened) happened = rng.Below(2) == 0;
    }
    if (!happened) continue;
    if (change.old_folder != 0) {
      // An earlier rename of it may not have happened: then it goes from where it still is.
      const bool moves = change.folder != 0;
      std::erase_if(names, [&](const auto& item) {
        return item.second == change.node &&
               (moves || item.first == std::pair(change.old_folder, change.old_name));
      });
    }
    if (change.folder != 0) names[{change.folder, change.name}] = change.node;
  }
  // From the root down; what lies in a lost folder is lost.
  Tree tree;
  std::vector<std::pair<std::size_t, std::string>> open = {{kRoot, ""}};
  std::set<std::size_t> seen;
  while (!open.empty()) {
    const auto [folder, path] = open.back();
    open.pop_back();
    if (!seen.insert(folder).second) continue;
    for (auto item = names.lower_bound({folder, ""});
         item != names.end() && item->first.first == folder; ++item) {
      const std::size_t node = item->second;
      const std::string name = path + item->first.second;
      if (nodes_[node].is_folder) {
        tree[name + "/"];
        open.emplace_back(node, name + "/");
        continue;
      }
      const bool lost = loss != Loss::kNothing && (loss != Loss::kAnything || rng.Below(2) == 0);
      const bool zeroed = loss == Loss::kBytesZeroed ||
                          ((loss == Loss::kRecent || loss == Loss::kAnything) && rng.Below(2) == 0);
      tree[name] = Bytes(node, n, lost, zeroed);
    }
  }
  return tree;
}

}  // namespace sotto::testing

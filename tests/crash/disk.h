// What a power cut may leave of a run: the disk as it can be found after the first n operations the
// shim told of, when some of what was not synced is lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "small_run.h"

namespace sotto::testing {

// What becomes of names and bytes that nobody had synced. Synced ones are always there: bytes once
// their file was synced after them, a name once its folder was.
enum class Loss {
  kNothing,      // a kill: the system itself goes on
  kAll,          // names are as they were when their folder was synced, bytes likewise
  kBytesZeroed,  // every name is there, bytes are zeros at their full length
  kBytesCut,     // every name is there, files end where they were synced
  kRecent,       // names of a random moment since the last sync of any folder, bytes are lost
  kAnything,     // every name and every file's bytes are lost or not by the toss of a coin
};

class Disk {
 public:
  // `operations` on the folder `root`, which was empty but for `folders` (absolute paths).
  Disk(std::vector<FileOperation> operations, const std::string& root,
       const std::vector<std::string>& folders = {});

  std::size_t Size() const { return operations_.size(); }
  // The tree below `root` after the first n operations.
  Tree After(std::size_t n, Loss loss, SeededRng& rng) const;

 private:
  // A file's bytes as of the n-th operation.
  std::string Bytes(std::size_t file, std::size_t n, bool lost, bool zeroed) const;

  // One change of names: `node` appears at (folder, name), or goes from (old_folder, old_name), or
  // both. Nodes are numbered; 0 is no node, 1 the root.
  struct NameChange {
    std::size_t operation = 0, node = 0;
    std::size_t folder = 0, old_folder = 0;
    std::string name, old_name;
  };
  struct Node {
    bool is_folder = false;
    std::vector<std::size_t> writes;  // operations: writes, changes of length
    std::vector<std::size_t> syncs;
  };

  std::vector<FileOperation> operations_;
  std::vector<Node> nodes_;
  std::vector<NameChange> changes_;
};

}  // namespace sotto::testing

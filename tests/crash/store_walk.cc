// Takes a store of material in the folder FOLDER/store through the steps of store_walk.h. It is a
// program of its own, for a shim that tells of its file calls, and ends it at one of them.
#include "store_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>

#include "base/error.h"

namespace sotto::testing {
namespace {

void RequireRight(bool right, std::size_t step) {
  if (!right) throw Error("step " + std::to_string(step) + " gave other pieces than were added");
}

void Walk(const std::string& folder) {
  MaterialStore store(WalkStore(folder), kWalkModel, kWalkCapacity);
  std::map<std::uint8_t, std::size_t> added;
  for (std::size_t step = 0; step < StoreSteps().size(); ++step) {
    const auto& [kind, segment, first, count] = StoreSteps()[step];
    const SegmentId id = WalkSegment(segment);
    std::vector<SecretBytes> pieces;
    switch (kind) {
      case StoreStep::Kind::kAdd:
        for (std::uint32_t i = 0; i < count; ++i) pieces.push_back(WalkPiece(step, i));
        store.Add(id, pieces);
        added[segment] = step;
        break;
      case StoreStep::Kind::kClaim:
        pieces = store.Claim(id, first, count);
        RequireRight(pieces.size() == count, step);
        for (std::uint32_t i = 0; i < count; ++i) {
          RequireRight(pieces[i] == WalkPiece(added[segment], first + i), step);
          std::printf("segment %d, piece %u\n", segment, first + i);
        }
        break;
      case StoreStep::Kind::kDrop:
        store.Drop(id);
        break;
      case StoreStep::Kind::kDestroy:
        store.Destroy();
        break;
    }
    ::close(::open(WalkMark(folder, step).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  }
}

}  // namespace
}  // namespace sotto::testing

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    sotto::testing::Walk(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

// Batches of voiceprints for training: as many speakers of each joint category of a corpus, some
// voiceprints of each.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "speaker/hider.h"

namespace sotto {

struct SpeakerBatch {
  std::vector<Eigen::Index> places;    // columns of the data, by joint category
  std::vector<Eigen::Index> of_group;  // how many of each
  std::vector<int> speaker;            // from 0
  std::vector<std::uint8_t> enrols;    // every second voiceprint of a speaker, the first one too
};

class SpeakerBatches {
 public:
  // Of the columns `places` of the data, which it keeps a reference of. `speakers` of a batch,
  // about: corpora in proportion to the speakers of their smallest joint category, one of each at
  // least. `voiceprints` of each of them, at most. Throws Error where nobody has two.
  SpeakerBatches(const HiderData& data, const std::vector<Eigen::Index>& places, int speakers,
                 int voiceprints);

  SpeakerBatch Next(SeededRng& rng);

 private:
  struct Cell {
    std::size_t group;
    int domain;
    std::vector<std::vector<Eigen::Index>> speakers;  // the voiceprints of each
    std::size_t drawn = 1;                            // speakers for a batch
  };

  void SetCounts(int speakers);

  const HiderData& data_;
  std::size_t groups_, voiceprints_;
  std::vector<Cell> cells_;
};

}  // namespace sotto

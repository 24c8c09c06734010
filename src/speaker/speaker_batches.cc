#include "speaker/speaker_batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "speaker/affine_hider.h"

namespace sotto {
namespace {

using Eigen::Index;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

SpeakerBatches::SpeakerBatches(const HiderData& data, const std::vector<Index>& places,
                               int speakers, int voiceprints)
    : data_(data),
      groups_(CountJointCategories(data.header.attributes)),
      voiceprints_(Size(voiceprints)) {
  const std::vector<int> joint = JointCategories(data.categories, data.header.attributes);
  std::map<std::pair<int, int>, std::map<int, std::vector<Index>>> cells;
  bool twice = false;
  for (const Index i : places) {
    auto& own = cells[{joint[Size(i)], data.domain[Size(i)]}][data.speaker[Size(i)]];
    own.push_back(i);
    twice = twice || own.size() > 1;
  }
  if (!twice) throw Error("batches of speakers: no speaker has two voiceprints");
  for (auto& [cell, of_speaker] : cells) {
    Cell one{Size(cell.first), cell.second, {}};
    for (auto& [speaker, own] : of_speaker) one.speakers.push_back(std::move(own));
    cells_.push_back(std::move(one));
  }
  SetCounts(speakers);
}

SpeakerBatch SpeakerBatches::Next(SeededRng& rng) {
  SpeakerBatch batch;
  batch.of_group.assign(groups_, 0);
  std::map<int, int> numbers;
  for (Cell& cell : cells_) {
    const std::size_t n = std::min(cell.drawn, cell.speakers.size());
    for (std::size_t s = 0; s < n; ++s) {
      std::swap(cell.speakers[s], cell.speakers[s + rng.Below(cell.speakers.size() - s)]);
      std::vector<Index>& own = cell.speakers[s];
      const std::size_t count = std::min(own.size(), voiceprints_);
      for (std::size_t i = 0; i < count; ++i) {
        std::swap(own[i], own[i + rng.Below(own.size() - i)]);
        const auto number = static_cast<int>(numbers.size());
        batch.speaker.push_back(
            numbers.try_emplace(data_.speaker[Size(own[i])], number).first->second);
        batch.places.push_back(own[i]);
        batch.enrols.push_back(i % 2 == 0 ? 1 : 0);
      }
      batch.of_group[cell.group] += static_cast<Index>(count);
    }
  }
  return batch;
}

// With as many of every corpus a small one would be learnt by heart.
void SpeakerBatches::SetCounts(int speakers) {
  std::map<int, std::size_t> least;
  for (const Cell& cell : cells_) {
    const std::size_t n = cell.speakers.size();
    std::size_t& known = least.try_emplace(cell.domain, n).first->second;
    known = std::min(known, n);
  }
  double sum = 0.0;
  for (const Cell& cell : cells_) sum += static_cast<double>(least[cell.domain]);
  for (Cell& cell : cells_) {
    const double share = static_cast<double>(least[cell.domain]) / sum;
    cell.drawn = Size(std::max<Index>(1, std::lround(share * speakers)));
  }
}

}  // namespace sotto

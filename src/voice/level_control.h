// Keeps the loudness of a transformed signal and holds its peaks, block by block, with no step at
// the borders of blocks and no change at all where the transformation changed nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace sotto {

// Brings each block to the loudness of the input at the same place: overlapping frames that went
// through different filters add with a little less (or more) than their full amplitude. The
// energies are followed over about a tenth of a second; the gain runs linearly through a block.
class LoudnessKeeper {
 public:
  // The gain stays between these. With a least gain of 0, for voices that are made anew and have a
  // level of their own, what stands where the input is silent is silenced.
  // `forget` is how much of the energy of the blocks before counts.
  explicit LoudnessKeeper(double least_gain = 0.25, double most_gain = 4.0, double forget = 0.9)
      : least_gain_(least_gain),
        most_gain_(most_gain),
        forget_(forget),
        gain_(least_gain > 0.0 ? 1.0 : 0.0) {}

  // `extra_gain` multiplies the gain (what the peak holder asks for).
  void Process(std::span<const double> input, std::span<double> block, double extra_gain);

 private:
  double least_gain_, most_gain_, forget_;
  double energy_in_ = 0.0, energy_out_ = 0.0;
  double gain_;
};

// A block whose peak exceeds the limit is turned down. The gain runs linearly from border to border
// of blocks, where it is the smaller of the gains the two blocks need; so nothing exceeds the
// limit, there is no step and no distortion, and blocks below the limit, with such neighbours, stay
// as they are. Delays by one block, since a border needs the block behind it.
class PeakHolder {
 public:
  PeakHolder(std::size_t block_size, double limit);

  // Takes the next block and, from the second call on, returns the one before it, finished.
  std::span<const double> Process(std::span<const double> block);

  // The gain that would give back the energy this has cost over the last third of a second.
  double LostGain() const { return lost_gain_; }

 private:
  const double limit_;
  std::vector<double> waiting_, finished_;
  bool started_ = false;
  double border_gain_ = 1.0;   // at the start of waiting_
  double waiting_gain_ = 1.0;  // what waiting_ needs
  double energy_free_ = 0.0, energy_held_ = 0.0;
  double lost_gain_ = 1.0;
};

// Made sound is held below the input around it. The loudness above follows over many blocks, so
// that where speech stops at once a tail of made sound would stay, and a breath of it would come
// before an onset. Here no block may have more energy than the loudest of the input's blocks from
// `reach` before it to `reach` behind it, and `margin_db` more; where these are silent it is
// silenced. The gain runs from border to border as in PeakHolder. Delays by reach + 1 blocks.
class LevelCap {
 public:
  LevelCap(std::size_t block_size, std::size_t reach, double margin_db);

  // Takes the input's and the made block of one place; once `reach` + 1 more have been taken,
  // returns the made one, finished. Empty before that.
  std::span<const double> Process(std::span<const double> input, std::span<const double> block);

  std::size_t DelayBlocks() const { return reach_ + 1; }

 private:
  double GainOf(std::size_t place) const;  // of a block in blocks_

  const std::size_t reach_;
  const double limit_;                      // of energies
  std::deque<double> energies_;             // of the input: reach_ before blocks_.front() and on
  std::deque<std::vector<double>> blocks_;  // made, not finished
  std::vector<double> finished_;
  double border_gain_ = 1.0;  // at the start of blocks_.front()
};

}  // namespace sotto

// Keeps the loudness of a transformed signal and holds its peaks, block by block, with no step at
// the borders of blocks and no change at all where the transformation changed nothing.
#pragma once

#include <cstddef>
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

// Both for a voice that is made anew: what has been synthesised comes to the loudness of the input
// at the same place, and its peaks are held. One hop of 10 ms late, at 16 kHz.
class VoiceLevel {
 public:
  explicit VoiceLevel(double peak_limit) : peaks_(kHop, peak_limit) {}

  void TakeInput(std::span<const float> in);
  // Where the synthesised samples are appended.
  std::vector<float>& Sound() { return sound_; }
  // Appends what is ready.
  void Deliver(std::vector<float>& out);
  // Appends the rest: as many samples in all as came in.
  void Finish(std::vector<float>& out);

 private:
  static constexpr std::size_t kHop = 160;
  LoudnessKeeper loudness_{0.0, 16.0, 0.6};  // follows a fall of 30 dB in 0.14 s
  PeakHolder peaks_;
  std::vector<float> input_, sound_;
  std::size_t taken_ = 0, emitted_ = 0;
};

}  // namespace sotto

// Keeps the loudness of a transformed signal and holds its peaks, block by block, with no step at
// the borders of blocks and no change at all where the transformation changed nothing.
#pragma once

#include <algorithm>
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
  // 12 dB both ways: further apart the two sounds are not the same any more.
  static constexpr double kLeastGain = 0.25, kMostGain = 4.0;
  // Per hop of 10 ms. Between 0.5 and 0.97 it makes little difference; follow faster, and short
  // recordings get up to 2 dB louder, slower, and onsets overshoot.
  static constexpr double kForget = 0.9;

  // The gain stays between these. With a least gain of 0, for voices that are made anew and have a
  // level of their own, what stands where the input is silent is silenced.
  // `forget` is how much of the energy of the blocks before counts.
  explicit LoudnessKeeper(double least_gain = kLeastGain, double most_gain = kMostGain,
                          double forget = kForget)
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

  // Takes the next block and, from the second call on, returns the one before it, finished. The
  // block gets no more than `most_gain` (what LevelCap allows), whatever its peak.
  std::span<const double> Process(std::span<const double> block, double most_gain = 1.0);

  // The gain that would give back the energy that the peaks, and they alone, have cost over the
  // last third of a second.
  double LostGain() const { return lost_gain_; }

 private:
  struct Gains {
    double all = 1.0;
    double free = 1.0;  // were there no peaks
  };

  const double limit_;
  std::vector<double> waiting_, finished_;
  bool started_ = false;
  Gains border_;  // at the start of waiting_
  Gains needs_;   // of waiting_
  double energy_free_ = 0.0, energy_held_ = 0.0;
  double lost_gain_ = 1.0;
};

// How much of the input's amplitude is speech, block by block, so that made speech follows that and
// not the noise between the words: the level of a room's noise tells recordings apart about as well
// as a poor speaker encoder does (38 % EER on LibriSpeech by the quietest tenth of the blocks
// alone). The floor is the least of the energies (smoothed over five blocks) from `before` to
// `behind` blocks away (minimum statistics: Martin 2001), but never less than 15 dB below the
// loudest of them, so that a steady sound is not taken for its own noise; 4 dB above the floor are
// subtracted.
class SpeechShare {
 public:
  explicit SpeechShare(std::size_t before, std::size_t behind) : before_(before), behind_(behind) {}

  // The energy of the input's next block; Finish after the last. Blocks that come then are filling:
  // they have a share as well and do not count for the floor.
  void Push(double energy);
  void Finish() {
    finished_ = true;
    end_ = std::max<std::size_t>(known_, 1);
  }
  // Whether as many blocks behind the next one are known as it takes: for its floor, and one.
  bool Ready() const {
    return next_ < known_ && (finished_ || next_ + std::max<std::size_t>(behind_, 1) < known_);
  }
  // Factor for the amplitude of the next block, from 0 to 1.
  double Next();

 private:
  const std::size_t before_, behind_;
  std::deque<double> energies_, smooth_;  // from block from_ on
  std::size_t from_ = 0, next_ = 0, known_ = 0;
  std::size_t end_ = 0;  // of the input, once finished
  bool finished_ = false;
};

// Made sound is held below the input around it. The loudness above follows over many blocks, so
// that where speech stops at once a tail of made sound would stay, and a breath of it would come
// before an onset. Here no block may have more energy than the loudest of the input's blocks from
// `reach` before it to `reach` behind it, and `margin_db` more; where these are silent it is
// silenced. Says the gain alone, for PeakHolder. The input is known long before its made sound, so
// that looking ahead costs no time.
class LevelCap {
 public:
  LevelCap(std::size_t reach, double margin_db);

  // The energy of the input's next block.
  void Push(double energy) { energies_.push_back(energy); }
  // Whether the input's blocks around the next made one are known.
  bool Ready() const { return energies_.size() > 2 * reach_; }
  // Most gain for the next made block.
  double Next(std::span<const double> block);

  std::size_t Reach() const { return reach_; }

 private:
  const std::size_t reach_;
  const double limit_;           // of energies
  std::deque<double> energies_;  // of the input: from reach_ before the next made block on
};

// All of these for a voice that is made anew: what has been synthesised comes to the loudness of
// the input's speech over half a second, stops where it stops, and its peaks are held. Over half a
// second and not at once, since the course of a voice's energy tells who speaks: put onto the made
// voice hop by hop it let a retrained attacker know speakers at 26 % EER. At 16 kHz, in hops of 10
// ms. What comes out depends on the samples and not on how they arrive.
class VoiceLevel {
 public:
  static constexpr std::size_t kFloorHops = 150;  // 1.5 s, in which speech pauses once

  struct Options {
    double peak_limit = 1.0;
    // Hops of the input that the noise floor and the cap look ahead: as far as the floor looks
    // back, and 30 ms, in which a voice starts. A hop comes out once the next
    // one has been synthesised and `cap_reach` + max(`floor_ahead`, 1) more of the input are there.
    std::size_t floor_ahead = kFloorHops, cap_reach = 3;
  };
  explicit VoiceLevel(const Options& options)
      : share_(kFloorHops, options.floor_ahead),
        cap_(options.cap_reach, kCapMarginDb),
        peaks_(kHop, options.peak_limit) {}

  void TakeInput(std::span<const float> in);
  // Where the synthesised samples are appended.
  std::vector<float>& Sound() { return sound_; }
  // Appends what is ready.
  void Deliver(std::vector<float>& out);
  // Appends the rest: as many samples in all as came in.
  void Finish(std::vector<float>& out);

 private:
  void Listen();  // the energies of the input's new hops
  void Weigh();   // leaves the speech of the hops whose share of it is known

  static constexpr std::size_t kHop = 160;     // samples: 10 ms
  static constexpr double kCapMarginDb = 6.0;  // made sound need not rise where the input does
  // Made sound has any level: up to 24 dB more, and silence where the input is silent. Half a
  // second: 0.98 to the power of 50 hops is 0.36.
  static constexpr double kMostMadeGain = 16.0, kMadeForget = 0.98;
  LoudnessKeeper loudness_{0.0, kMostMadeGain, kMadeForget};
  SpeechShare share_;
  LevelCap cap_;
  PeakHolder peaks_;
  std::vector<float> input_, sound_;
  std::size_t listened_ = 0, weighed_ = 0;  // samples of input_
  std::size_t taken_ = 0, emitted_ = 0;
};

}  // namespace sotto

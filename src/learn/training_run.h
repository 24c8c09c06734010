// How long a training runs, at which learning rate, and who is kept from it to be asked in its
// validations: the options that all nets of this room share, and the clock that goes by them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "learn/options.h"

namespace sotto {

struct RunOptions {
  std::int64_t steps = 20000;
  double minutes = 0.0;  // ends (and the learning rate falls) by the clock as well; 0: by steps
  std::int64_t warm_up = 200;  // steps of a rising rate; again where the optimiser begins anew
  bool decay_after_warm_up = false;  // the rate begins to fall behind the warm-up, not under it
  // The rate is halved after so many validations without a new best, and again after as many more;
  // it does not fall otherwise. 0: it falls with the progress. Needs keep_best.
  std::int64_t halve_after = 0;
  double learning_rate = 5e-4, final_learning_rate = 1e-5;
  double weight_decay = 0.01;
  double average = 0.999;  // decay of the moving average of the weights, which is what is kept
  std::int64_t validate_every = 500;
  bool keep_best = false;            // the net of the best validation, not that after the last step
  std::int64_t patience = 0;         // validations without a new best before stopping; 0: never
  std::filesystem::path checkpoint;  // written at each validation
  std::filesystem::path resume;      // a checkpoint to go on from
  std::uint64_t seed = 1;
  bool bf16 = false;  // layers compute in bfloat16 (CUDA)
  std::string device = "cpu";

  static const OptionTable<RunOptions>& Table();
  // Throws Error that names the field.
  void Validate() const;
};

struct HoldOut {
  std::int64_t count = 20;         // speakers
  std::vector<std::string> names;  // among them in any case
};

// Those named and, up to the count, others drawn by the seed. `candidates`: speakers with at least
// `utterances` utterances, in alphabetical order. Throws Error when one that is named is not among
// them, or they are too few.
std::set<std::string> ChooseHeldOut(std::vector<std::string> candidates, const HoldOut& hold_out,
                                    int utterances, std::uint64_t seed);

// Counts steps and time; time of the runs before a restart counts.
class RunClock {
 public:
  explicit RunClock(const RunOptions& options) : o_(options) {}

  std::int64_t Step() const { return step_; }
  double Seconds() const;
  // 0 at the beginning (with `from`: after so many steps), 1 at the end.
  double Progress(std::int64_t from = 0) const;
  bool Ended() const { return Progress() >= 1.0; }
  void Next() { ++step_; }
  // Cosine from the first to the final rate over the progress, with a warm-up; with halve_after the
  // first rate, halved as often as was asked for, and no less than the final one.
  double LearningRate() const;
  void Halve() { ++halvings_; }
  int Halvings() const { return halvings_; }
  // The step that the warm-up counts from.
  std::int64_t FirstStep() const { return first_step_; }
  // Goes on from an earlier run.
  void Resume(std::int64_t step, std::int64_t first_step, double seconds, int halvings = 0);

 private:
  RunOptions o_;
  std::int64_t step_ = 0, first_step_ = 0;
  int halvings_ = 0;
  double earlier_s_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sotto

// What the trainers of the neural anonymiser share: how long they run, their learning rate, and
// checkpoints they can be taken up from.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "learn/flat_parameters.h"
#include "nn/safetensors.h"

namespace sotto {

struct RunOptions {
  std::int64_t steps = 20000;
  double minutes = 0.0;  // ends (and the learning rate falls) by the clock as well; 0: by steps
  std::int64_t warm_up = 200;  // steps, after a restart too: the optimiser begins anew
  double learning_rate = 5e-4, final_learning_rate = 1e-5;
  std::int64_t validate_every = 500;
  std::filesystem::path checkpoint;  // written at each validation
  std::filesystem::path resume;      // a checkpoint to go on from
  std::uint64_t seed = 1;
  bool bf16 = false;  // layers compute in bfloat16 (CUDA)
  std::string device = "cpu";

  // Throws Error that names the field.
  void Validate() const;
};

// Counts steps and time; time of the runs before a restart counts.
class RunClock {
 public:
  explicit RunClock(const RunOptions& options) : o_(options) {}

  std::int64_t Step() const { return step_; }
  double Seconds() const;
  // 0 at the beginning, 1 at the end.
  double Progress() const;
  bool Ended() const { return Progress() >= 1.0; }
  void Next() { ++step_; }
  // Cosine from the first to the final rate over the progress, with a warm-up.
  double LearningRate() const;
  // Goes on from an earlier run.
  void Resume(std::int64_t step, double seconds);

 private:
  RunOptions o_;
  std::int64_t step_ = 0, first_step_ = 0;
  double earlier_s_ = 0.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Parts by name ("net", "average" …), as single precision without the optimisers' states.
using CheckpointParts = std::map<std::string, FlatParameters*>;
void WriteCheckpoint(const std::filesystem::path& path, const RunClock& clock,
                     const CheckpointParts& parts, const std::map<std::string, std::string>& meta);
// Throws Error when a part is missing or of another size.
TensorFile ReadCheckpoint(const std::filesystem::path& path, RunClock& clock,
                          const CheckpointParts& parts);

}  // namespace sotto

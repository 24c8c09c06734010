// The one trainer of this room. A net says in a Lesson what it learns from (a batch of its own
// draw and the losses on it) and what is measured on speakers held out; all else is here: the
// device and the generators that data are drawn with, the clock and the learning rate with its
// warm-up, the optimiser's steps, moving averages of the weights, means of the losses, when to
// validate, which net is kept, lines of progress, checkpoints and going on from them.
//
// A checkpoint holds a run at a step, as it is before the validation there: weights, averages,
// what the optimisers know, and the state of all generators. A run that goes on from it repeats
// that validation and then does what the run that was cut off would have done, bit for bit on one
// machine's CPU as far as the rate does not follow the clock (--minutes). Checkpoints of before
// hold weights, averages, step and time alone: the optimisers begin anew then, with a warm-up, and
// so do the data.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "learn/flat_parameters.h"
#include "learn/training_run.h"
#include "nn/safetensors.h"

namespace sotto {

// A net that learns.
struct Learner {
  std::string name;         // in checkpoints
  FlatParameters* weights;  // spread with gradients for each batch, then stepped
  FlatParameters* average;  // of these; nullptr: the lesson spreads and steps the net itself
};

// Where a run stands when a batch is asked for.
struct Moment {
  std::int64_t step = 0;
  double progress = 0.0;  // 0 at the beginning, 1 at the end
  AdamOptions adam;       // with the learning rate of this step
};

struct Losses {
  torch::Tensor total;               // what gradients are taken of
  std::vector<torch::Tensor> shown;  // whose means over the steps the next validation gets
};

// What a validation says.
struct ValidationFigure {
  const char* name;    // in records
  const char* format;  // in lines of progress, what stands before it included
  double value = 0.0;
  double scale = 1.0;  // of the value in lines of progress
};

struct TrainingPoint {
  std::int64_t step = 0;
  double seconds = 0.0;
  std::vector<ValidationFigure> figures;

  // Throws Error when there is none of this name.
  double operator[](std::string_view name) const;
};

// As an array for the training record.
nlohmann::ordered_json CurveRecord(const std::vector<TrainingPoint>& curve,
                                   bool with_seconds = true);

class Lesson {
 public:
  virtual ~Lesson() = default;
  // Their layers have run once.
  virtual std::vector<Learner> Learners() = 0;
  // The trainer sets learning rate and weight decay.
  virtual AdamOptions Adam() const { return {}; }
  virtual Losses Batch(const Moment& now) = 0;
  // Of the averages. `means`: of what Batch showed since the last validation, 0 without a batch.
  virtual std::vector<ValidationFigure> Validate(const std::vector<double>& means) = 0;
  // The figure that is least for the best net.
  virtual std::string_view Best() const = 0;
};

class Trainer {
 public:
  // Seeds torch and sets the device up; before any data are drawn. `same_sizes`: all batches have
  // the same, so that it is worth the time to look for the fastest kernels.
  explicit Trainer(const RunOptions& options, bool same_sizes = false);

  torch::Device Device() const { return device_; }
  // A generator of its own for each number, which checkpoints keep as they keep torch's.
  std::mt19937_64& Random(std::uint64_t number);

  // At its end the averages are the net to keep.
  void Run(Lesson& lesson);
  // One point for each validation.
  const std::vector<TrainingPoint>& Curve() const { return curve_; }
  // The step whose net is kept.
  std::int64_t BestStep() const { return best_step_; }

 private:
  void Train(Lesson& lesson);
  // Whether patience is at its end.
  bool Validate(Lesson& lesson);
  // Everything that a checkpoint holds as tensors beside the nets.
  TensorMap State();
  void WriteCheckpoint();
  void ReadCheckpoint();
  void ReadState(const TensorFile& file);

  const RunOptions o_;
  const torch::Device device_;
  RunClock clock_;
  std::map<std::uint64_t, std::mt19937_64> random_;
  std::vector<Learner> learners_;
  TensorMap weights_, averages_;  // of the learners; weights_ has the averages, too
  TensorMap best_;                // averages_ as they were then, where the best is kept
  double best_score_ = std::numeric_limits<double>::infinity();
  std::int64_t best_step_ = 0, since_best_ = 0;
  std::vector<TrainingPoint> curve_;
  torch::Tensor sums_;  // of the losses shown, on the device: read once a validation
  std::int64_t counted_ = 0;
};

}  // namespace sotto

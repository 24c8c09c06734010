#include "learn/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sotto {

void RunOptions::Validate() const {
  const auto need = [](bool ok, const char* what) {
    if (!ok) throw Error(what);
  };
  need(steps >= 1 && validate_every >= 1 && warm_up >= 0, "steps and validations must be positive");
  need(minutes >= 0.0, "minutes: 0 or more");
  // Debian's CPU build dies of an illegal instruction in it.
  need(!bf16 || device.rfind("cuda", 0) == 0, "--bf16 needs --device cuda");
  need(learning_rate > 0.0 && final_learning_rate >= 0.0, "the learning rate must be positive");
}

double RunClock::Seconds() const {
  return earlier_s_ +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double RunClock::Progress() const {
  const double by_steps = static_cast<double>(step_) / static_cast<double>(o_.steps);
  return o_.minutes > 0.0 ? std::max(by_steps, Seconds() / (60.0 * o_.minutes)) : by_steps;
}

double RunClock::LearningRate() const {
  const double t = std::min(1.0, Progress());
  const double rate = o_.final_learning_rate + 0.5 * (o_.learning_rate - o_.final_learning_rate) *
                                                   (1.0 + std::cos(std::numbers::pi * t));
  const std::int64_t since = step_ - first_step_;
  return since < o_.warm_up
             ? rate * static_cast<double>(since + 1) / static_cast<double>(o_.warm_up)
             : rate;
}

void RunClock::Resume(std::int64_t step, double seconds) {
  step_ = first_step_ = step;
  earlier_s_ = seconds;
  start_ = std::chrono::steady_clock::now();
}

void WriteCheckpoint(const std::filesystem::path& path, const RunClock& clock,
                     const CheckpointParts& parts, const std::map<std::string, std::string>& meta) {
  TensorFile file;
  file.metadata = meta;
  file.metadata["sotto.kind"] = "checkpoint";
  file.metadata["sotto.step"] = std::to_string(clock.Step());
  file.metadata["sotto.seconds"] = fmt::format("{:.3f}", clock.Seconds());
  for (const auto& [name, part] : parts) {
    const torch::Tensor values = part->Values().detach().to(torch::kCPU).contiguous();
    NamedTensor& out = file.tensors[name];
    out.shape = {values.numel()};
    out.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  }
  WriteTensorFile(path, file, StoredAs::kFloat32);
}

TensorFile ReadCheckpoint(const std::filesystem::path& path, RunClock& clock,
                          const CheckpointParts& parts) {
  TensorFile file = ReadTensorFile(path);
  if (file.Meta("sotto.kind") != "checkpoint") {
    throw Error(fmt::format("{}: a file of kind '{}', expected 'checkpoint'", file.where,
                            file.Meta("sotto.kind")));
  }
  for (const auto& [name, part] : parts) {
    const NamedTensor& stored = file.Get(name, {part->Values().numel()});
    part->Set(torch::from_blob(const_cast<float*>(stored.values.data()), stored.shape));
  }
  try {
    clock.Resume(std::stoll(file.Meta("sotto.step")), std::stod(file.Meta("sotto.seconds")));
  } catch (const std::logic_error&) {
    throw Error(fmt::format("{}: its step or time is no number", file.where));
  }
  return file;
}

}  // namespace sotto

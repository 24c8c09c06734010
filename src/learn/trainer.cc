#include "learn/trainer.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kMostShown = 8;
constexpr char kRandom[] = "sotto.random.";

void Copy(const TensorMap& from, TensorMap& to) {
  for (const auto& [name, value] : from) to[name].copy_(value);
}

TensorMap Clones(const TensorMap& of) {
  TensorMap clones;
  for (const auto& [name, value] : of) clones[name] = value.clone();
  return clones;
}

// Throws Error when one is missing or of another size.
void Read(const TensorFile& file, const TensorMap& parts) {
  for (const auto& [name, part] : parts) {
    Tensor(part).copy_(AsTensor(file.Get(name, {part.numel()})));
  }
}

void Write(const TensorMap& parts, TensorFile& file) {
  for (const auto& [name, part] : parts) file.tensors[name] = AsStored(part);
}

// Torch's generators that a training on `device` draws from, by the device's name.
std::map<std::string, at::Generator> Generators(torch::Device device) {
  std::map<std::string, at::Generator> all;
  for (const torch::Device& d : {torch::Device(torch::kCPU), device}) {
    all["random." + torch::Device(d.type()).str()] = at::globalContext().defaultGenerator(d);
  }
  return all;
}

}  // namespace

double TrainingPoint::operator[](std::string_view name) const {
  for (const ValidationFigure& f : figures) {
    if (f.name == name) return f.value;
  }
  throw Error(fmt::format("a validation without '{}'", name));
}

nlohmann::ordered_json CurveRecord(const std::vector<TrainingPoint>& curve, bool with_seconds) {
  auto record = nlohmann::ordered_json::array();
  for (const TrainingPoint& point : curve) {
    nlohmann::ordered_json json = {{"step", point.step}};
    for (const ValidationFigure& f : point.figures) json[f.name] = f.value;
    if (with_seconds) json["seconds"] = point.seconds;
    record.push_back(std::move(json));
  }
  return record;
}

Trainer::Trainer(const RunOptions& options, bool same_sizes)
    : o_(options), device_(options.device), clock_(options) {
  o_.Validate();
  torch::manual_seed(o_.seed);
  if (device_.is_cuda()) {
    at::globalContext().setAllowTF32CuBLAS(true);
    at::globalContext().setAllowTF32CuDNN(true);
    at::globalContext().setBenchmarkCuDNN(same_sizes);
  }
  sums_ = torch::zeros({kMostShown}, torch::TensorOptions(device_));
}

std::mt19937_64& Trainer::Random(std::uint64_t number) {
  return random_.try_emplace(number, o_.seed + number).first->second;
}

void Trainer::Run(Lesson& lesson) {
  learners_ = lesson.Learners();
  for (const Learner& l : learners_) {
    l.weights->AddWeights(l.name, weights_);
    if (l.average == nullptr) continue;
    l.average->AverageFrom(*l.weights, 0.0);
    l.average->AddWeights(l.name == "net" ? "average" : l.name + "_average", averages_);
  }
  weights_.insert(averages_.begin(), averages_.end());
  if (o_.keep_best) best_ = Clones(averages_);
  clock_ = RunClock(o_);
  if (!o_.resume.empty()) ReadCheckpoint();
  for (bool first = true;; first = false, clock_.Next()) {
    const bool last = clock_.Ended();
    if (first || last || clock_.Step() % o_.validate_every == 0) {
      if (!o_.checkpoint.empty() && !first) WriteCheckpoint();
      if (Validate(lesson) || last) break;
    }
    Train(lesson);
  }
  Copy(best_, averages_);
}

void Trainer::Train(Lesson& lesson) {
  for (const Learner& l : learners_) {
    if (l.average != nullptr) l.weights->Spread(true);
  }
  Moment now{clock_.Step(), clock_.Progress(), lesson.Adam()};
  now.adam.learning_rate = clock_.LearningRate();
  now.adam.weight_decay = o_.weight_decay;
  const Losses losses = lesson.Batch(now);
  losses.total.backward();
  // Faster at the beginning, so that the first weights are forgotten.
  const auto t = static_cast<double>(now.step);
  const double decay = std::min(o_.average, (1.0 + t) / (10.0 + t));
  for (const Learner& l : learners_) {
    if (l.average == nullptr) continue;
    l.weights->Step(now.adam);
    l.average->AverageFrom(*l.weights, decay);
  }
  sums_.narrow(0, 0, static_cast<std::int64_t>(losses.shown.size()))
      .add_(torch::stack(losses.shown).detach());
  ++counted_;
}

bool Trainer::Validate(Lesson& lesson) {
  torch::NoGradGuard no_grad;
  const Tensor sums = sums_.cpu();
  std::vector<double> means;
  for (std::int64_t i = 0; i < kMostShown; ++i) {
    means.push_back(sums[i].item<double>() /
                    static_cast<double>(std::max<std::int64_t>(1, counted_)));
  }
  sums_.zero_();
  counted_ = 0;
  const TrainingPoint point{clock_.Step(), clock_.Seconds(), lesson.Validate(means)};
  curve_.push_back(point);
  std::string line;
  for (const ValidationFigure& f : point.figures) {
    line += fmt::format(fmt::runtime(f.format), f.scale * f.value);
  }
  fmt::print(stderr, "step {:6d}{}  {:.0f} s\n", point.step, line, clock_.Seconds());
  ++since_best_;
  const double score = point[lesson.Best()];
  if (!o_.keep_best || score < best_score_) {
    best_score_ = score;
    best_step_ = point.step;
    since_best_ = 0;
    if (o_.keep_best) Copy(averages_, best_);
  } else if (o_.halve_after > 0 && since_best_ % o_.halve_after == 0) {
    clock_.Halve();
  }
  return o_.patience > 0 && since_best_ >= o_.patience;
}

TensorMap Trainer::State() {
  TensorMap state = {{"sums", sums_}};
  for (const Learner& l : learners_) l.weights->AddOptimiser(l.name, state);
  for (const auto& [name, value] : best_) state["best." + name] = value;
  return state;
}

void Trainer::WriteCheckpoint() {
  TensorFile file;
  Write(weights_, file);
  Write(State(), file);
  for (const auto& [name, generator] : Generators(device_)) {
    Write({{name, generator.get_state()}}, file);  // bytes
  }
  for (const auto& [number, random] : random_) {
    std::ostringstream text;
    text << random;
    file.metadata[kRandom + std::to_string(number)] = text.str();
  }
  file.metadata["sotto.kind"] = "checkpoint";
  file.metadata["sotto.step"] = std::to_string(clock_.Step());
  file.metadata["sotto.seconds"] = fmt::format("{:.3f}", clock_.Seconds());
  file.metadata["sotto.first_step"] = std::to_string(clock_.FirstStep());
  file.metadata["sotto.halvings"] = std::to_string(clock_.Halvings());
  file.metadata["sotto.counted"] = std::to_string(counted_);
  file.metadata["sotto.best"] = fmt::format("{} {} {}", best_score_, best_step_, since_best_);
  WriteTensorFile(o_.checkpoint, file, StoredAs::kFloat32);
}

void Trainer::ReadCheckpoint() {
  torch::NoGradGuard no_grad;
  const TensorFile file = ReadTensorFile(o_.resume);
  if (file.Meta("sotto.kind") != "checkpoint") {
    throw Error(fmt::format("{}: a file of kind '{}', expected 'checkpoint'", file.where,
                            file.Meta("sotto.kind")));
  }
  Read(file, weights_);
  try {
    const std::int64_t step = std::stoll(file.Meta("sotto.step"));
    clock_.Resume(step, step, std::stod(file.Meta("sotto.seconds")));
    if (file.metadata.contains("sotto.best")) ReadState(file);
  } catch (const std::logic_error&) {
    throw Error(fmt::format("{}: a number in it is none", file.where));
  }
}

void Trainer::ReadState(const TensorFile& file) {
  Read(file, State());
  for (auto& [name, generator] : Generators(device_)) {
    const auto stored = file.tensors.find(name);
    if (stored == file.tensors.end()) continue;  // the run was on another device
    generator.set_state(torch::tensor(stored->second.values).to(torch::kByte));
  }
  for (auto& [number, random] : random_) {
    const auto stored = file.metadata.find(kRandom + std::to_string(number));
    if (stored == file.metadata.end()) continue;  // it did without
    std::istringstream text(stored->second);
    if (!(text >> random)) throw std::invalid_argument(stored->first);
  }
  const auto halvings = file.metadata.find("sotto.halvings");  // checkpoints of before have none
  clock_.Resume(clock_.Step(), std::stoll(file.Meta("sotto.first_step")), clock_.Seconds(),
                halvings == file.metadata.end() ? 0 : std::stoi(halvings->second));
  counted_ = std::stoll(file.Meta("sotto.counted"));
  std::istringstream best(file.Meta("sotto.best"));
  std::string score;
  if (!(best >> score >> best_step_ >> since_best_)) throw std::invalid_argument("best");
  best_score_ = std::stod(score);
}

}  // namespace sotto

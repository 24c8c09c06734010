#include "learn/training_run.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace sotto {

const OptionTable<RunOptions>& RunOptions::Table() {
  using R = RunOptions;
  static const OptionTable<R> table = {
      {"steps", &R::steps, "Train for so many steps at most", 1},
      {"minutes", &R::minutes,
       "Train for so many minutes at most; the learning rate falls by whichever of the two ends "
       "first (0: steps alone)"},
      {"warm_up", &R::warm_up,
       "Let the learning rate rise over so many steps, again where the optimiser starts again"},
      {"learning_rate", &R::learning_rate, "Highest learning rate, after the warm-up", 1e-12},
      {"final_learning_rate", &R::final_learning_rate, "Learning rate that it falls to by the end"},
      {"weight_decay", &R::weight_decay,
       "Pull weights towards 0 by this times the learning rate in each step"},
      {"average", &R::average,
       "Decay of the moving average of the weights, which is the net that is kept", 0, kBelowOne},
      {"validate_every", &R::validate_every, "Measure on the speakers held out every so many steps",
       1},
  };
  return table;
}

void RunOptions::Validate() const {
  RequireRanges(Table(), *this);
  RequireRange("patience", static_cast<double>(patience), 0, kNoLimit);
  RequireRange("halve_after", static_cast<double>(halve_after), 0, kNoLimit);
  if (halve_after > 0 && !keep_best) throw Error("halve_after needs keep_best");
  // Debian's CPU build dies of an illegal instruction in it.
  if (bf16 && device.rfind("cuda", 0) != 0) throw Error("--bf16 needs --device cuda");
}

double RunClock::Seconds() const {
  return earlier_s_ +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double RunClock::Progress(std::int64_t from) const {
  const double by_steps = static_cast<double>(step_ - from) /
                          static_cast<double>(std::max<std::int64_t>(1, o_.steps - from));
  return o_.minutes > 0.0 ? std::max(by_steps, Seconds() / (60.0 * o_.minutes)) : by_steps;
}

double RunClock::LearningRate() const {
  const double t = std::clamp(Progress(o_.decay_after_warm_up ? o_.warm_up : 0), 0.0, 1.0);
  const double rate =
      o_.halve_after > 0
          ? std::max(o_.final_learning_rate, std::ldexp(o_.learning_rate, -halvings_))
          : o_.final_learning_rate + 0.5 * (o_.learning_rate - o_.final_learning_rate) *
                                         (1.0 + std::cos(std::numbers::pi * t));
  const std::int64_t since = step_ - first_step_;
  return since < o_.warm_up
             ? rate * static_cast<double>(since + 1) / static_cast<double>(o_.warm_up)
             : rate;
}

void RunClock::Resume(std::int64_t step, std::int64_t first_step, double seconds, int halvings) {
  step_ = step;
  halvings_ = halvings;
  first_step_ = first_step;
  earlier_s_ = seconds;
  start_ = std::chrono::steady_clock::now();
}

std::set<std::string> ChooseHeldOut(std::vector<std::string> candidates, const HoldOut& hold_out,
                                    int utterances, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::shuffle(candidates.begin(), candidates.end(), random);
  for (const std::string& name : hold_out.names) {
    const auto found = std::find(candidates.begin(), candidates.end(), name);
    if (found == candidates.end()) {
      throw Error(
          fmt::format("speaker '{}' cannot be held out: not there or fewer than {} utterances",
                      name, utterances));
    }
    std::rotate(candidates.begin(), found, found + 1);
  }
  const auto count = static_cast<std::size_t>(
      std::max(hold_out.count, static_cast<std::int64_t>(hold_out.names.size())));
  if (candidates.size() < count) {
    throw Error(fmt::format("{} speakers have {} utterances, {} are to be held out",
                            candidates.size(), utterances, count));
  }
  return {candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace sotto

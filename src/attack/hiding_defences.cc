// Which defences a study tries, and how each is used.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "attack/hiding_study.h"
#include "base/entry_values.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace sotto {
namespace {

// A parameter of methods that train with noise: an epsilon, or inf.
constexpr const char* kEpsTrain = "eps-train";

struct Fitted {
  std::string method, name;
  std::shared_ptr<const Hider> hider;
  std::optional<double> eps_train;
  double seconds = 0.0;
};

std::vector<Fitted> ToFit(const DefencePlan& plan) {
  std::vector<Fitted> all;
  for (const std::string& name : plan.methods.empty() ? ProgramHiders().Names() : plan.methods) {
    if (ProgramHiders().Find(name)->Find(kEpsTrain) == nullptr) {
      all.push_back({name, name, nullptr, std::nullopt});
      continue;
    }
    for (const double eps : plan.eps_train) {
      all.push_back({name, fmt::format("{} ({} {})", name, kEpsTrain, eps), nullptr, eps});
    }
  }
  return all;
}

std::shared_ptr<const Hider> Fit(const Fitted& one, const DefencePlan& plan,
                                 const HiderData& data) {
  const auto method = ProgramHiders().Find(one.method);
  EntryValues values(*method);
  if (method->Find("seed") != nullptr) values.Set("seed", fmt::format("{}", plan.seed));
  if (one.eps_train) values.Set(kEpsTrain, fmt::format("{}", *one.eps_train));
  return method->Fit(data, values);
}

std::vector<Fitted> FitAll(const DefencePlan& plan, const HiderData& data) {
  std::vector<Fitted> all = ToFit(plan);
  Progress progress("fit", all.size(), static_cast<double>(all.size()));
  ParallelFor(all.size(), plan.jobs, [&](std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    all[i].hider = Fit(all[i], plan, data);
    all[i].seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    progress.Done(1.0, 0.0);
  });
  return all;
}

// What the training says of itself: "…, eps-train 15, adversary …". Nothing where it is no epsilon:
// the text is that of a file.
std::optional<double> TrainedWith(const HiderHeader& header) {
  const std::string mark = fmt::format("{} ", kEpsTrain);
  const auto at = header.training.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + mark.size();
  const std::string text = header.training.substr(begin, header.training.find(',', begin) - begin);
  double eps = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), eps);
  if (code != std::errc() || end != text.data() + text.size() || !(eps > 0.0)) return std::nullopt;
  return eps;
}

std::vector<Fitted> ReadAll(const DefencePlan& plan) {
  std::vector<Fitted> all;
  for (const auto& path : plan.models) {
    std::shared_ptr<const Hider> hider = ReadHider(path);
    const HiderHeader& header = hider->Header();
    all.push_back({header.method, fmt::format("{} ({})", header.method, path.filename().string()),
                   hider, TrainedWith(header)});
  }
  return all;
}

bool IsIn(double value, const std::vector<double>& values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

void AddUses(const Fitted& one, const DefencePlan& plan, std::vector<StudiedDefence>& uses) {
  const auto add = [&](std::optional<double> eps, bool only_curve,
                       ProtectPer per = ProtectPer::kUtterance) {
    const std::string name = one.name + (per == ProtectPer::kSpeaker ? " memoised" : "");
    uses.push_back({name, one.hider, eps, one.eps_train, per, one.seconds, only_curve});
  };
  if (one.hider->NoisyRows() == 0) return add({}, false);
  if (!one.eps_train) {
    for (const double eps : plan.eps) {
      add(eps, false);
      // Where everything is noise, one draw for all is a name tag and no voiceprint.
      if (!NoisesAll(*one.hider)) add(eps, false, ProtectPer::kSpeaker);
    }
    return;
  }
  const double eps_train = *one.eps_train;
  const bool swept = IsIn(eps_train, plan.sweep);
  add({}, !swept);
  if (std::isfinite(eps_train)) add(eps_train, !swept);
  for (const double eps : plan.sweep_eps) {
    if (swept && eps != eps_train) add(eps, true);
  }
}

}  // namespace

bool NoisesAll(const Hider& hider) {
  Eigen::VectorXf one = Eigen::VectorXf::Zero(hider.Dimension());
  one[0] = 1.0F;
  const Categories first =
      Categories::Zero(static_cast<Eigen::Index>(hider.Header().attributes.size()), 1);
  return hider.Latent(one, first).rows() == hider.NoisyRows();
}

std::vector<StudiedDefence> PlanDefences(const DefencePlan& plan, const HiderData& data) {
  std::vector<StudiedDefence> uses;
  for (const Fitted& one : plan.models.empty() ? FitAll(plan, data) : ReadAll(plan)) {
    AddUses(one, plan, uses);
  }
  return uses;
}

}  // namespace sotto

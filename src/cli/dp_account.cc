// sotto dp account: epsilon of a composition, by RDP and PLD, and what it allows.
// sotto dp calibrate: the noise for an epsilon.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/assess.h"
#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/allows.h"
#include "dp/budget.h"
#include "dp/gaussian.h"
#include "dp/mechanisms.h"
#include "dp/parameters.h"

namespace sotto::cli {
namespace {

using nlohmann::ordered_json;

struct AccountFlags {
  std::string mechanism = "gaussian";
  double q = 1.0;
  double noise = 0.0;
  double epsilon = 0.0;
  std::uint64_t steps = 1;
  double delta = 0.0;
  bool json = false;
};

PrivacyEvent EventOf(const AccountFlags& flags) {
  if (flags.mechanism == "gaussian") {
    return PrivacyEvent::SubsampledGaussian(flags.q, flags.noise, flags.steps);
  }
  PrivacyEvent event = flags.mechanism == "laplace" ? PrivacyEvent::Laplace(flags.epsilon)
                                                    : PrivacyEvent::Pure(flags.epsilon, "pure");
  event.count = flags.steps;
  return event;
}

void RunAccount(const AccountFlags& flags) {
  const PrivacyEvent event = EventOf(flags);
  const bool gaussian = flags.mechanism == "gaussian";
  Budget budget;
  CheckUsage([&] {
    CheckDelta(flags.delta);
    budget.Spend(event);
  });
  const RdpEpsilon rdp = budget.RenyiEpsilon(flags.delta);
  const PldEpsilon pld = budget.LossEpsilon(flags.delta);
  const double eps = std::min(pld.eps, rdp.eps);
  ordered_json json = {{"mechanism", event.mechanism}};
  if (gaussian) {
    json["q"] = flags.q;
    json["noise"] = flags.noise;
    json["sampling"] = flags.q < 1.0 ? "Poisson" : "all records";
  } else {
    json["epsilon_each"] = flags.epsilon;
  }
  json["steps"] = flags.steps;
  json["delta"] = flags.delta;
  json["neighbours"] = NeighboursText(Neighbours::kAddRemove);
  json["rdp"] = {{"epsilon", JsonNumber(rdp.eps)}, {"order", rdp.order}};
  json["pld"] = {{"epsilon", JsonNumber(pld.eps)},
                 {"epsilon_lower", JsonNumber(pld.eps_lower)},
                 {"grid_step", pld.step},
                 {"fft_points", pld.points}};
  if (event.kind != EventKind::kSubsampledGaussian) {  // else there is no epsilon of one use
    json["sequential"] = {{"epsilon", JsonNumber(budget.SequentialEpsilon(flags.delta))}};
    json["advanced"] = {{"epsilon", JsonNumber(budget.AdvancedEpsilon(flags.delta))}};
  }
  if (const auto rho = budget.Rho()) {
    json["zcdp"] = {{"rho", *rho},
                    {"epsilon", JsonNumber(*budget.ConcentratedEpsilon(flags.delta))}};
  }
  json["allows"] = JsonAllows(eps, flags.delta);
  if (gaussian) {
    const GdpMu mu = CompositionMu(flags.q, flags.noise, flags.steps);
    json["allows"]["gdp"] = {
        {"mu", mu.mu},
        {"basis", mu.exact ? "exact" : "central limit: an approximation, not a bound"},
        {"eer_floor", GdpEerFloor(mu.mu)},
        {"auc_ceiling", GdpAucCeiling(mu.mu)}};
  }
  for (const TradeOffPoint& point : TradeOffCurve(eps, flags.delta, 41)) {
    json["allows"]["trade_off"].push_back(
        {{"false_alarm", point.false_alarm}, {"miss", point.miss}});
  }
  const std::string warning = EpsilonWarning(eps);
  if (!warning.empty()) json["warning"] = warning;
  if (flags.json) {
    PrintJson(json);
  } else {
    fmt::print("{} uses, delta {:g}, {}\n", flags.steps, flags.delta,
               NeighboursText(Neighbours::kAddRemove));
    fmt::print("  PLD   epsilon {:.6f}  (the truth is not below {:.6f})\n", pld.eps, pld.eps_lower);
    fmt::print("  RDP   epsilon {:.6f}  at order {:g}\n", rdp.eps, rdp.order);
    fmt::print("what epsilon {:.4f} allows any attacker:\n", eps);
    fmt::print("  telling whether a person is in   EER at least {:.4f}, AUC at most {:.4f}\n",
               EerFloor(eps, flags.delta), AucCeiling(eps, flags.delta));
    fmt::print("  naming one of 100 people         right at most {:.2f} % (chance 1 %)\n",
               100.0 * TopOneCeiling(eps, flags.delta, 100));
    if (gaussian) {
      const ordered_json& gdp = json["allows"]["gdp"];
      fmt::print("  as mu-GDP, mu {:.4f} ({})\n    EER {:.4f}, AUC {:.4f}\n",
                 gdp["mu"].get<double>(), gdp["basis"].get<std::string>(),
                 gdp["eer_floor"].get<double>(), gdp["auc_ceiling"].get<double>());
    }
  }
  WarnOfEpsilon(eps);
}

struct CalibrateFlags {
  double epsilon = 0.0;
  double delta = 0.0;
  double q = 1.0;
  std::uint64_t steps = 1;
  double sensitivity = 1.0;
  std::string accountant = "pld";
  bool json = false;
};

void RunCalibrate(const CalibrateFlags& flags) {
  ordered_json json = {{"epsilon", flags.epsilon}};
  CheckUsage([&] {
    CheckEpsilon(flags.epsilon);
    CheckSensitivity(flags.sensitivity);
    PrivacyEvent::SubsampledGaussian(flags.q, 1.0, flags.steps).Validate();
    if (flags.delta != 0.0) CheckDelta(flags.delta);
  });
  json["delta"] = flags.delta;
  json["q"] = flags.q;
  json["steps"] = flags.steps;
  json["sensitivity"] = flags.sensitivity;
  if (flags.delta > 0.0) {
    const bool closed = flags.q == 1.0;
    const double noise = closed ? std::sqrt(static_cast<double>(flags.steps)) /
                                      GaussianMu(flags.epsilon, flags.delta)
                                : CalibrateNoise(flags.q, flags.steps, flags.epsilon, flags.delta,
                                                 flags.accountant == "rdp");
    json["gaussian"] = {{"noise", noise},
                        {"sigma", noise * flags.sensitivity},
                        {"accountant", closed ? "exact" : flags.accountant}};
  }
  if (flags.q == 1.0) {
    const double scale = flags.sensitivity * static_cast<double>(flags.steps) / flags.epsilon;
    json["laplace"] = {{"scale", scale}, {"composition", "sequential, delta 0"}};
  } else if (!(flags.delta > 0.0)) {
    throw CLI::ValidationError("subsampling needs --delta");
  }
  json["allows"] = JsonAllows(flags.epsilon, flags.delta);
  if (flags.json) {
    PrintJson(json);
  } else {
    if (json.contains("gaussian")) {
      fmt::print("gaussian: sigma {:.6f} ({:.6f} times the L2 sensitivity, {})\n",
                 json["gaussian"]["sigma"].get<double>(), json["gaussian"]["noise"].get<double>(),
                 json["gaussian"]["accountant"].get<std::string>());
    }
    if (json.contains("laplace")) {
      fmt::print("laplace:  scale {:.6f} (L1 sensitivity, delta 0)\n",
                 json["laplace"]["scale"].get<double>());
    }
    fmt::print("allows:   EER at least {:.4f}, AUC at most {:.4f}\n",
               EerFloor(flags.epsilon, flags.delta), AucCeiling(flags.epsilon, flags.delta));
  }
  WarnOfEpsilon(flags.epsilon);
}

}  // namespace

void AddDpAccount(CLI::App& dp) {
  auto flags = std::make_shared<AccountFlags>();
  CLI::App* account = AddVerb(
      dp, "account", "Epsilon of a mechanism used many times, and what it allows an attacker",
      "  sotto dp account --q 0.00427 --noise 1.1 --steps 14062 --delta 1e-5\n"
      "  sotto dp account --mechanism laplace --epsilon 0.1 --steps 100 --delta 1e-6 --json");
  account->add_option("--mechanism", flags->mechanism, "What is used in each step")
      ->check(CLI::IsMember({"gaussian", "laplace", "pure"}));
  account->add_option("--q", flags->q,
                      "Gaussian: probability with which each record is in a step (Poisson)");
  CLI::Option* noise = account
                           ->add_option("--noise", flags->noise,
                                        "Gaussian: sigma divided by the L2 sensitivity (clip)")
                           ->default_str("");
  CLI::Option* epsilon =
      account->add_option("--epsilon", flags->epsilon, "laplace, pure: epsilon of one step")
          ->default_str("")
          ->excludes(noise);
  account->add_option("--steps", flags->steps, "How often")->check(CLI::PositiveNumber);
  account->add_option("--delta", flags->delta, "Where epsilon is read off")
      ->required()
      ->default_str("");
  account->add_flag("--json", flags->json, "Print as JSON");
  account->callback([flags, noise, epsilon] {
    const bool gaussian = flags->mechanism == "gaussian";
    if (gaussian && noise->count() == 0) throw CLI::ValidationError("gaussian needs --noise");
    if (!gaussian && epsilon->count() == 0) {
      throw CLI::ValidationError(flags->mechanism + " needs --epsilon");
    }
    RunAccount(*flags);
  });

  auto wish = std::make_shared<CalibrateFlags>();
  CLI::App* calibrate =
      AddVerb(dp, "calibrate", "The noise that gives a wanted epsilon",
              "  sotto dp calibrate --epsilon 1 --delta 1e-5 --sensitivity 2\n"
              "  sotto dp calibrate --epsilon 2 --delta 1e-5 --q 0.00427 --steps 14062 --json");
  calibrate->add_option("--epsilon", wish->epsilon, "Wanted, for all steps together")
      ->required()
      ->default_str("");
  calibrate->add_option("--delta", wish->delta, "0 for Laplace alone");
  calibrate->add_option("--q", wish->q, "Poisson sampling probability of a record in a step");
  calibrate->add_option("--steps", wish->steps, "How often")->check(CLI::PositiveNumber);
  calibrate->add_option("--sensitivity", wish->sensitivity,
                        "L2 for Gaussian, L1 for Laplace: how far one person can move the value");
  calibrate->add_option("--accountant", wish->accountant, "For subsampling")
      ->check(CLI::IsMember({"pld", "rdp"}));
  calibrate->add_flag("--json", wish->json, "Print as JSON");
  calibrate->callback([wish] { RunCalibrate(*wish); });
}

}  // namespace sotto::cli

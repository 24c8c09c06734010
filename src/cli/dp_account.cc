// sotto dp account: epsilon of a composition, by RDP and PLD, and what it allows.
// sotto dp calibrate: the noise for an epsilon.
#include <fmt/format.h>

#include <memory>

#include "cli/dp.h"
#include "cli/verbs.h"
#include "dp/account.h"
#include "dp/parameters.h"
#include "report/dp_figures.h"

namespace sotto::cli {
namespace {

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
  CheckUsage([&] {
    CheckDelta(flags.delta);
    event.Validate();
  });
  const Account account = MakeAccount(event, flags.delta);
  fmt::print("{}", PrintedAccount(account, flags.json));
  WarnOfEpsilon(account.Epsilon());
}

struct CalibrateFlags {
  NoiseWish wish;
  std::string accountant = "pld";
  bool json = false;
};

void RunCalibrate(CalibrateFlags& flags) {
  NoiseWish& wish = flags.wish;
  wish.renyi = flags.accountant == "rdp";
  CheckUsage([&] { wish.Validate(); });
  if (wish.q != 1.0 && !(wish.delta > 0.0)) {
    throw CLI::ValidationError("subsampling needs --delta");
  }
  const WishedNoise noise = NoiseFor(wish);
  fmt::print("{}", PrintedNoise(wish, noise, flags.json));
  WarnOfEpsilon(wish.epsilon);
}

}  // namespace

void AddDpAccount(CLI::App& dp) {
  auto flags = std::make_shared<AccountFlags>();
  CLI::App* account = AddVerb(
      dp, "account",
      "Computes epsilon of a mechanism used many times, and what it allows an attacker.",
      "  sotto dp account --q 0.00427 --noise 1.1 --steps 14062 --delta 1e-5\n"
      "  sotto dp account --mechanism laplace --epsilon 0.1 --steps 100 --delta 1e-6 --json");
  account->add_option("--mechanism", flags->mechanism, "What is used in each step")
      ->check(CLI::IsMember({"gaussian", "laplace", "pure"}));
  account->add_option("--q", flags->q,
                      "For gaussian: probability that a record is in a step (Poisson sampling)");
  CLI::Option* noise = account
                           ->add_option("--noise", flags->noise,
                                        "For gaussian: sigma divided by the L2 sensitivity (clip)")
                           ->default_str("");
  CLI::Option* epsilon =
      account->add_option("--epsilon", flags->epsilon, "For laplace and pure: epsilon of one step")
          ->default_str("")
          ->excludes(noise);
  account->add_option("--steps", flags->steps, "Number of steps")->check(CLI::PositiveNumber);
  account->add_option("--delta", flags->delta, "Delta for which epsilon is stated")->required();
  account->add_flag("--json", flags->json, "Print as JSON");
  account->callback([flags, noise, epsilon] {
    const bool gaussian = flags->mechanism == "gaussian";
    if (gaussian && noise->count() == 0) throw CLI::ValidationError("gaussian needs --noise");
    if (!gaussian && epsilon->count() == 0) {
      throw CLI::ValidationError(flags->mechanism + " needs --epsilon");
    }
    RunAccount(*flags);
  });

  auto asked = std::make_shared<CalibrateFlags>();
  NoiseWish& wish = asked->wish;
  CLI::App* calibrate =
      AddVerb(dp, "calibrate", "Finds the noise that gives a wanted epsilon.",
              "  sotto dp calibrate --epsilon 1 --delta 1e-5 --sensitivity 2\n"
              "  sotto dp calibrate --epsilon 2 --delta 1e-5 --q 0.00427 --steps 14062 --json");
  calibrate->add_option("--epsilon", wish.epsilon, "Epsilon that is wanted for all steps together")
      ->required();
  calibrate->add_option("--delta", wish.delta, "Delta; 0 for Laplace noise alone");
  calibrate->add_option("--q", wish.q, "Probability that a record is in a step (Poisson sampling)");
  calibrate->add_option("--steps", wish.steps, "Number of steps")->check(CLI::PositiveNumber);
  calibrate->add_option(
      "--sensitivity", wish.sensitivity,
      "How far one person can move the value: L2 for Gaussian, L1 for Laplace noise");
  calibrate->add_option("--accountant", asked->accountant, "Accountant, where records are sampled")
      ->check(CLI::IsMember({"pld", "rdp"}));
  calibrate->add_flag("--json", asked->json, "Print as JSON");
  calibrate->callback([asked] { RunCalibrate(*asked); });
}

}  // namespace sotto::cli

// What others reported of a defence that hides attributes, to be drawn beside what is measured
// here. Theirs are other speakers, another encoder (ECAPA-TDNN on VoxCeleb) and one attacker, who
// was trained on clean voiceprints.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto {

struct PublishedHiding {
  std::string what;
  std::optional<double> eps_train;  // infinity: no noise in training; none: not protected
  std::optional<double> eps;        // at use; none: no noise
  std::optional<double> eer, auc;   // none: not told in numbers
  std::string said;                 // how, where it is no plain number
};

// Chouchane et al. (IH&MMSec 2023), sections 3 and 4.
const std::vector<PublishedHiding>& PublishedGenderAae();
inline constexpr const char* kPublishedGenderAae =
    "Chouchane, Panariello, Zari, Kerenciler, Chihaoui, Todisco, Önen, Differentially Private "
    "Adversarial Auto-Encoder to Protect Gender in Voice Biometrics, IH&MMSec 2023";

}  // namespace sotto

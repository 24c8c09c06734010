// What a defence being trained is judged by: training speakers that it does not see. Attackers are
// quick ones, fresh for every answer; what is claimed of a defence is measured elsewhere, on other
// corpora, by stronger ones.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <set>
#include <vector>

#include "speaker/affine_hider.h"
#include "speaker/hider.h"

namespace sotto {

struct HeldOutFigures {
  // AUC of a logistic and a quadratic (Gaussian) attacker, the higher of both, turned where it lies
  // below ½: trained on the other speakers' protected voiceprints, and cross-validated by speaker
  // among those held out. The mean over corpora, in each of which the attacker compares; of several
  // attributes the highest, of several categories the mean of each against the rest.
  double informed = 0.5, in_domain = 0.5;
  double eer = 0.0;  // of pairs of voiceprints of one corpus by their cosines; a share, 0 to 1

  double BestAuc() const { return informed > in_domain ? informed : in_domain; }
};

// A fifth of the speakers of each corpus and joint category, one at least where there are two.
class HeldOut {
 public:
  // Keeps `data`, which must outlive it. Throws Error where fewer than two speakers of a category
  // are held out or left, or no speaker held out has two voiceprints.
  HeldOut(const HiderData& data, std::uint64_t seed);
  // These speakers.
  HeldOut(const HiderData& data, const std::set<int>& held, std::uint64_t seed);

  const std::vector<Eigen::Index>& Left() const { return left_; }  // columns to train on
  // Of `maps`, one for everybody or one for each joint category, followed by length 1.
  HeldOutFigures Measure(const std::vector<AffineMap>& maps) const;

 private:
  struct Voices {
    std::vector<Eigen::Index> places;  // columns of the data
    std::vector<int> speaker, domain, joint;
    Eigen::MatrixXi categories;
  };
  Voices Take(const std::vector<Eigen::Index>& places, int most_of_speaker,
              std::uint64_t seed) const;
  void CheckCategories() const;
  Eigen::MatrixXd Protect(const std::vector<AffineMap>& maps, const Voices& voices) const;

  const HiderData& data_;
  std::vector<Eigen::Index> left_;
  Voices attacked_with_, held_;
};

// Some columns of it.
HiderData PartOf(const HiderData& data, const std::vector<Eigen::Index>& places);

// Columns of `x` through the map of their joint category (or the only one), to length 1.
Eigen::MatrixXf ProtectedColumns(const std::vector<AffineMap>& maps,
                                 const Eigen::Ref<const Eigen::MatrixXf>& x,
                                 const std::vector<int>& joint);

}  // namespace sotto

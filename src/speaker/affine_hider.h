// Defences that are one affine map, or one for each joint category of the owner: y = M·x + c, or
// y = M·(x − a) + b. A matrix product in single precision; y may have fewer rows than x.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "speaker/hider.h"

namespace sotto {

struct AffineMap {
  Eigen::MatrixXf matrix;
  Eigen::VectorXf offset;

  // x → matrix·(x − from) + to.
  static AffineMap About(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& from,
                         const Eigen::VectorXd& to);
};

class AffineHider : public Hider {
 public:
  // One map for everybody, or one for each joint category (JointCategories) in their order. Throws
  // Error for another number of maps and for sizes that do not fit together.
  AffineHider(HiderHeader header, std::vector<AffineMap> maps);
  // Throws Error for a file that is damaged or has maps by category where one is for everybody
  // (`by_category` false), and the other way round.
  static std::unique_ptr<AffineHider> Parse(const TensorFile& file, HiderHeader header,
                                            bool by_category);

  bool AsksForCategories() const override { return maps_.size() > 1; }
  Eigen::MatrixXf Latent(const Eigen::Ref<const Eigen::MatrixXf>& x,
                         const Categories& categories) const override;
  const std::vector<AffineMap>& Maps() const { return maps_; }

 protected:
  void Store(TensorFile& file) const override;

 private:
  std::vector<AffineMap> maps_;
};

// How many joint categories there are.
std::size_t CountJointCategories(const std::vector<HiddenAttribute>& attributes);

}  // namespace sotto

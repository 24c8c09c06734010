#include "speaker/affine_hider.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace sotto {
namespace {

using Eigen::Index;

HiderHeader TwoAttributes() {
  HiderHeader header;
  header.method = "leace";
  header.attributes = {{"gender", {"F", "M"}}, {"age", {"old", "older", "young"}}};
  header.training = "none";
  return header;
}

std::vector<AffineMap> RandomMaps(std::size_t n, Index rows, Index columns) {
  SeededRng rng(4);
  std::vector<AffineMap> maps(n);
  for (AffineMap& map : maps) {
    map.matrix.resize(rows, columns);
    map.offset.resize(rows);
    for (float& value : map.matrix.reshaped()) value = static_cast<float>(rng.Gaussian());
    for (float& value : map.offset) value = static_cast<float>(rng.Gaussian());
  }
  return maps;
}

TEST(AffineHider, MovesOnePointToAnother) {
  const Eigen::Matrix2d turn{{0.0, -2.0}, {1.0, 0.0}};
  const AffineHider hider(TwoAttributes(), {AffineMap::About(turn, Eigen::Vector2d(1.0, 2.0),
                                                             Eigen::Vector2d(-3.0, 5.0))});
  EXPECT_FALSE(hider.AsksForCategories());
  const Eigen::MatrixXf y = hider.Latent(Eigen::Matrix2f{{1.0F, 2.0F}, {2.0F, 2.0F}}, {});
  EXPECT_TRUE(y.isApprox(Eigen::Matrix2f{{-3.0F, -3.0F}, {5.0F, 6.0F}}));
}

TEST(AffineHider, EveryJointCategoryHasItsMap) {
  const std::vector<AffineMap> maps = RandomMaps(6, 2, 3);
  const AffineHider hider(TwoAttributes(), maps);
  EXPECT_TRUE(hider.AsksForCategories());
  const Eigen::MatrixXf x = RandomMaps(1, 3, 4)[0].matrix;
  Categories categories(2, 4);
  categories << 1, 0, 1, 1,  //
      2, 0, 2, 0;
  const Eigen::MatrixXf y = hider.Latent(x, categories);
  const std::size_t joint[] = {5, 0, 5, 3};
  for (Index i = 0; i < 4; ++i) {
    const AffineMap& map = maps[joint[i]];
    EXPECT_LT((y.col(i) - (map.matrix * x.col(i) + map.offset)).norm(), 1e-6) << i;
  }
  categories(1, 2) = -1;
  categories(0, 2) = 0;
  EXPECT_THROW(hider.Latent(x, categories), Error);
  EXPECT_THROW(hider.Latent(x, categories.leftCols(3)), Error);
}

TEST(AffineHider, WhatIsReadIsWhatWasStored) {
  for (const std::size_t n : {1U, 6U}) {
    const AffineHider hider(TwoAttributes(), RandomMaps(n, 2, 3));
    const TensorFile file =
        ParseTensorFile(SerialiseTensorFile(hider.File(), StoredAs::kFloat32), "test");
    const auto again = AffineHider::Parse(file, TwoAttributes(), n > 1);
    ASSERT_EQ(again->Maps().size(), n);
    EXPECT_EQ(again->Dimension(), 3);
    for (std::size_t g = 0; g < n; ++g) {
      EXPECT_EQ(again->Maps()[g].matrix, hider.Maps()[g].matrix);
      EXPECT_EQ(again->Maps()[g].offset, hider.Maps()[g].offset);
    }
    EXPECT_THROW(AffineHider::Parse(file, TwoAttributes(), n == 1), Error);
  }
}

TEST(AffineHider, DamagedFilesAndWrongSizesAreRefused) {
  TensorFile file = AffineHider(TwoAttributes(), RandomMaps(6, 2, 3)).File();
  TensorFile other = file;
  other.tensors.erase("affine.offset");
  EXPECT_THROW(AffineHider::Parse(other, TwoAttributes(), true), Error);
  other = file;
  other.tensors["affine.offset"] = {{6, 3}, std::vector<float>(18)};
  EXPECT_THROW(AffineHider::Parse(other, TwoAttributes(), true), Error);
  other = file;
  other.tensors["affine.matrix"].shape = {6, 6};
  EXPECT_THROW(AffineHider::Parse(other, TwoAttributes(), true), Error);
  other.tensors["affine.matrix"] = {{6, 2, 0}, {}};
  EXPECT_THROW(AffineHider::Parse(other, TwoAttributes(), true), Error);
  HiderHeader header = TwoAttributes();
  header.attributes.pop_back();
  EXPECT_THROW(AffineHider::Parse(file, header, true), Error);

  EXPECT_THROW(AffineHider(TwoAttributes(), {}), Error);
  EXPECT_THROW(AffineHider(TwoAttributes(), RandomMaps(2, 2, 3)), Error);
  std::vector<AffineMap> maps = RandomMaps(6, 2, 3);
  maps[3].matrix.resize(2, 2);
  EXPECT_THROW(AffineHider(TwoAttributes(), maps), Error);
}

}  // namespace
}  // namespace sotto

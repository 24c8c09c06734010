#include "speaker/affine_hider.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

constexpr const char* kMatrix = "affine.matrix";  // maps × rows × columns
constexpr const char* kOffset = "affine.offset";  // maps × rows

Index InputSize(const std::vector<AffineMap>& maps) {
  if (maps.empty()) throw Error("affine defence: there is no map");
  return maps.front().matrix.cols();
}

}  // namespace

AffineMap AffineMap::About(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& from,
                           const Eigen::VectorXd& to) {
  return {matrix.cast<float>(), (to - matrix * from).cast<float>()};
}

std::size_t CountJointCategories(const std::vector<HiddenAttribute>& attributes) {
  std::size_t count = 1;
  for (const HiddenAttribute& attribute : attributes) count *= attribute.categories.size();
  return count;
}

AffineHider::AffineHider(HiderHeader header, std::vector<AffineMap> maps)
    : Hider(std::move(header), InputSize(maps)), maps_(std::move(maps)) {
  const std::size_t joint = CountJointCategories(Header().attributes);
  if (maps_.size() != 1 && maps_.size() != joint) {
    throw Error(
        fmt::format("affine defence: {} maps, 1 or {} (one for each joint category) are "
                    "needed",
                    maps_.size(), joint));
  }
  const Index rows = maps_.front().matrix.rows();
  for (const AffineMap& map : maps_) {
    if (rows == 0 || Dimension() == 0 || map.matrix.rows() != rows ||
        map.matrix.cols() != Dimension() || map.offset.size() != rows) {
      throw Error(
          fmt::format("affine defence: a map of {} x {} with an offset of {}; all must have the "
                      "same sizes",
                      map.matrix.rows(), map.matrix.cols(), map.offset.size()));
    }
  }
}

MatrixXf AffineHider::Latent(const Eigen::Ref<const MatrixXf>& x,
                             const Categories& categories) const {
  MatrixXf y(maps_.front().matrix.rows(), x.cols());
  if (maps_.size() == 1) {
    y.noalias() = maps_.front().matrix * x;
    y.colwise() += maps_.front().offset;
    return y;
  }
  // The columns of each category together: a product of matrices is several times as fast as one
  // for each column.
  if (categories.size() > 0 && categories.minCoeff() < 0) {
    throw Error("affine defence: a voiceprint without a category");
  }
  const std::vector<int> joint = JointCategories(categories, Header().attributes);
  if (std::ssize(joint) != x.cols()) {
    throw Error(
        fmt::format("affine defence: {} voiceprints, categories of {}", x.cols(), joint.size()));
  }
  std::vector<std::vector<Index>> columns(maps_.size());
  for (std::size_t i = 0; i < joint.size(); ++i) {
    if (static_cast<std::size_t>(joint[i]) >= maps_.size()) {
      throw Error(fmt::format("affine defence: no joint category {}", joint[i]));
    }
    columns[static_cast<std::size_t>(joint[i])].push_back(static_cast<Index>(i));
  }
  for (std::size_t g = 0; g < maps_.size(); ++g) {
    const MatrixXf own = x(Eigen::all, columns[g]);
    y(Eigen::all, columns[g]) = (maps_[g].matrix * own).colwise() + maps_[g].offset;
  }
  return y;
}

void AffineHider::Store(TensorFile& file) const {
  const Index rows = maps_.front().matrix.rows();
  const auto n = static_cast<std::int64_t>(maps_.size());
  NamedTensor matrix{{n, rows, Dimension()}, {}}, offset{{n, rows}, {}};
  for (const AffineMap& map : maps_) {
    for (Index r = 0; r < rows; ++r) {
      const Eigen::RowVectorXf row = map.matrix.row(r);
      matrix.values.insert(matrix.values.end(), row.begin(), row.end());
    }
    offset.values.insert(offset.values.end(), map.offset.begin(), map.offset.end());
  }
  file.tensors[kMatrix] = std::move(matrix);
  file.tensors[kOffset] = std::move(offset);
}

std::unique_ptr<AffineHider> AffineHider::Parse(const TensorFile& file, HiderHeader header,
                                                bool by_category) {
  const std::size_t n = by_category ? CountJointCategories(header.attributes) : 1;
  const NamedTensor& matrix = file.Get(kMatrix, {static_cast<std::int64_t>(n), -1, -1});
  const Index rows = matrix.shape[1], columns = matrix.shape[2];
  const NamedTensor& offset = file.Get(kOffset, {static_cast<std::int64_t>(n), rows});
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<AffineMap> maps;
  for (std::size_t g = 0; g < n; ++g) {
    const auto at = static_cast<Index>(g);
    maps.push_back(
        {Eigen::Map<const RowMajor>(matrix.values.data() + at * rows * columns, rows, columns),
         Eigen::Map<const Eigen::VectorXf>(offset.values.data() + at * rows, rows)});
  }
  return std::make_unique<AffineHider>(std::move(header), std::move(maps));
}

}  // namespace sotto

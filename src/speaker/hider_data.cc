#include "speaker/hider_data.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/error.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::size_t Size(Index n) { return static_cast<std::size_t>(n); }

}  // namespace

void CheckHiderData(const HiderData& data) {
  const std::size_t n = Size(data.x.cols());
  if (n == 0 || data.header.attributes.empty() || data.speaker.size() != n ||
      Size(data.categories.cols()) != n ||
      Size(data.categories.rows()) != data.header.attributes.size()) {
    throw Error(
        fmt::format("hide attributes: {} voiceprints with {} speakers and {} x {} "
                    "categories of {} attributes",
                    n, data.speaker.size(), data.categories.rows(), data.categories.cols(),
                    data.header.attributes.size()));
  }
  for (Index a = 0; a < data.categories.rows(); ++a) {
    const HiddenAttribute& attribute = data.header.attributes[Size(a)];
    std::vector<bool> seen(attribute.categories.size());
    for (const int category : data.categories.row(a)) {
      if (category < 0 || Size(category) >= seen.size()) {
        throw Error(
            fmt::format("hide attributes: {} has no category {}", attribute.name, category));
      }
      seen[Size(category)] = true;
    }
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (seen[k]) continue;
      throw Error(fmt::format("hide attributes: no voiceprint has {} '{}'", attribute.name,
                              attribute.categories[k]));
    }
  }
}

VectorXd HiderWeights(const HiderData& data) {
  CheckHiderData(data);
  const Index n = data.x.cols();
  VectorXd weights = VectorXd::Zero(n);
  for (Index a = 0; a < data.categories.rows(); ++a) {
    std::vector<std::map<int, int>> vectors(  // of each speaker of each category
        data.header.attributes[Size(a)].categories.size());
    for (Index i = 0; i < n; ++i) ++vectors[Size(data.categories(a, i))][data.speaker[Size(i)]];
    for (Index i = 0; i < n; ++i) {
      const auto& own = vectors[Size(data.categories(a, i))];
      weights[i] +=
          1.0 / static_cast<double>(own.size() * vectors.size()) / own.at(data.speaker[Size(i)]);
    }
  }
  return weights / static_cast<double>(data.categories.rows());
}

MatrixXd OneHot(const Categories& categories, const std::vector<HiddenAttribute>& attributes) {
  Index rows = 0;
  for (const HiddenAttribute& attribute : attributes) rows += std::ssize(attribute.categories);
  MatrixXd z = MatrixXd::Zero(rows, categories.cols());
  Index first = 0;
  for (Index a = 0; a < categories.rows(); ++a) {
    for (Index i = 0; i < z.cols(); ++i) z(first + categories(a, i), i) = 1.0;
    first += std::ssize(attributes[Size(a)].categories);
  }
  return z;
}

HiderHeader HeaderOf(const HiderData& data, const std::string& method,
                     const std::string& settings) {
  const std::set<int> speakers(data.speaker.begin(), data.speaker.end());
  HiderHeader header = data.header;
  header.method = method;
  header.training =
      fmt::format("{} voiceprints of {} speakers, {}", data.x.cols(), speakers.size(), settings);
  return header;
}

}  // namespace sotto

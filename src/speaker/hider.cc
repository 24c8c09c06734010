#include "speaker/hider.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "dp/mechanisms.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using nlohmann::ordered_json;

constexpr const char* kKind = "attribute-hider";
constexpr const char* kHeaderKey = "sotto.hider";
constexpr std::size_t kMostJointCategories = 1U << 20U;

std::string HeaderText(const HiderHeader& header, Index dimension) {
  ordered_json json = {{"method", header.method}, {"dimension", dimension}};
  json["encoder"] = {{"name", header.encoder.encoder}, {"fingerprint", header.encoder.fingerprint}};
  json["attributes"] = ordered_json::array();
  for (const HiddenAttribute& attribute : header.attributes) {
    json["attributes"].push_back({{"name", attribute.name}, {"categories", attribute.categories}});
  }
  json["training"] = header.training;
  return DumpJson(json, -1);
}

// The same bytes for the same input: what a keyed draw is named by.
std::string InputText(const Eigen::Ref<const Eigen::VectorXf>& z) {
  return {reinterpret_cast<const char*>(z.data()),
          static_cast<std::size_t>(z.size()) * sizeof(float)};
}

class Noise {
 public:
  Noise(const Hider& hider, const HideOptions& options, const Key& key)
      : rows_(hider.NoisyRows()),
        bound_(hider.L1Bound()),
        eps_(*options.eps),
        mechanism_(eps_, ClippedSensitivity(bound_, Neighbours::kReplaceOne),
                   static_cast<std::size_t>(rows_)),
        fingerprint_(Fingerprint(hider.File())),
        context_(options.context),
        key_(key) {}

  // The first rows of z, noised, for the draw of this name.
  Eigen::VectorXf Draw(const std::string& name, const Eigen::Ref<const Eigen::VectorXf>& z,
                       Budget& budget) const {
    const Eigen::VectorXf noisy = z.head(rows_);
    KeyedStreamBits bits(key_, {"sotto attribute hiding 1", context_, fingerprint_,
                                fmt::format("{:.17g}", eps_), name, InputText(noisy)});
    // Clipped again in double precision: what the mechanism sees keeps the bound exactly.
    const Eigen::VectorXd wide = noisy.cast<double>();
    const std::vector<double> clipped =
        ClipL1({wide.data(), static_cast<std::size_t>(wide.size())}, bound_);
    const std::vector<double> drawn = mechanism_.Release(clipped, budget, bits);
    return Eigen::Map<const Eigen::VectorXd>(drawn.data(), rows_).cast<float>();
  }

 private:
  Index rows_;
  double bound_, eps_;
  LaplaceMechanism mechanism_;
  std::string fingerprint_, context_;
  const Key& key_;
};

void CheckInput(const Hider& hider, const EmbeddingSet& source, const Categories& categories,
                const HideOptions& options) {
  if (source.Dimension() != hider.Dimension()) {
    throw Error(fmt::format("voiceprints of {} dimensions; the model was trained for {}",
                            source.Dimension(), hider.Dimension()));
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.vectors.col(static_cast<Index>(i)).squaredNorm() > 0.0F) continue;
    throw Error(fmt::format("voiceprint '{}' is all zeros: it has no direction", source.ids[i]));
  }
  if (hider.AsksForCategories() && categories.cols() != source.vectors.cols()) {
    throw Error(
        fmt::format("method {} needs the attributes of every speaker", hider.Header().method));
  }
  if (options.eps && hider.NoisyRows() == 0) {
    throw Error(fmt::format("method {} adds no noise: there is no epsilon to choose",
                            hider.Header().method));
  }
  if (!options.eps && hider.NeedsEpsilon()) {
    throw Error(
        fmt::format("method {} needs an epsilon: there is no default", hider.Header().method));
  }
}

}  // namespace

TensorFile Hider::File() const {
  TensorFile file;
  Store(file);
  file.metadata["sotto.kind"] = kKind;
  file.metadata[kHeaderKey] = HeaderText(header_, dimension_);
  return file;
}

HiderHeader ReadHiderHeader(const TensorFile& file) {
  const auto kind = file.metadata.find("sotto.kind");
  if (kind == file.metadata.end() || kind->second != kKind) {
    throw Error(
        fmt::format("{}: not a model that hides attributes (sotto train hide)", file.where));
  }
  HiderHeader header;
  try {
    const auto json = ordered_json::parse(file.Meta(kHeaderKey));
    header.method = json.at("method").get<std::string>();
    header.encoder = {json.at("encoder").at("name").get<std::string>(),
                      json.at("encoder").at("fingerprint").get<std::string>()};
    for (const auto& attribute : json.at("attributes")) {
      header.attributes.push_back({attribute.at("name").get<std::string>(),
                                   attribute.at("categories").get<std::vector<std::string>>()});
      if (header.attributes.back().categories.size() < 2) {
        throw Error(fmt::format("{}: attribute '{}' has fewer than two categories", file.where,
                                header.attributes.back().name));
      }
    }
    header.training = json.at("training").get<std::string>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("{}: its header cannot be read: {}", file.where, e.what()));
  }
  if (header.attributes.empty()) throw Error(fmt::format("{}: hides no attribute", file.where));
  std::size_t joint = 1;
  for (const HiddenAttribute& attribute : header.attributes) {
    joint *= attribute.categories.size();
    if (joint <= kMostJointCategories) continue;
    throw Error(fmt::format("{}: more than {} combinations of categories", file.where,
                            kMostJointCategories));
  }
  return header;
}

std::unique_ptr<Hider> ParseHider(const TensorFile& file) {
  HiderHeader header = ReadHiderHeader(file);
  const auto method = ProgramHiders().Find(header.method);
  return method->Load(file, std::move(header));
}

std::unique_ptr<Hider> ReadHider(const std::filesystem::path& path) {
  return ParseHider(ReadTensorFile(path));
}

void WriteHider(const Hider& hider, const std::filesystem::path& path, IfExists if_exists) {
  WriteTensorFile(path, hider.File(), StoredAs::kFloat32, if_exists);
}

std::vector<int> JointCategories(const Categories& categories,
                                 const std::vector<HiddenAttribute>& attributes) {
  std::vector<int> joint(static_cast<std::size_t>(categories.cols()), 0);
  for (Index i = 0; i < categories.cols(); ++i) {
    int& number = joint[static_cast<std::size_t>(i)];
    for (Index a = 0; a < categories.rows(); ++a) {
      const auto size =
          static_cast<int>(attributes.at(static_cast<std::size_t>(a)).categories.size());
      number = number * size + categories(a, i);
    }
  }
  return joint;
}

MatrixXf HideWithoutNoise(const Hider& hider, const Eigen::Ref<const MatrixXf>& x,
                          const Categories& categories) {
  MatrixXf out = hider.FromLatent(hider.Latent(x, categories));
  out.colwise().normalize();
  return out;
}

HideRelease HideAttributes(const Hider& hider, const EmbeddingSet& source,
                           const Categories& categories, const HideOptions& options,
                           const Key& key) {
  CheckInput(hider, source, categories, options);
  HideRelease release;
  release.set = source;
  MatrixXf z = hider.Latent(UnitLength(source.vectors), categories);
  if (options.eps) {
    const Noise noise(hider, options, key);
    const Index rows = hider.NoisyRows();
    for (const auto& [speaker, places] : source.BySpeaker()) {
      Budget budget;
      Eigen::VectorXf mean = Eigen::VectorXf::Zero(z.rows());
      for (const std::size_t place : places) mean += z.col(static_cast<Index>(place));
      mean /= static_cast<float>(places.size());
      const Eigen::VectorXf once = options.per == ProtectPer::kSpeaker
                                       ? noise.Draw("speaker " + speaker, mean, budget)
                                       : Eigen::VectorXf();
      for (const std::size_t place : places) {
        const auto column = static_cast<Index>(place);
        z.col(column).head(rows) =
            options.per == ProtectPer::kSpeaker
                ? once
                : noise.Draw("utterance " + source.ids[place], z.col(column), budget);
      }
      const std::size_t draws = options.per == ProtectPer::kSpeaker ? 1 : places.size();
      if (draws > release.draws_most) {
        release.draws_most = draws;
        release.budget = std::move(budget);
      }
    }
  }
  release.set.vectors = UnitLength(hider.FromLatent(z));
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (release.set.vectors.col(static_cast<Index>(i)).squaredNorm() > 0.5F) continue;
    throw Error(
        fmt::format("the model makes no voiceprint of '{}' (zeros, or no numbers): is it "
                    "damaged?",
                    source.ids[i]));
  }
  return release;
}

}  // namespace sotto

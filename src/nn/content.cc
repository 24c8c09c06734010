#include "nn/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "nn/convnext_json.h"
#include "nn/eigen_backend.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ContentOptions ReadContentOptions(const TensorFile& file) {
  if (file.Meta("sotto.kind") != "content") {
    throw Error(fmt::format("{}: a net of kind '{}', expected 'content'", file.where,
                            file.Meta("sotto.kind")));
  }
  try {
    const auto json = Json::parse(file.Meta("sotto.options"));
    ContentOptions o;
    json.at("mels").get_to(o.mels);
    json.at("bottleneck").get_to(o.bottleneck);
    json.at("teacher").get_to(o.teacher);
    json.at("stem_kernel").get_to(o.stem_kernel);
    json.at("stem_ahead").get_to(o.stem_ahead);
    o.body = ConvNextFromJson(json.at("body"), file.where);
    if (json.contains("attention")) {
      const Json& a = json.at("attention");
      a.at("every").get_to(o.attend_every);
      a.at("heads").get_to(o.attention.heads);
      a.at("key").get_to(o.attention.key);
      a.at("value").get_to(o.attention.value);
      a.at("reach").get_to(o.attention.reach);
      CheckSize(file.where, "every", o.attend_every, 1, o.body.blocks);
      CheckSize(file.where, "heads", o.attention.heads, 1, 64);
      CheckSize(file.where, "key", o.attention.key, 2, 1024);
      CheckSize(file.where, "value", o.attention.value, 1, 1024);
      CheckSize(file.where, "reach", o.attention.reach, 1, 3000);
      if (o.attention.key % 2 != 0) throw Error(fmt::format("{}: keys are even", file.where));
    }
    CheckSize(file.where, "mels", o.mels, 1, 1024);
    CheckSize(file.where, "bottleneck", o.bottleneck, 1, 8192);
    CheckSize(file.where, "teacher", o.teacher, 1, 8192);
    CheckSize(file.where, "stem_kernel", o.stem_kernel, 1, 99);
    CheckSize(file.where, "stem_ahead", o.stem_ahead, 0, o.stem_kernel - 1);
    return o;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: metadata 'sotto.options': {}", file.where, error.what()));
  }
}

void WriteContentOptions(const ContentOptions& o, TensorFile& file) {
  file.metadata["sotto.kind"] = "content";
  Json json = {{"mels", o.mels},
               {"bottleneck", o.bottleneck},
               {"teacher", o.teacher},
               {"stem_kernel", o.stem_kernel},
               {"stem_ahead", o.stem_ahead},
               {"body", ToJson(o.body)}};
  if (o.attend_every > 0) {
    json["attention"] = {{"every", o.attend_every},
                         {"heads", o.attention.heads},
                         {"key", o.attention.key},
                         {"value", o.attention.value},
                         {"reach", o.attention.reach}};
  }
  file.metadata["sotto.options"] = DumpJson(json);
}

std::int64_t ContentFrames(std::int64_t samples) {
  return std::max<std::int64_t>(1, (samples + kContentHop - 1) / kContentHop);
}

Eigen::MatrixXf FitColumns(const Eigen::MatrixXf& x, Eigen::Index count) {
  if (x.cols() == count) return x;
  Eigen::MatrixXf y(x.rows(), count);
  const Eigen::Index kept = std::min(count, x.cols());
  y.leftCols(kept) = x.leftCols(kept);
  for (Eigen::Index t = kept; t < count; ++t) y.col(t) = x.col(x.cols() - 1);
  return y;
}

Eigen::MatrixXf InterpolateTeacher(const Eigen::MatrixXf& states, std::int64_t frames) {
  if (states.cols() < 1) throw Error("the teacher gave no states");
  Eigen::MatrixXf y(states.rows(), frames);
  const auto last = static_cast<double>(states.cols() - 1);
  for (std::int64_t j = 0; j < frames; ++j) {
    const double place =
        std::clamp(static_cast<double>(kContentHop * j + kContentCentre - kTeacherCentre) /
                       static_cast<double>(kTeacherHop),
                   0.0, last);
    const auto i =
        std::min(static_cast<Eigen::Index>(place), std::max<Eigen::Index>(states.cols() - 2, 0));
    const auto part = static_cast<float>(place - static_cast<double>(i));
    y.col(j) = (1.0f - part) * states.col(i) +
               part * states.col(std::min<Eigen::Index>(i + 1, states.cols() - 1));
  }
  return y;
}

ContentNet::ContentNet(TensorFile file)
    : file_(std::move(file)), options_(ReadContentOptions(file_)) {
  Encode(Eigen::MatrixXf::Zero(options_.mels, 4), 2);
  FromTeacher(Eigen::MatrixXf::Zero(options_.teacher, 1), 1);
}

Eigen::MatrixXf ContentNet::Encode(const Eigen::MatrixXf& mels, std::int64_t frames) const {
  if (mels.rows() != options_.mels || mels.cols() < 1 || frames < 1) {
    throw Error(fmt::format("{}: features of {} x {} for {} frames, expected {} bands", file_.where,
                            mels.rows(), mels.cols(), frames, options_.mels));
  }
  EigenBackend backend(file_);
  return ContentStudent<EigenBackend>(options_, backend).Forward(FitColumns(mels, 2 * frames));
}

Eigen::MatrixXf ContentNet::FromTeacher(const Eigen::MatrixXf& states, std::int64_t frames) const {
  EigenBackend backend(file_);
  return InterpolateTeacher(
      backend.Linear(states, "bottleneck", options_.teacher, options_.bottleneck), frames);
}

}  // namespace sotto

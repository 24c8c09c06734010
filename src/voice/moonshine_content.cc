#include "voice/moonshine_content.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "nn/content_net.h"

namespace sotto {
namespace {

constexpr std::size_t kShortest = 4000;  // samples; the model's three convolutions need 0.1 s
constexpr std::size_t kHop = kTeacherHop;
constexpr std::size_t kPiece = 833 * kHop;  // 20 s
constexpr std::size_t kAround = 83 * kHop;  // 2 s

}  // namespace

MoonshineContent::MoonshineContent(const OnnxRuntimePtr& runtime, const ModelFolders& models)
    : encoder_(runtime, models, "moonshine/encoder_model.onnx") {
  encoder_.Input("input_values");
  encoder_.Output("last_hidden_state");
}

Eigen::MatrixXf MoonshineContent::Hear(std::span<const float> x) const {
  std::vector<float> padded(x.begin(), x.end());
  padded.resize(std::max(padded.size(), kShortest), 0.0F);
  const OnnxTensor sound =
      OnnxTensor::Floats(encoder_.Runtime(), padded, {1, static_cast<std::int64_t>(padded.size())});
  const std::array<OnnxSession::Named, 1> heard = {{{"input_values", &sound}}};
  const std::array<std::string, 1> name = {"last_hidden_state"};
  const std::vector<OnnxTensor> hidden = encoder_.Run(heard, name);
  const std::vector<std::int64_t> shape = hidden[0].Shape();
  if (shape.size() != 3 || shape[1] < 1 || shape[2] != kStateSize) {
    throw Error("moonshine/encoder_model.onnx: its states are not those of Moonshine tiny");
  }
  return Eigen::Map<const Eigen::MatrixXf>(hidden[0].Floats().data(), kStateSize, shape[1]);
}

Eigen::MatrixXf MoonshineContent::States(std::span<const float> x) const {
  if (x.empty()) throw Error("content of no samples");
  if (x.size() <= kPiece + 2 * kAround) return Hear(x);
  Eigen::MatrixXf all(kStateSize, 0);
  for (std::size_t begin = 0; begin < x.size(); begin += kPiece) {
    // A short rest goes with the piece before it.
    const bool last = x.size() - begin < kPiece + kAround;
    const std::size_t from = begin - std::min(begin, kAround);
    const std::size_t to = last ? x.size() : begin + kPiece + kAround;
    const Eigen::MatrixXf states = Hear(x.subspan(from, to - from));
    const auto skip = static_cast<Eigen::Index>((begin - from) / kHop);
    const Eigen::Index count =
        last ? states.cols() - skip : static_cast<Eigen::Index>(kPiece / kHop);
    all.conservativeResize(Eigen::NoChange, all.cols() + count);
    all.rightCols(count) = states.middleCols(skip, count);
    if (last) break;
  }
  return all;
}

}  // namespace sotto

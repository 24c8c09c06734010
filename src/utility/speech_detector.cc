#include "utility/speech_detector.h"

#include <algorithm>
#include <array>

namespace sotto {
namespace {

constexpr std::size_t kContext = 64;  // samples of the window before, which the model wants to see
constexpr std::size_t kState = 128;
constexpr float kSpeech = 0.5F;
// 7 windows of 32 ms: the shortest silence that listeners call a pause is about 0.2 s, and stop
// closures stay below it.
constexpr std::size_t kPauseWindows = 7;

}  // namespace

SpeechDetector::SpeechDetector(const OnnxRuntimePtr& runtime, const ModelFolders& models)
    : session_(runtime, models, "silero/silero_vad_v5.onnx") {}

std::vector<float> SpeechDetector::Probabilities(std::span<const float> x) const {
  const OnnxRuntimePtr& runtime = session_.Runtime();
  const std::array<std::int64_t, 1> rate = {kRateHz};
  const OnnxTensor rate_tensor = OnnxTensor::Ints(runtime, rate, {});
  const std::vector<float> zeros(2 * kState, 0.0F);
  OnnxTensor state = OnnxTensor::Floats(runtime, zeros, {2, 1, kState});
  const std::array<std::string, 2> outputs = {"output", "stateN"};
  std::vector<float> frame(kContext + kWindow, 0.0F);
  std::vector<float> probabilities;
  for (std::size_t begin = 0; begin < x.size(); begin += kWindow) {
    std::copy(frame.end() - kContext, frame.end(), frame.begin());
    const std::span<const float> window = x.subspan(begin, std::min(kWindow, x.size() - begin));
    std::fill(std::copy(window.begin(), window.end(), frame.begin() + kContext), frame.end(), 0.0F);
    const OnnxTensor input =
        OnnxTensor::Floats(runtime, frame, {1, static_cast<std::int64_t>(frame.size())});
    const std::array<OnnxSession::Named, 3> inputs = {
        {{"input", &input}, {"state", &state}, {"sr", &rate_tensor}}};
    auto results = session_.Run(inputs, outputs);
    probabilities.push_back(results[0].Floats()[0]);
    state = std::move(results[1]);
  }
  return probabilities;
}

std::optional<double> PauseRatio(std::span<const float> probabilities) {
  const auto speech = [](float p) { return p >= kSpeech; };
  const auto first = std::find_if(probabilities.begin(), probabilities.end(), speech);
  if (first == probabilities.end()) return std::nullopt;
  const auto last = std::find_if(probabilities.rbegin(), probabilities.rend(), speech).base();
  std::size_t pause = 0;
  for (auto at = first; at != last;) {
    const auto begin = std::find_if_not(at, last, speech);
    const auto end = std::find_if(begin, last, speech);
    const auto length = static_cast<std::size_t>(end - begin);
    if (length >= kPauseWindows) pause += length;
    at = end;
  }
  return static_cast<double>(pause) / static_cast<double>(last - first);
}

std::vector<std::pair<std::size_t, std::size_t>> CutAtPauses(std::span<const float> probabilities,
                                                             std::size_t n, std::size_t longest) {
  constexpr std::size_t kWindow = SpeechDetector::kWindow;
  longest = std::max(longest, 2 * kWindow);
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::size_t begin = 0;
  while (n - begin > longest) {
    // Windows the cut may fall into.
    const std::size_t from = (begin + longest / 2) / kWindow;
    const std::size_t to = std::min((begin + longest) / kWindow, probabilities.size());
    std::size_t best = from, best_run = 0, run = 0;
    float least = 2.0F;
    for (std::size_t w = from; w < to; ++w) {
      run = probabilities[w] < kSpeech ? run + 1 : 0;
      if (run > best_run) {
        best_run = run;
        best = w - run / 2;
      }
      if (best_run == 0 && probabilities[w] < least) {
        least = probabilities[w];
        best = w;
      }
    }
    const std::size_t cut = std::clamp(best * kWindow + kWindow / 2, begin + 1, begin + longest);
    pieces.emplace_back(begin, cut);
    begin = cut;
  }
  pieces.emplace_back(begin, n);
  return pieces;
}

}  // namespace sotto

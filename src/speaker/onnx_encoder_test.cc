#include "speaker/onnx_encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/testing.h"
#include "base/error.h"
#include "base/files.h"
#include "onnx/testing.h"

namespace sotto {
namespace {

using testing::MeanProjectionModel;
using testing::SyntheticVowel;
using testing::TemporaryFolder;

constexpr std::int64_t kMels = 8;

// Sums and differences of neighbouring bands.
std::vector<float> Weights() {
  std::vector<float> weights(kMels * 2, 1.0F);
  for (std::size_t k = 0; k < kMels; ++k) weights[2 * k + 1] = k % 2 == 0 ? 1.0F : -1.0F;
  return weights;
}

constexpr const char* kDescription =
    R"({"input": "feats", "output": "embedding",
        "features": {"kind": "log_mel", "recipe": "kaldi", "mels": 8}})";

TEST(OnnxEncoder, TheFactoryOpensAnOnnxFileWithItsDescription) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "net.onnx", MeanProjectionModel(kMels, 2, Weights()));
  WriteFileAtomically(folder / "net.json", kDescription);
  const auto encoder = OpenEncoder((folder / "net.onnx").string());
  EXPECT_EQ(encoder->Name(), "net");
  EXPECT_EQ(encoder->Dimension(), 2U);
  EXPECT_EQ(encoder->Fingerprint().size(), 32U);

  // The same by hand: means over time, times the weights.
  const std::vector<float> x = SyntheticVowel(1.5, 16000);
  FbankOptions options = FbankOptions::Encoder();
  options.bins = kMels;
  const Features mels = LogMel(x, options);
  const std::vector<float> weights = Weights();
  double sum[2] = {};
  for (std::size_t t = 0; t < mels.frames; ++t) {
    for (std::size_t k = 0; k < mels.dimension; ++k) {
      for (std::size_t e = 0; e < 2; ++e) {
        sum[e] += static_cast<double>(mels.Frame(t)[k]) * weights[2 * k + e];
      }
    }
  }
  const std::vector<float> embedding = encoder->Embed(x, 16000);
  ASSERT_EQ(embedding.size(), 2U);
  for (std::size_t e = 0; e < 2; ++e) {
    const double expected = sum[e] / static_cast<double>(mels.frames);
    EXPECT_NEAR(embedding[e], expected, 1e-4 * std::abs(expected)) << e;
  }
}

TEST(OnnxEncoder, TheDescriptionIsPartOfTheFingerprint) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "net.onnx", MeanProjectionModel(kMels, 2, Weights()));
  WriteFileAtomically(folder / "net.json", kDescription);
  const std::string plain = OpenEncoder((folder / "net.onnx").string())->Fingerprint();
  WriteFileAtomically(folder / "net.json",
                      R"({"input": "feats", "output": "embedding", "normalise": "mean",
                          "features": {"mels": 8}})");
  EXPECT_NE(OpenEncoder((folder / "net.onnx").string())->Fingerprint(), plain);
}

TEST(OnnxEncoder, MeanNormalisationMakesTheMeanOfEveryBandZero) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "net.onnx", MeanProjectionModel(kMels, 2, Weights()));
  WriteFileAtomically(folder / "net.json",
                      R"({"input": "feats", "output": "embedding", "normalise": "mean",
                          "features": {"mels": 8}})");
  const auto encoder = OpenEncoder((folder / "net.onnx").string());
  for (const float value : encoder->Embed(SyntheticVowel(1.0, 16000), 16000)) {
    EXPECT_NEAR(value, 0.0F, 1e-3F);
  }
}

TEST(OnnxEncoder, ADescriptionThatDoesNotFitIsAnErrorOnOpening) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "net.onnx", MeanProjectionModel(kMels, 2, Weights()));
  EXPECT_THROW(OpenEncoder((folder / "net.onnx").string()), Error);  // no description
  for (const char* description :
       {R"({"input": "sound", "output": "embedding"})",
        R"({"input": "feats", "output": "embedding", "features": {"mels": 9}})",
        R"({"input": "feats", "output": "embedding", "features": {"kind": "waveform"}})",
        R"({"input": "feats", "output": "xvector", "features": {"mels": 8}})"}) {
    WriteFileAtomically(folder / "net.json", description);
    EXPECT_THROW(OpenEncoder((folder / "net.onnx").string()), Error) << description;
  }
}

}  // namespace
}  // namespace sotto

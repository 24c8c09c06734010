#include "spoof/spoof_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/testing.h"
#include "nn/safetensors.h"
#include "speaker/default_encoder.h"
#include "spoof/default_models.h"
#include "spoof/spoof_features.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

using testing::SmallSpoofModel;

// What ParseSpoofModel says of a file that was changed.
std::string ErrorAfter(const std::function<void(TensorFile&)>& change) {
  TensorFile file = ParseTensorFile(SerialiseSpoofModel(SmallSpoofModel()), "x");
  change(file);
  try {
    ParseSpoofModel(SerialiseTensorFile(file, StoredAs::kFloat32), "x");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SpoofModel, TheFileIsTheIntegerNetwork) {
  const SpoofModel model = SmallSpoofModel();
  const std::string bytes = SerialiseSpoofModel(model);
  const SpoofModel read = ParseSpoofModel(bytes, "x");
  EXPECT_EQ(read.net.w1, model.net.w1);
  EXPECT_EQ(read.net.b1, model.net.b1);
  EXPECT_EQ(read.net.w2, model.net.w2);
  EXPECT_EQ(read.net.b_out, model.net.b_out);
  EXPECT_EQ(read.net.threshold, model.net.threshold);
  EXPECT_EQ(read.net.x_max, model.net.x_max);
  EXPECT_FALSE(read.net.decision_only);
  EXPECT_EQ(read.front_end.Fingerprint(), model.front_end.Fingerprint());
  EXPECT_EQ(SerialiseSpoofModel(read), bytes);
}

TEST(SpoofModel, InputsAreStandardisedClippedAndRounded) {
  const SpoofModel model = SmallSpoofModel();
  std::vector<float> features(kSpoofInputs, 0.5F);
  features[0] = 4.5F;  // one deviation
  features[1] = 1e9F;
  features[2] = -1e9F;
  features[3] = 0.5F + 4.0F * 0.6F / 8192.0F;
  const std::vector<std::int32_t> x = model.front_end.Quantise(features);
  EXPECT_EQ(x[0], 8192);
  EXPECT_EQ(x[1], 4 * 8192);
  EXPECT_EQ(x[2], -4 * 8192);
  EXPECT_EQ(x[3], 1);
  EXPECT_EQ(x[4], 0);
  EXPECT_EQ(model.Score(features), std::ldexp(static_cast<double>(Evaluate(model.net, x)), -39));
  features.pop_back();
  EXPECT_THROW(model.Score(features), Error);
}

TEST(SpoofModel, FeaturesOfAnotherFingerprintAreRefused) {
  EXPECT_NE(ErrorAfter([](TensorFile& f) {
              f.metadata["features"] = "0123456789abcdef";
            }).find("made for features 0123456789abcdef, this program's are"),
            std::string::npos);
  // Other statistics are other features, whatever the header says.
  EXPECT_NE(
      ErrorAfter([](TensorFile& f) { f.tensors["mean"].values[9] += 0.125F; }).find("made for"),
      std::string::npos);
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["x_max"] = "32767"; }).find("made for"),
            std::string::npos);
}

TEST(SpoofModel, ForeignAndDamagedFilesAreRefused) {
  EXPECT_THROW(ParseSpoofModel(kDefaultEncoderBytes, "encoder"), Error);
  const std::string bytes = SerialiseSpoofModel(SmallSpoofModel());
  for (std::size_t n = 0; n < bytes.size(); n += 997) {
    EXPECT_THROW(ParseSpoofModel(std::string_view(bytes).substr(0, n), "cut"), Error) << n;
  }
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["format"] = "sotto-spoof-9"; }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["policy"] = "both"; }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["threshold"] = "1.5"; }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["b_out"] = "9223372036854775808"; }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata["x_max"] = "-1"; }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.metadata.erase("name"); }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.integers.erase("b1"); }), "");
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.integers["w2"] = {{1}, {5}}; }), "");
  EXPECT_EQ(ErrorAfter([](TensorFile&) {}), "");
}

TEST(SpoofModel, ANetWhoseRangesDoNotFitIsRefused) {
  const std::string error = ErrorAfter([](TensorFile& f) {
    for (std::int32_t& w : f.integers["w1"].values) w = 1000;
  });
  EXPECT_NE(error.find("unit 0 reaches"), std::string::npos) << error;
  EXPECT_NE(ErrorAfter([](TensorFile& f) { f.integers["w1"].values[3] = 4 * 8192; }), "");
  SpoofModel model = SmallSpoofModel();
  model.net.b1[0] += 1;  // finer than the file holds
  EXPECT_THROW(SerialiseSpoofModel(model), Error);
}

TEST(SpoofModel, TheNetsInTheProgramAreThoseOfPrivasp) {
  for (const auto& [name, bytes, units] : {std::tuple(kPrivasp1024, kPrivasp1024Bytes, 1024U),
                                           std::tuple(kPrivasp512, kPrivasp512Bytes, 512U)}) {
    const SpoofModel model = OpenSpoofModel(name);
    EXPECT_EQ(model.name, fmt::format("PRIVASP-{}", units));
    EXPECT_EQ(model.net.units, units);
    EXPECT_EQ(model.net.inputs, 2970U);
    EXPECT_LE(bytes.size(), kLargestSpoofModel);
  }
  testing::TemporaryFolder folder;
  WriteFileAtomically(folder / "large", std::string(kLargestSpoofModel + 1, 'x'));
  EXPECT_THROW(OpenSpoofModel(folder / "large"), Error);
  EXPECT_THROW(OpenSpoofModel(folder / "absent"), Error);
}

}  // namespace
}  // namespace sotto

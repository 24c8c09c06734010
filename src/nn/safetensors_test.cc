#include "nn/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"

namespace sotto {
namespace {

TensorFile Small() {
  TensorFile file;
  file.tensors["a.weight"] = {{2, 3}, {0.0f, 1.0f, -2.5f, 65504.0f, 6.1035156e-05f, -0.333251953f}};
  file.tensors["b"] = {{1}, {3.0f}};
  file.metadata["sotto.kind"] = "test";
  return file;
}

// A file with this header and this many bytes of values.
std::string WithHeader(const std::string& header, std::size_t values) {
  const std::uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  return bytes + header + std::string(values, '\0');
}

TEST(Safetensors, RoundTripKeepsNamesShapesValuesAndMetadata) {
  for (const StoredAs stored : {StoredAs::kFloat32, StoredAs::kFloat16}) {
    const TensorFile read = ParseTensorFile(SerialiseTensorFile(Small(), stored), "x");
    ASSERT_EQ(read.tensors.size(), 2u);
    EXPECT_EQ(read.tensors.at("a.weight").shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(read.tensors.at("a.weight").values, Small().tensors.at("a.weight").values);
    EXPECT_EQ(read.Meta("sotto.kind"), "test");
    EXPECT_EQ(Fingerprint(read), Fingerprint(Small()));
  }
}

TEST(Safetensors, IntegersAreExactAndAsNarrowAsTheyMayBe) {
  TensorFile file = Small();
  file.integers["narrow"] = {{2, 2}, {-32768, 32767, 0, 1}};
  file.integers["wide"] = {{2}, {-32769, 2147483647}};
  const std::string bytes = SerialiseTensorFile(file, StoredAs::kInt8);
  EXPECT_NE(bytes.find("I16"), std::string::npos);
  EXPECT_NE(bytes.find("I32"), std::string::npos);
  const TensorFile read = ParseTensorFile(bytes, "x");
  EXPECT_EQ(read.integers.at("narrow").values, file.integers.at("narrow").values);
  EXPECT_EQ(read.GetIntegers("wide", {-1}).values, file.integers.at("wide").values);
  EXPECT_THROW(read.GetIntegers("a.weight", {2, 3}), Error);
  EXPECT_THROW(read.Get("wide", {2}), Error);
  EXPECT_NE(Fingerprint(read), Fingerprint(Small()));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(ParseTensorFile(std::string_view(bytes).substr(0, n), "cut"), Error) << n;
  }
}

TEST(Safetensors, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = FloatFromHalf(half);
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfFromFloat(value), half);
  }
}

TEST(Safetensors, HalvesRoundToNearestEven) {
  EXPECT_EQ(FloatFromHalf(HalfFromFloat(2049.0f)), 2048.0f);  // between 2048 and 2050
  EXPECT_EQ(FloatFromHalf(HalfFromFloat(2051.0f)), 2052.0f);
  EXPECT_EQ(FloatFromHalf(HalfFromFloat(1e-8f)), 0.0f);
  EXPECT_EQ(FloatFromHalf(HalfFromFloat(5.9604645e-08f)), 5.9604645e-08f);  // the smallest
  EXPECT_TRUE(std::isinf(FloatFromHalf(HalfFromFloat(70000.0f))));
}

TEST(Safetensors, WhatCannotBeStoredIsAnError) {
  TensorFile file = Small();
  file.tensors["b"].values = {70000.0f};
  EXPECT_THROW(SerialiseTensorFile(file, StoredAs::kFloat16), Error);
  EXPECT_NO_THROW(SerialiseTensorFile(file, StoredAs::kFloat32));
  file.tensors["b"].values = {std::nanf("")};
  EXPECT_THROW(SerialiseTensorFile(file, StoredAs::kFloat32), Error);
}

TEST(Safetensors, Int8KeepsMatricesToHalfAStepOfEachRow) {
  TensorFile file = Small();
  file.tensors["m"] = {{2, 2}, {0.0f, 1e-3f, -300.0f, 123.4f}};
  file.tensors["zero"] = {{1, 2}, {0.0f, 0.0f}};
  const std::string bytes = SerialiseTensorFile(file, StoredAs::kInt8);
  const TensorFile read = ParseTensorFile(bytes, "x");
  ASSERT_EQ(read.tensors.size(), file.tensors.size());  // the scales are gone
  const std::vector<float>& m = read.tensors.at("m").values;
  EXPECT_EQ(m[0], 0.0f);
  EXPECT_FLOAT_EQ(m[1], 1e-3f);  // the largest of its row is exact
  EXPECT_FLOAT_EQ(m[2], -300.0f);
  EXPECT_NEAR(m[3], 123.4f, 0.5f * 300.0f / 127.0f);
  EXPECT_EQ(read.tensors.at("zero").values, (std::vector<float>{0.0f, 0.0f}));
  EXPECT_EQ(read.tensors.at("b").values, (std::vector<float>{3.0f}));  // vectors stay halves
  // Stored once more, nothing changes.
  EXPECT_EQ(Fingerprint(ParseTensorFile(SerialiseTensorFile(read, StoredAs::kInt8), "y")),
            Fingerprint(read));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(ParseTensorFile(std::string_view(bytes).substr(0, n), "cut"), Error) << n;
  }
}

TEST(Safetensors, ScalesWithoutTheirTensorAreErrors) {
  EXPECT_THROW(ParseTensorFile(
                   WithHeader(R"({"a#scale":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
                   "no tensor"),
               Error);
  EXPECT_THROW(
      ParseTensorFile(WithHeader(R"({"a":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},)"
                                 R"("a#scale":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                 8),
                      "one scale for two rows"),
      Error);
}

TEST(Safetensors, DamagedFilesAreErrors) {
  const std::string good = SerialiseTensorFile(Small(), StoredAs::kFloat32);
  for (std::size_t n = 0; n < good.size(); ++n) {
    EXPECT_THROW(ParseTensorFile(std::string_view(good).substr(0, n), "cut"), Error) << n;
  }
  EXPECT_THROW(ParseTensorFile(good + "x", "longer"), Error);
  EXPECT_THROW(ParseTensorFile(WithHeader("[1]", 0), "array"), Error);
  EXPECT_THROW(ParseTensorFile(WithHeader(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
                                          R"("data_offsets":[0,8]}})",
                                          8),
                               "overflow"),
               Error);
  EXPECT_THROW(
      ParseTensorFile(WithHeader(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4),
                      "negative"),
      Error);
  for (const char* offsets : {"[0,4.5]", "[0,1.1e25]", "[-1,4]", "[0,\"4\"]"}) {
    EXPECT_THROW(ParseTensorFile(WithHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" +
                                                std::string(offsets) + "}}",
                                            4),
                                 "offsets"),
                 Error)
        << offsets;
  }
  EXPECT_THROW(
      ParseTensorFile(WithHeader(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4),
                      "type"),
      Error);
}

TEST(Safetensors, MissingAndMisshapenTensorsAreNamed) {
  const TensorFile file = Small();
  EXPECT_NO_THROW(file.Get("a.weight", {2, -1}));
  try {
    file.Get("a.weight", {3, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'a.weight' is 2x3, expected 3x2"), std::string::npos);
  }
  EXPECT_THROW(file.Get("c", {1}), Error);
  EXPECT_THROW(file.Meta("c"), Error);
}

}  // namespace
}  // namespace sotto

#include "nn/onnx_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"

namespace sotto {
namespace {

// A field of a length of its own: number, length, bytes (all below 128 here).
std::string Field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string Number(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

std::string Model(const std::string& tensors) { return Number(1, 8) + Field(7, tensors); }

std::string Floats(std::initializer_list<float> values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

TEST(OnnxWeights, ReadsFloatsAndBytesPackedOrNot) {
  const std::string a =
      Number(1, 2) + Number(1, 1) + Number(2, 1) + Field(8, "a") + Field(9, Floats({1.5F, -2.0F}));
  const std::string b =
      Field(1, std::string{3, 1}) + Number(2, 3) + Field(8, "b") + Field(9, "\x01\xFF\x80");
  const std::string c = Number(1, 2) + Number(2, 2) + Field(8, "c") + Field(9, "\x01\xFF");
  const std::string d = Number(2, 1) + Field(8, "d") + Field(4, Floats({7.0F}));
  const std::string e = Number(2, 2) + Field(8, "e") + Number(5, 9);
  const std::string shape = Number(1, 1) + Number(2, 7) + Field(8, "s") + Field(9, "12345678");
  const TensorFile file =
      ParseOnnxWeights(Model(Field(5, a) + Field(5, b) + Field(5, c) + Field(5, d) + Field(5, e) +
                             Field(5, shape) + Field(2, "name of the graph")),
                       "x");
  EXPECT_EQ(file.tensors.size(), 5u);  // 64-bit integers are left out
  EXPECT_EQ(file.Get("a", {2, 1}).values, (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(file.Get("b", {3, 1}).values, (std::vector<float>{1.0F, -1.0F, -128.0F}));
  EXPECT_EQ(file.Get("c", {2}).values, (std::vector<float>{1.0F, 255.0F}));
  EXPECT_EQ(file.Get("d", {}).values, (std::vector<float>{7.0F}));
  EXPECT_EQ(file.Get("e", {}).values, (std::vector<float>{9.0F}));
}

TEST(OnnxWeights, RefusesWhatIsNoModel) {
  const std::string one = Number(1, 1) + Number(2, 1) + Field(8, "a") + Field(9, Floats({1.0F}));
  EXPECT_NO_THROW(ParseOnnxWeights(Model(Field(5, one)), "x"));
  EXPECT_THROW(ParseOnnxWeights("", "x"), Error);
  EXPECT_THROW(ParseOnnxWeights("no model at all", "x"), Error);
  EXPECT_THROW(ParseOnnxWeights(Model(""), "x"), Error);
  const std::string whole = Model(Field(5, one));
  for (std::size_t n = 3; n < whole.size(); ++n) {
    EXPECT_THROW(ParseOnnxWeights(whole.substr(0, n), "x"), Error) << n;
  }
  EXPECT_THROW(ParseOnnxWeights(Model(Field(5, one) + Field(5, one)), "x"), Error);
  const std::string wide = Number(1, 3) + Number(2, 1) + Field(8, "a") + Field(9, Floats({1.0F}));
  EXPECT_THROW(ParseOnnxWeights(Model(Field(5, wide)), "x"), Error);
  EXPECT_THROW(ParseOnnxWeights(Model(Field(5, one + Number(14, 1))), "x"), Error);
  EXPECT_THROW(ParseOnnxWeights(Model(Field(5, Number(2, 1) + Field(9, Floats({NAN})))), "x"),
               Error);
}

}  // namespace
}  // namespace sotto

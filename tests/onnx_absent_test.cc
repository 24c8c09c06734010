// The room onnx as it is built where the headers of ONNX Runtime were not found.
#include <gtest/gtest.h>

#include "base/error.h"
#include "onnx/session.h"

namespace sotto {
namespace {

TEST(OnnxAbsent, OpeningSaysThatTheBackendIsNotAvailableAndWhatToDo) {
  EXPECT_FALSE(OnnxRuntime::Compiled());
  try {
    OnnxRuntime::Open(ModelFolders::Default());
    FAIL() << "opened";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("not available: ", 0), 0U) << message;
    EXPECT_NE(message.find("./do deps --onnx"), std::string::npos) << message;
  }
}

TEST(OnnxAbsent, NoTensorAndNoSessionCanBeMade) {
  EXPECT_THROW(OnnxTensor::Floats(nullptr, {}, {0}), Error);
  EXPECT_THROW(OnnxSession(nullptr, std::string_view("model"), "model"), Error);
  EXPECT_THROW(OnnxSession(nullptr, ModelFolders({}), "model.onnx"), Error);
}

}  // namespace
}  // namespace sotto

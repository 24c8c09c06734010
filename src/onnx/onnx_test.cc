#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/files.h"
#include "onnx/model_description.h"
#include "onnx/models.h"
#include "onnx/session.h"
#include "onnx/testing.h"

namespace sotto {
namespace {

using testing::MeanProjectionModel;
using testing::ScopedVariable;
using testing::TemporaryFolder;
using testing::TestModels;

template <typename Call>
std::string MessageOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ModelFolders, TheGivenFolderComesFirstThenTheVariableHomeAndShared) {
  const TemporaryFolder given;
  const ScopedVariable models("SOTTO_MODELS", "/variable"), home("HOME", "/home"),
      shared("SOTTO_SHARED", "/shared");
  const std::vector<std::filesystem::path> expected = {
      given.Path(), "/variable", "/home/.local/share/sotto/models", "/shared/data/weights"};
  EXPECT_EQ(ModelFolders::Default(given.Path()).Folders(), expected);
}

TEST(ModelFolders, AFileIsTakenFromTheFirstFolderThatHasIt) {
  const TemporaryFolder first, second;
  MakeFolder(second / "net");
  WriteFileAtomically(second / "net/a.onnx", "second");
  const ModelFolders models({first.Path(), second.Path()});
  EXPECT_EQ(models.Require("net/a.onnx"), second / "net/a.onnx");
  MakeFolder(first / "net");
  WriteFileAtomically(first / "net/a.onnx", "first");
  EXPECT_EQ(models.Require("net/a.onnx"), first / "net/a.onnx");
  EXPECT_FALSE(models.Find("net/b.onnx"));
}

TEST(ModelFolders, WithoutHomeTheMessageSaysSo) {
  const ScopedVariable models("SOTTO_MODELS", nullptr), home("HOME", nullptr),
      shared("SOTTO_SHARED", nullptr);
  EXPECT_EQ(MessageOf([] { ModelFolders::Default().Require("net/a.onnx"); }),
            "net/a.onnx is in none of: no folder at all (HOME is not set)");
}

TEST(ModelFolders, AGivenFolderThatIsNotThereIsAnError) {
  EXPECT_EQ(MessageOf([] { ModelFolders::Default("/no/such/folder"); }),
            "models '/no/such/folder': no such folder");
}

TEST(OnnxRuntime, AnAbsentLibraryIsOneClearLine) {
  if (!OnnxRuntime::Compiled()) GTEST_SKIP() << "built without the headers";
  const TemporaryFolder empty;
  const std::string message = MessageOf([&] { OnnxRuntime::Open(ModelFolders({empty.Path()})); });
  EXPECT_NE(message.find("ONNX Runtime is not installed (./do deps --onnx)"), std::string::npos)
      << message;
  EXPECT_NE(message.find(empty.Path().string()), std::string::npos) << message;
}

TEST(OnnxRuntime, AFileThatIsNoLibraryIsRefused) {
  if (!OnnxRuntime::Compiled()) GTEST_SKIP() << "built without the headers";
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "libonnxruntime.so.1", "not a library");
  EXPECT_NE(MessageOf([&] {
              OnnxRuntime::Open(ModelFolders({folder.Path()}));
            }).find("libonnxruntime.so.1"),
            std::string::npos);
}

// A file of the installed models with one byte changed, under the same name in another folder.
void CopyChanged(const std::string& relative, const std::filesystem::path& folder) {
  std::string bytes = ReadTextFile(TestModels().Require(relative));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  MakeFolder((folder / relative).parent_path());
  WriteFileAtomically(folder / relative, bytes);
}

TEST(PinnedModels, EveryInstalledFileIsTheOneThatWasPinned) {
  for (const char* name : {"onnxruntime/libonnxruntime.so.1", "moonshine/encoder_model.onnx",
                           "moonshine/decoder_model_merged.onnx", "moonshine/tokens.txt",
                           "silero/silero_vad_v5.onnx", "dnsmos/sig_bak_ovr.onnx"}) {
    SOTTO_NEEDS_MODEL(name);
    EXPECT_FALSE(TestModels().Read(name).empty());
  }
}

TEST(PinnedModels, AChangedByteIsRefusedUnlessTheModelsAreTrusted) {
  const TemporaryFolder folder;
  for (const char* name : {"moonshine/tokens.txt", "silero/silero_vad_v5.onnx"}) {
    SOTTO_NEEDS_MODEL(name);
    CopyChanged(name, folder.Path());
    const std::string message = MessageOf([&] { ModelFolders({folder.Path()}).Read(name); });
    EXPECT_NE(message.find((folder / name).string()), std::string::npos) << message;
    EXPECT_NE(message.find("--trust-models"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(ModelFolders({folder.Path()}, true).Read(name), ReadTextFile(folder / name));
  }
  // What nobody pinned is nobody's promise.
  WriteFileAtomically(folder / "own.onnx", "own");
  EXPECT_THROW(ModelFolders({folder.Path()}).Read("own.onnx"), UntrustedModel);
}

TEST(PinnedModels, AChangedLibraryIsNotRunUnlessItIsTrusted) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const TemporaryFolder folder;
  MakeFolder(folder / "onnxruntime");
  const std::filesystem::path changed = folder / "onnxruntime/libonnxruntime.so.1";
  // A byte behind its end: it would load.
  WriteFileAtomically(changed,
                      ReadTextFile(TestModels().Require("onnxruntime/libonnxruntime.so.1")) + "x");
  const std::string message = MessageOf([&] { OnnxRuntime::Open(ModelFolders({folder.Path()})); });
  EXPECT_NE(message.find(changed.string()), std::string::npos) << message;
  EXPECT_NE(message.find("--trust-models"), std::string::npos) << message;
  EXPECT_EQ(OnnxRuntime::Open(ModelFolders({folder.Path()}, true))->Version(),
            OnnxRuntime::Open(TestModels())->Version());
}

TEST(OnnxSession, AModelWrittenByHandComputesItsMeanProjection) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(TestModels());
  const OnnxSession session(runtime, MeanProjectionModel(2, 3, {1, 2, 3, 10, 20, 30}), "by hand");
  EXPECT_EQ(session.Input("feats").shape, (std::vector<std::int64_t>{1, -1, 2}));
  EXPECT_EQ(session.Output("embedding").shape, (std::vector<std::int64_t>{1, 3}));
  // Frames (1, 0), (3, 4): their mean (2, 2) times the weights.
  const std::array<float, 4> x = {1, 0, 3, 4};
  const OnnxTensor input = OnnxTensor::Floats(runtime, x, {1, 2, 2});
  const std::array<OnnxSession::Named, 1> inputs = {{{"feats", &input}}};
  const std::array<std::string, 1> outputs = {"embedding"};
  const auto results = session.Run(inputs, outputs);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].Shape(), (std::vector<std::int64_t>{1, 3}));
  const auto y = results[0].Floats();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{22, 44, 66}));
}

TEST(OnnxSession, WhatDoesNotFitIsAnErrorThatNamesTheModel) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(TestModels());
  const OnnxSession session(runtime, MeanProjectionModel(2, 1, {1, 1}), "by hand");
  EXPECT_EQ(MessageOf([&] { session.Input("sound"); }),
            "'by hand' has no input 'sound'; it has: feats");
  const std::array<float, 3> x = {1, 2, 3};
  EXPECT_EQ(MessageOf([&] {
              OnnxTensor::Floats(runtime, x, {2, 2});
            }),
            "tensor: 3 values do not fill its shape of 4");
  const OnnxTensor wrong = OnnxTensor::Floats(runtime, x, {1, 1, 3});
  const std::array<OnnxSession::Named, 1> inputs = {{{"feats", &wrong}}};
  const std::array<std::string, 1> outputs = {"embedding"};
  EXPECT_EQ(MessageOf([&] { session.Run(inputs, outputs); }).rfind("'by hand': ", 0), 0U);
}

TEST(OnnxSession, ADamagedModelIsAnError) {
  SOTTO_NEEDS_MODEL("onnxruntime/libonnxruntime.so.1");
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(TestModels());
  const std::string whole = MeanProjectionModel(2, 1, {1, 1});
  for (const std::string& bytes :
       {std::string(), std::string("no model"), whole.substr(0, whole.size() / 2)}) {
    const std::string message = MessageOf([&] { OnnxSession(runtime, bytes, "damaged"); });
    EXPECT_EQ(message.rfind("'damaged': ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(ModelDescription, AllFieldsAreRead) {
  const ModelDescription d = ParseModelDescription(
      R"({"name": "net", "input": "feats", "output": "embs", "length_input": "n",
          "length_unit": "fraction", "layout": "mels_first", "normalise": "mean_variance",
          "features": {"kind": "log_mel", "recipe": "speechbrain", "rate_hz": 8000, "mels": 40,
                       "low_hz": 100, "high_hz": 3800, "scale": 1}})",
      "net.json");
  EXPECT_EQ(d.name, "net");
  EXPECT_EQ(d.input, "feats");
  EXPECT_EQ(d.output, "embs");
  EXPECT_EQ(d.length_input, "n");
  EXPECT_EQ(d.length_unit, ModelDescription::LengthUnit::kFractionOfTheLongest);
  EXPECT_EQ(d.layout, ModelDescription::Layout::kMelsFirst);
  EXPECT_EQ(d.normalise, ModelDescription::Normalise::kMeanVariance);
  EXPECT_EQ(d.recipe, ModelDescription::Recipe::kSpeechBrain);
  EXPECT_EQ(d.rate_hz, 8000);
  EXPECT_EQ(d.mels, 40);
  EXPECT_EQ(d.low_hz, 100.0);
  EXPECT_EQ(d.high_hz, 3800.0);
  EXPECT_EQ(d.scale, 1.0);
}

TEST(ModelDescription, MistakesNameTheFieldAndWhatIsAllowed) {
  const auto message = [](const std::string& text) {
    return MessageOf([&] { ParseModelDescription(text, "net.json"); });
  };
  EXPECT_EQ(message("{"), "'net.json' is not JSON");
  EXPECT_EQ(message("[]"), "'net.json': a JSON object is expected");
  EXPECT_EQ(message(R"({"input": "x"})"), "'net.json': 'output' is missing");
  EXPECT_EQ(message(R"({"input": 3, "output": "y"})"),
            "'net.json': 'input' is 3, allowed is a text that is not empty");
  EXPECT_EQ(message(R"({"input": "x", "output": "y", "normalize": "mean"})"),
            "'net.json': 'normalize' is not a known field");
  EXPECT_EQ(message(R"({"input": "x", "output": "y", "layout": "rows"})"),
            "'net.json': 'layout' is \"rows\", allowed is one of time_first, mels_first");
  EXPECT_EQ(message(R"({"input": "x", "output": "y", "features": {"mels": 2.5}})"),
            "'net.json' features: 'mels' is 2.5, allowed is a number from 8 to 512");
  EXPECT_EQ(message(R"({"input": "x", "output": "y", "features": {"rate_hz": 8000}})"),
            "'net.json' features: mels from 20 to 7600 Hz do not fit a rate of 8000 Hz");
}

TEST(ModelDescription, TheJsonBesideTheModelIsReadAndTheFileNamesIt) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "tiny.json", R"({"input": "x", "output": "y"})");
  EXPECT_EQ(ReadModelDescription(folder / "tiny.onnx").name, "tiny");
  EXPECT_NE(MessageOf([&] { ReadModelDescription(folder / "other.onnx"); }).find("other.json"),
            std::string::npos);
}

}  // namespace
}  // namespace sotto

// The constant tensors of an ONNX model (onnx.ai, format of 2017: a protocol buffer,
// ModelProto.graph = 7, GraphProto.initializer = 5), without the runtime: what a training program
// needs of a net that it builds by itself.
//
// Read: float, 8-bit integers with and without sign (as whole numbers; scales and zero points are
// tensors of their own there). Tensors of other kinds, such as shapes in 64-bit integers, are left
// out; values in files beside the model are an Error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "nn/safetensors.h"

namespace sotto {

// Throws Error that names the file and what is wrong.
TensorFile ReadOnnxWeights(const std::filesystem::path& path);
TensorFile ParseOnnxWeights(std::string_view bytes, const std::string& where);

}  // namespace sotto

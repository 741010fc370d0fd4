// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "verify/frames.h"
#include "verify/image.h"
#include "verify/npy.h"

namespace onepass::tool {

namespace {

ir::DType dtype_of(artefact::DataType type) {
  switch (type) {
    case artefact::DataType::f32:
      return ir::DType::f32;
    case artefact::DataType::u8:
      return ir::DType::u8;
    case artefact::DataType::i8:
      return ir::DType::i8;
    case artefact::DataType::i32:
      return ir::DType::i32;
    case artefact::DataType::i64:
      return ir::DType::i64;
    case artefact::DataType::boolean:
      return ir::DType::boolean;
    case artefact::DataType::f64:
      return ir::DType::f64;
  }
  throw InternalError("an artefact holds a known type");
}

ir::TensorType type_of(const artefact::TensorRecord& record) {
  return {dtype_of(record.dtype), ir::Shape(record.dims, record.dims + record.rank), record.counted_axis};
}

int input_named(const runtime::LoadedModel& model, const std::string& name) {
  std::string names;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    if (name == model.inputs()[i].name) return static_cast<int>(i);
    names += (names.empty() ? "" : ", ") + std::string(model.inputs()[i].name);
  }
  throw Error(
      {.code = "bad_input", .message = fmt::format("the model has no input '{}'", name), .accepted = names});
}

/// Source text by input number: "NAME=rest" where NAME is an input, else by position.
std::map<int, std::string> assign(const runtime::LoadedModel& model,
                                  const std::vector<std::string>& sources) {
  std::map<int, std::string> result;
  int next = 0;
  for (const std::string& source : sources) {
    const size_t equals = source.find('=');
    if (equals != std::string::npos) {
      result[input_named(model, source.substr(0, equals))] = source.substr(equals + 1);
    } else if (next < static_cast<int>(model.inputs().size())) {
      result[next++] = source;
    } else {
      throw Error({.code = "bad_input",
                   .message = fmt::format("'{}': the model has {} inputs", source, model.inputs().size())});
    }
  }
  return result;
}

ir::Tensor picture(const std::string& path, const ir::TensorType& type,
                   const verify::Preprocess& preprocess) {
  if (type.dtype != ir::DType::f32 || !verify::holds_images(type.dims, preprocess.layout) ||
      type.dims[0] != 1)
    throw Error({.code = "bad_input",
                 .message = fmt::format("a picture does not fit {}", ir::to_string(type)),
                 .accepted = "f32[1,3,h,w], f32[1,1,h,w] or their channels-last forms"});
  ir::Tensor tensor(type.dtype, type.dims);
  verify::image_to_elements(verify::read_image(path), preprocess, type.dims, tensor.data<float>());
  return tensor;
}

ir::Tensor tensor_of(const std::string& source, const artefact::TensorRecord& record,
                     const verify::PreprocessByInput& by_input) {
  const ir::TensorType type = type_of(record);
  if (source == "random") return verify::lcg_tensor(type.dims, -1, 1).cast(type.dtype);
  if (!source.ends_with(".npy")) {
    const auto found = by_input.find(record.name);
    return picture(source, type, found == by_input.end() ? verify::Preprocess{} : found->second);
  }
  ir::Tensor tensor = verify::read_npy(source);
  if (tensor.dtype() != type.dtype || tensor.shape() != type.dims)
    throw Error({.code = "bad_input",
                 .message = fmt::format("'{}' holds {}", source, ir::to_string(tensor.type())),
                 .accepted = fmt::format("{} for input '{}'", ir::to_string(type), record.name)});
  return tensor;
}

}  // namespace

void fill_inputs(const runtime::LoadedModel& model, runtime::Session& session,
                 const std::vector<std::string>& sources, const verify::PreprocessByInput& preprocessing) {
  const std::map<int, std::string> by_input = assign(model, sources);
  for (int i = 0; i < static_cast<int>(model.inputs().size()); ++i) {
    const auto found = by_input.find(i);
    const ir::Tensor tensor =
        tensor_of(found == by_input.end() ? "random" : found->second, model.inputs()[i], preprocessing);
    std::memcpy(session.input(i), tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
  }
}

std::vector<NamedTensor> outputs_of(const runtime::LoadedModel& model, const runtime::Session& session) {
  std::vector<NamedTensor> outputs;
  for (int o = 0; o < static_cast<int>(model.outputs().size()); ++o) {
    ir::Tensor tensor(dtype_of(model.outputs()[o].dtype), session.output_dims(o));
    std::memcpy(tensor.bytes(), session.output(o), static_cast<size_t>(tensor.size_bytes()));
    outputs.push_back({model.outputs()[o].name, std::move(tensor)});
  }
  return outputs;
}

}  // namespace onepass::tool

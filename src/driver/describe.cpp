// SPDX-License-Identifier: Apache-2.0
#include "driver/describe.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "driver/version.h"

namespace onepass::driver {

namespace {

artefact::DataType data_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f32:
      return artefact::DataType::f32;
    case ir::DType::f64:
      return artefact::DataType::f64;
    case ir::DType::i64:
      return artefact::DataType::i64;
    case ir::DType::i32:
      return artefact::DataType::i32;
    case ir::DType::i8:
      return artefact::DataType::i8;
    case ir::DType::u8:
      return artefact::DataType::u8;
    case ir::DType::boolean:
      return artefact::DataType::boolean;
    case ir::DType::undefined:
      break;
  }
  throw InternalError("a graph input or output has no type");
}

artefact::Tensor tensor(const std::string& name, const ir::TensorType& type) {
  if (type.dims.size() > artefact::k_max_rank)
    throw Error({.code = "rank_too_large",
                 .message = fmt::format("'{}' is {}", name, ir::to_string(type)),
                 .accepted = fmt::format("inputs and outputs of rank {} at most", artefact::k_max_rank)});
  return {.name = name, .dtype = data_type(type.dtype), .dims = type.dims, .counted_axis = type.counted_axis};
}

std::string metadata(const Network& network, const Program& program, const CompileOptions& options) {
  constexpr const char* k_fusion[] = {"off", "folded", "on"};
  nlohmann::ordered_json json;
  json["onepass"] = k_version;
  json["model_hash"] = fmt::format("{:016x}", network.hash);
  json["opset"] = network.model.opset;
  json["target"] = program.plan.target->name;
  if (!options.machine.empty()) json["machine_hash"] = fmt::format("{:016x}", hash_file(options.machine));
  if (!options.choices.empty()) json["choices_hash"] = fmt::format("{:016x}", hash_file(options.choices));
  json["fusion"] = k_fusion[static_cast<int>(options.fusion)];
  json["residual"] = options.residual == patterns::ResidualMode::proven ? "proven" : "split";
  json["tolerance"] = options.exact ? 0 : options.tolerance;
  if (options.budget_range)
    json["budget_range"] = {options.budget_range->first, options.budget_range->second};
  if (program.budget.frames_hash != 0)
    json["budget_frames"] = fmt::format("{:016x}", program.budget.frames_hash);
  for (const auto& [name, shape] : options.read.input_shapes) json["shapes"][name] = shape;
  json["bn"] = options.read.batch_norm == onnx::BatchNormMode::assume_eval ? "assume-eval" : "as-exported";
  return json.dump();
}

}  // namespace

artefact::OperandRecord place(const plan::Buffer& buffer) {
  switch (buffer.space) {
    case plan::BufferSpace::arena:
      return {artefact::Space::arena, 0, buffer.offset_bytes};
    case plan::BufferSpace::weights:
      return {artefact::Space::weights, 0, buffer.offset_bytes};
    case plan::BufferSpace::input:
      return {artefact::Space::input, buffer.index, 0};
    case plan::BufferSpace::output:
      return {artefact::Space::output, buffer.index, buffer.inside < 0 ? 0 : buffer.offset_bytes};
  }
  throw InternalError("a buffer lies somewhere");
}

artefact::Description describe_interface(const Program& program) {
  artefact::Description d;
  for (ir::ValueId input : program.graph.inputs())
    d.inputs.push_back(tensor(program.graph.value(input).name, program.graph.value(input).type));
  for (const ir::GraphOutput& output : program.graph.outputs())
    d.outputs.push_back(tensor(output.name, program.graph.value(output.value).type));
  for (const plan::Count& count : program.plan.counts)
    d.outputs[count.output].count_offset_bytes = program.plan.buffers[count.buffer].offset_bytes;
  d.arena_bytes = program.plan.arena_bytes;
  d.scratch_bytes = program.plan.scratch_bytes;
  d.weights_bytes = static_cast<int64_t>(program.plan.weights.size());
  d.target = program.plan.target->name;
  return d;
}

artefact::Description describe(const Network& network, const Program& program,
                               const CompileOptions& options) {
  artefact::Description d = describe_interface(program);
  d.metadata = metadata(network, program, options);
  for (const plan::Launch& launch : program.plan.launches) {
    artefact::Launch out{.symbol = launch.symbol,
                         .name = launch.name,
                         .params = launch.params,
                         .operands = {},
                         .stripes = launch.stripes,
                         .group = launch.group,
                         .slices = launch.slices,
                         .cost_ns = static_cast<int64_t>(std::llround(launch.predicted_ns))};
    for (int32_t buffer : launch.operands) out.operands.push_back(place(program.plan.buffers[buffer]));
    d.launches.push_back(std::move(out));
  }
  return d;
}

}  // namespace onepass::driver

// SPDX-License-Identifier: Apache-2.0
#include "runtime/model_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>

#include "artefact/arena_layout.h"
#include "base/diagnostic.h"
#include "emit/emit.h"
#include "ir/parser.h"
#include "passes/infer_shapes.h"
#include "plan/routine_call.h"
#include "runtime/exports.h"
#include "runtime/inside_archive.h"

namespace onepass::test {

namespace {

void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  require(static_cast<bool>(file), "a test file is written");
}

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
    default:
      return artefact::DataType::boolean;
  }
}

artefact::Tensor boundary_tensor(const std::string& name, const ir::TensorType& type) {
  return {.name = name, .dtype = data_type(type.dtype), .dims = type.dims, .counted_axis = type.counted_axis};
}

/// Places the values of one graph.
class Placement {
 public:
  Placement(RoutineModel& model, const ir::Graph& graph) : model_(model), graph_(graph) {
    artefact::Description& description = model.description;
    for (const ir::ValueId input : graph.inputs()) {
      places_[input] = {artefact::Space::input, static_cast<int32_t>(description.inputs.size()), 0};
      description.inputs.push_back(boundary_tensor(graph.value(input).name, graph.value(input).type));
    }
    for (const ir::GraphOutput& output : graph.outputs()) {
      places_[output.value] = {artefact::Space::output, static_cast<int32_t>(description.outputs.size()), 0};
      description.outputs.push_back(boundary_tensor(output.name, graph.value(output.value).type));
    }
  }

  artefact::OperandRecord of(ir::ValueId value) {
    const auto found = places_.find(value);
    if (found != places_.end()) return found->second;
    return places_[value] = graph_.is_constant(value) ? in_weights(graph_.value(value).constant)
                                                      : in_arena(bytes_of(graph_.value(value).type));
  }

  artefact::OperandRecord in_arena(int64_t bytes) {
    int64_t& end = model_.description.arena_bytes;
    const artefact::OperandRecord place{artefact::Space::arena, 0, end};
    end += artefact::aligned_bytes(bytes);
    return place;
  }

 private:
  static int64_t bytes_of(const ir::TensorType& type) {
    return ir::element_count(type.dims) * ir::size_bytes(type.dtype);
  }

  artefact::OperandRecord in_weights(const ir::Tensor& tensor) {
    const auto offset = static_cast<int64_t>(model_.weights.size());
    model_.weights.resize(static_cast<size_t>(offset + artefact::aligned_bytes(tensor.size_bytes())));
    std::memcpy(model_.weights.data() + offset, tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
    return {artefact::Space::weights, 0, offset};
  }

  RoutineModel& model_;
  const ir::Graph& graph_;
  std::map<ir::ValueId, artefact::OperandRecord> places_;
};

artefact::Launch launch_of(const ir::Graph& graph, ir::NodeId id, const plan::RoutineCall& call,
                           Placement& places) {
  artefact::Launch launch{
      .symbol = call.symbol, .name = graph.node(id).name, .params = call.params, .slices = call.slices};
  for (const ir::ValueId value : call.inputs) launch.operands.push_back(places.of(value));
  for (const ir::ValueId value : call.outputs) launch.operands.push_back(places.of(value));
  return launch;
}

/// The count slot of a NonMaxSuppression; the outputs that carry its axis name it too.
void add_count(artefact::Launch& launch, Placement& places, artefact::Description& description,
               size_t first_output) {
  launch.operands.push_back(places.in_arena(8));
  for (size_t i = first_output; i < description.outputs.size(); ++i)
    if (description.outputs[i].counted_axis >= 0)
      description.outputs[i].count_offset_bytes = launch.operands.back().offset_bytes;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "onepass_runtime_XXXXXX").string();
  require(mkdtemp(pattern.data()) != nullptr, "a temporary folder is made");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void RoutineModel::add(const ir::Graph& graph) {
  const size_t first_output = description.outputs.size();
  Placement places(*this, graph);
  for (const ir::NodeId id : graph.topological_order()) {
    const auto call = plan::routine_call(graph, id);
    if (!call) throw Error(ir::diagnostic_at(graph.node(id), "no_routine", "no routine does this node"));
    artefact::Launch launch = launch_of(graph, id, *call, places);
    if (call->writes_count) add_count(launch, places, description, first_output);
    description.scratch_bytes = std::max(description.scratch_bytes, call->scratch_bytes);
    description.launches.push_back(std::move(launch));
  }
  description.weights_bytes = static_cast<int64_t>(weights.size());
}

std::string link_model(const artefact::Description& description, const std::vector<std::byte>& weights,
                       const TemporaryFolder& folder) {
  const targets::Target& target = targets::find("x86-64-v3");
  write_bytes(folder / "weights.bin", weights);
  write_bytes(folder / "inside.a", runtime::inside_archive());
  const std::string text = artefact::data_assembly(description, folder / "weights.bin");
  write_bytes(folder / "data.o", emit::assemble(text, target));
  emit::LinkInput input{
      .object_paths = {folder / "data.o", folder / "inside.a"}, .exported = {}, .soname = "model.so"};
  input.exported.assign(runtime::k_exported_symbols.begin(), runtime::k_exported_symbols.end());
  emit::link_shared(input, target, folder / "model.so");
  return folder / "model.so";
}

ir::Graph typed_graph(const std::string& body) {
  ir::Graph graph = ir::parse("graph t {\n" + body + "\n}");
  passes::infer_shapes(graph);
  return graph;
}

}  // namespace onepass::test

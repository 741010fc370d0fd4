// SPDX-License-Identifier: Apache-2.0
#include "onnx/writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "onnx/element_types.h"
#include "onnx/write_file.h"
#include "onnx/written_names.h"

namespace onepass::onnx {

namespace {

namespace fs = std::filesystem;

constexpr int64_t k_data_alignment_bytes = 64;

/// The IR version of the release that brought an opset.
int64_t ir_version_of(int opset) {
  constexpr std::pair<int, int64_t> k_versions[] = {{18, 8}, {20, 9}, {22, 10}, {23, 11}, {24, 12}, {27, 13}};
  for (const auto& [last_opset, ir_version] : k_versions)
    if (opset <= last_opset) return ir_version;
  return 14;
}

/// An output file that appears under its name when it is whole, or not at all.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path)
      : path_(std::move(path)),
        temporary_(fmt::format("{}.{}.tmp", path_, getpid())),
        stream_(temporary_, std::ios::binary) {
    if (!stream_) fail("cannot be created");
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    std::error_code ignored;
    if (!done_) fs::remove(temporary_, ignored);
  }

  std::ofstream& stream() { return stream_; }
  void commit() {
    stream_.close();
    if (!stream_) fail("cannot be written");
    std::error_code failure;
    fs::rename(temporary_, path_, failure);
    if (failure) fail("cannot be put in place");
    done_ = true;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw Error({.code = "cannot_write",
                 .message = fmt::format("'{}' {}", path_, why),
                 .accepted = "a path in a writable folder"});
  }

  std::string path_, temporary_;
  std::ofstream stream_;
  bool done_ = false;
};

/// Name, type and dims without the elements.
pb::TensorProto tensor_header(const ir::Tensor& tensor, const std::string& name) {
  pb::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(element_number(tensor.dtype()));
  for (int64_t extent : tensor.shape()) proto.add_dims(extent);
  return proto;
}

pb::TensorProto tensor_proto(const ir::Tensor& tensor, const std::string& name) {
  pb::TensorProto proto = tensor_header(tensor, name);
  proto.set_raw_data(tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
  return proto;
}

struct AttributeWriter {
  pb::AttributeProto& proto;

  void operator()(int64_t value) const {
    proto.set_type(pb::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(pb::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(pb::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(pb::AttributeProto::INTS);
    proto.mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(pb::AttributeProto::FLOATS);
    for (double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const ir::Tensor& value) const {
    proto.set_type(pb::AttributeProto::TENSOR);
    *proto.mutable_t() = tensor_proto(value, "");
  }
};

void write_attributes(const ir::Node& node, int opset, pb::NodeProto& proto) {
  for (const auto& [name, value] : node.attributes.items()) {
    pb::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter{attribute}, value);
  }
  // From opset 18 on, a Split without sizes says how many parts it makes.
  const bool has_sizes = node.inputs.size() > 1 && node.inputs[1].valid();
  if (node.op != ir::Op::Split || opset < 18 || has_sizes || node.attributes.has("num_outputs")) return;
  pb::AttributeProto& attribute = *proto.add_attribute();
  attribute.set_name("num_outputs");
  AttributeWriter{attribute}(static_cast<int64_t>(node.outputs.size()));
}

void write_value_info(const std::string& name, const ir::TensorType& type, pb::ValueInfoProto& proto) {
  proto.set_name(name);
  if (type.dtype == ir::DType::undefined) return;
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(element_number(type.dtype));
  auto& shape = *tensor.mutable_shape();
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    auto& dimension = *shape.add_dim();
    if (static_cast<int>(axis) == type.counted_axis)
      dimension.set_dim_param(fmt::format("{}_count", name));
    else
      dimension.set_dim_value(type.dims[axis]);
  }
}

void write_nodes(const ir::Graph& graph, int opset, WrittenNames& names, pb::GraphProto& proto) {
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& node = graph.node(id);
    pb::NodeProto& written = *proto.add_node();
    written.set_op_type(ir::name(node.op));
    written.set_name(node.name);
    for (ir::ValueId input : node.inputs) written.add_input(input.valid() ? names.of(input) : "");
    for (ir::ValueId output : node.outputs) written.add_output(output.valid() ? names.of(output) : "");
    write_attributes(node, opset, written);
  }
  for (const ir::GraphOutput& copy : names.copies()) {
    pb::NodeProto& written = *proto.add_node();
    written.set_op_type("Identity");
    written.set_name(fmt::format("Identity_{}", copy.name));
    written.add_input(names.of(copy.value));
    written.add_output(copy.name);
  }
}

/// Constants that a node reads or that are a graph output.
std::vector<ir::ValueId> used_constants(const ir::Graph& graph) {
  std::vector<ir::ValueId> used;
  for (size_t i = 0; i < graph.value_capacity(); ++i) {
    const ir::ValueId id{static_cast<int32_t>(i)};
    if (graph.is_constant(id) && !graph.value(id).is_input && graph.use_count(id) > 0) used.push_back(id);
  }
  return used;
}

void write_inline(const ir::Graph& graph, WrittenNames& names, pb::GraphProto& proto) {
  for (ir::ValueId id : used_constants(graph))
    *proto.add_initializer() = tensor_proto(graph.value(id).constant, names.of(id));
}

/// The data file, written but not yet in place.
std::unique_ptr<AtomicFile> write_external(const ir::Graph& graph, const std::string& path,
                                           WrittenNames& names, pb::GraphProto& proto) {
  auto file = std::make_unique<AtomicFile>(path);
  int64_t offset_bytes = 0;
  for (ir::ValueId id : used_constants(graph)) {
    const ir::Tensor& tensor = graph.value(id).constant;
    pb::TensorProto& written = *proto.add_initializer();
    written = tensor_header(tensor, names.of(id));
    written.set_data_location(pb::TensorProto::EXTERNAL);
    const auto add_entry = [&](const char* key, const std::string& value) {
      auto& entry = *written.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add_entry("location", fs::path(path).filename().string());
    add_entry("offset", fmt::format("{}", offset_bytes));
    add_entry("length", fmt::format("{}", tensor.size_bytes()));
    file->stream().write(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes());
    const int64_t padding_bytes = -tensor.size_bytes() & (k_data_alignment_bytes - 1);
    file->stream() << std::string(static_cast<size_t>(padding_bytes), '\0');
    offset_bytes += tensor.size_bytes() + padding_bytes;
  }
  return file;
}

int64_t constant_bytes(const ir::Graph& graph) {
  int64_t total_bytes = 0;
  for (ir::ValueId id : used_constants(graph)) total_bytes += graph.value(id).constant.size_bytes();
  return total_bytes;
}

}  // namespace

void write_model(const ir::Graph& graph, const std::string& path, const WriteLimits& limits) {
  const int opset = lowest_opset(graph);
  WrittenNames names(graph);
  pb::ModelProto model;
  model.set_ir_version(ir_version_of(opset));
  model.set_producer_name("onepass");
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  pb::GraphProto& proto = *model.mutable_graph();
  proto.set_name(graph.name.empty() ? "onepass" : graph.name);
  for (ir::ValueId input : graph.inputs())
    write_value_info(names.of(input), graph.value(input).type, *proto.add_input());
  for (const ir::GraphOutput& output : graph.outputs())
    write_value_info(output.name, graph.value(output.value).type, *proto.add_output());
  AtomicFile file(path);
  write_nodes(graph, opset, names, proto);
  std::unique_ptr<AtomicFile> data;
  if (constant_bytes(graph) >= limits.external_from_bytes)
    data = write_external(graph, path + ".data", names, proto);
  else
    write_inline(graph, names, proto);
  if (!model.SerializeToOstream(&file.stream()))
    throw Error({.code = "cannot_write", .message = fmt::format("'{}' cannot be serialized", path)});
  if (data) data->commit();
  file.commit();
}

void write_model(const ir::Graph& graph, const std::string& path) {
  write_model(graph, path, WriteLimits{});
}

}  // namespace onepass::onnx

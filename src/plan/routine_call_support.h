// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/routine_call.h"

// How a node becomes the parameters of a plain routine; runtime/inside/routines.h lists them.
namespace onepass::plan::routines {

using Ints = std::vector<int64_t>;

/// A typed node in its graph.
struct NodeView {
  const ir::Graph& graph;
  ir::NodeId id;

  const ir::Node& node() const { return graph.node(id); }
  bool has(size_t input) const { return input < node().inputs.size() && node().inputs[input].valid(); }
  const ir::TensorType& type(size_t input) const { return graph.value(node().inputs.at(input)).type; }
  const ir::Shape& dims(size_t input) const { return type(input).dims; }
  const ir::TensorType& result(size_t output = 0) const {
    return graph.value(node().outputs.at(output)).type;
  }
  bool wants(size_t output) const;  ///< somebody reads that output
  const ir::Tensor* constant(size_t input) const { return graph.constant_input(id, input); }
  /// The integers behind an input; nothing when it is absent or not known.
  std::optional<Ints> constant_ints(size_t input) const;
  int64_t attribute(const char* name, int64_t default_value) const {
    return node().attributes.get_int(name, default_value);
  }
};

inline int64_t bits(double value) {
  return std::bit_cast<int64_t>(value);
}
inline void append(Ints& params, const Ints& values) {
  params.insert(params.end(), values.begin(), values.end());
}

/// `axis` from the front.
inline int64_t from_front(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

/// Reads all of `inputs` (numbers of the node's inputs) and writes output 0.
RoutineCall call_of(const NodeView& view, std::string symbol, std::initializer_list<size_t> inputs);

/// Work of a launch: `units`, each as dear as about `unit_elems` element operations; params[0] and params[1].
/// Slices begin at multiples of `granule` units.
void set_work(RoutineCall& call, int64_t units, int64_t unit_elems, int64_t granule = 1);

/// "onepass_<stem>_<f32>"
std::string symbol_of(const char* stem, ir::DType dtype);
/// "onepass_<stem>_<size in bytes>"
std::string sized_symbol(const char* stem, ir::DType dtype);

/// An index space that operands are read over, each with its strides.
struct IndexSpace {
  Ints dims;
  std::vector<Ints> strides;

  /// Drops axes of extent 1 and merges axes that every operand walks as one; at least one axis stays.
  void merge_axes();
  bool fits() const { return dims.size() <= 16; }
  /// rank, dims, strides of every operand
  void append_to(Ints& params) const;
};

/// Strides of an operand of shape `src` that is broadcast to `dst`.
Ints broadcast_strides(const ir::Shape& src, const ir::Shape& dst);

/// Lines along an axis of a dense tensor.
struct Lines {
  int64_t extent;
  int64_t stride;  ///< between neighbours of a line
  int64_t count;
};

Lines lines_of(const ir::Shape& dims, int64_t axis);

using Builder = std::optional<RoutineCall> (*)(const NodeView&);

// By the family of operators: routine_call_<family>.cpp.
std::optional<RoutineCall> same_elements(const NodeView& view);
std::optional<RoutineCall> transpose(const NodeView& view);
std::optional<RoutineCall> slice(const NodeView& view);
std::optional<RoutineCall> expand(const NodeView& view);
std::optional<RoutineCall> tile(const NodeView& view);
std::optional<RoutineCall> depth_to_space(const NodeView& view);
std::optional<RoutineCall> space_to_depth(const NodeView& view);
std::optional<RoutineCall> pad(const NodeView& view);
std::optional<RoutineCall> gather(const NodeView& view);
std::optional<RoutineCall> concat(const NodeView& view);
std::optional<RoutineCall> split(const NodeView& view);
/// A Split without the parts that are kept where they are; a Concat that writes the others over its source,
/// or over a copy of it. By part.
std::optional<RoutineCall> split_parts(const NodeView& view, const std::vector<bool>& kept);
std::optional<RoutineCall> replace_parts(const NodeView& view, const std::vector<bool>& kept);
std::optional<RoutineCall> broadcast(const NodeView& view);
std::optional<RoutineCall> where(const NodeView& view);
std::optional<RoutineCall> cast(const NodeView& view);
std::optional<RoutineCall> unary(const NodeView& view);
std::optional<RoutineCall> batch_normalization(const NodeView& view);
std::optional<RoutineCall> reduce(const NodeView& view);
std::optional<RoutineCall> global_pool(const NodeView& view);
std::optional<RoutineCall> softmax(const NodeView& view);
std::optional<RoutineCall> lrn(const NodeView& view);
std::optional<RoutineCall> arg_max(const NodeView& view);
std::optional<RoutineCall> top_k(const NodeView& view);
std::optional<RoutineCall> non_max_suppression(const NodeView& view);
std::optional<RoutineCall> conv(const NodeView& view);
std::optional<RoutineCall> conv_transpose(const NodeView& view);
std::optional<RoutineCall> max_pool(const NodeView& view);
std::optional<RoutineCall> average_pool(const NodeView& view);
std::optional<RoutineCall> matmul(const NodeView& view);
std::optional<RoutineCall> gemm(const NodeView& view);
std::optional<RoutineCall> resize(const NodeView& view);

}  // namespace onepass::plan::routines

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "onnx/reader.h"

namespace onepass::onnx {

/// A node on its way from the file to the graph: inputs are known values, outputs still names ("" absent).
struct SourceNode {
  std::string op;
  std::string name;
  int opset = 0;
  std::vector<ir::ValueId> inputs;
  std::vector<std::string> outputs;
  ir::Attributes attributes;

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index].valid(); }
};

/// An Error about `node`: code, message, and what the diagnostic says besides.
Error refuse(const SourceNode& node, Diagnostic diagnostic);

/// Throws Error("input_count") unless `node`, in the form of its own opset, has at most `max` inputs.
void expect_inputs(const SourceNode& node, size_t max);

/// The graph under construction, and what upgrades need to change it.
class Importer {
 public:
  explicit Importer(const ReadOptions& options) : options_(options) {}

  ir::Graph graph;
  std::vector<Diagnostic> warnings;

  const ReadOptions& options() const { return options_; }

  /// Names that the file uses: made names avoid them.
  void reserve_name(const std::string& name) { names_.insert(name); }
  void mark_read(const std::string& name) { read_.insert(name); }
  bool is_read(const std::string& name) const { return read_.contains(name); }
  std::string fresh_name(const std::string& stem);

  void define(const std::string& name, ir::ValueId value) { values_[name] = value; }
  /// Invalid when nothing of that name is defined yet.
  ir::ValueId find(const std::string& name) const;

  /// A constant for input `role` of `node`.
  ir::ValueId add_constant(const SourceNode& node, const std::string& role, ir::Tensor tensor);
  ir::ValueId add_ints(const SourceNode& node, const std::string& role, const std::vector<int64_t>& ints);
  /// Moves the integer list `attribute`, if present, to input `index`.
  void move_ints_to_input(SourceNode& node, const std::string& attribute, size_t index);

  /// Adds `node`, which is in its newest form, after checking its inputs and outputs against ops.def.
  void emit(const SourceNode& node);
  /// Adds a one-output node on the way to `node`, and returns its output.
  ir::ValueId emit_step(const SourceNode& node, ir::Op op, std::vector<ir::ValueId> inputs,
                        ir::Attributes attributes = {});
  /// Defines the outputs of a node that was refused, so that its readers are not refused for it.
  void define_unknown(const std::vector<std::string>& outputs);

  /// The number of axes, or -1 when unknown. It follows from inputs and constants, never from the file's
  /// claims.
  int rank(ir::ValueId value) const;

 private:
  void add_node(const SourceNode& node, ir::Op op, std::vector<ir::ValueId> outputs);
  void note_rank(const ir::Node& node);

  const ReadOptions& options_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> read_;
  std::unordered_map<std::string, ir::ValueId> values_;
  std::unordered_map<int32_t, int> ranks_;
};

}  // namespace onepass::onnx

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ops/interpreter.h"
#include "verify/subject.h"

namespace onepass::verify {

/// What of the reference is needed beside its outputs.
struct ReferencePlan {
  const Subject& subject;
  const std::vector<ir::NodeId>& downstream;  ///< selections and what depends on them, in order
  const std::vector<bool>& kept;              ///< by value
  double tolerance;
};

/// How the choices of the compiled model differ from a reference's.
struct Choices {
  std::vector<std::string> ties;
  std::vector<std::string> wrong;
};

/// The graph as read, interpreted in one precision, with the values that a comparison asks for.
class ReferenceRun {
 public:
  ReferenceRun(const ReferencePlan& plan, const std::vector<ir::Tensor>& inputs, ops::Precision precision);

  void keep_groups();
  void run();
  /// Takes over the choices of the compiled model where they differ and may: what depends on them is computed
  /// again.
  void follow(const std::vector<ir::Tensor>& choices, Choices& result);

  const ir::Tensor& output(size_t number) const { return outputs_[number]; }
  const ir::Tensor& value(ir::ValueId value) const;

 private:
  std::vector<const ir::Tensor*> operands(const ir::Node& node) const;
  void replace(const ir::Node& node, std::vector<ir::Tensor> outputs);
  void choose(const Selection& selection, const ir::Tensor& choice, Choices& result);

  const ReferencePlan& plan_;
  const ir::Graph& graph_;
  const std::vector<ir::Tensor>& inputs_;
  ops::Precision precision_;
  std::vector<bool> kept_;
  std::vector<ir::Tensor> values_;  ///< by value
  std::vector<bool> changed_;       ///< by value: no longer what the interpreter computed
  std::vector<ir::Tensor> outputs_;
};

}  // namespace onepass::verify

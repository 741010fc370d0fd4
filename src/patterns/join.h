// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "ir/activation.h"
#include "patterns/pattern.h"

namespace onepass::patterns {

/// One epilogue step of a group, applied to the accumulator `acc` after the steps before it.
struct Step {
  enum class Kind {
    activation,  ///< acc = f(acc)
    affine,      ///< acc = acc * scale[c] + shift[c], each product and sum rounded (no fma)
    binary,      ///< acc = acc op operand, or operand op acc
  };
  Kind kind = Kind::activation;
  ir::NodeId node;               ///< the node that the step stands for
  ir::Activation activation;     ///< activation
  ir::Tensor scale, shift;       ///< affine: f32[c]
  ir::Op op{};                   ///< binary: Add Sub Mul Div Min Max
  ir::ValueId operand;           ///< binary: the value read beside the accumulator
  bool accumulator_left = true;  ///< binary: acc op operand
};

/// Nodes that may become one kernel: the anchor and what has joined it, in order. An elementwise group has a
/// pointwise or broadcast anchor.
struct GroupDraft {
  std::vector<ir::NodeId> nodes;  ///< anchor first
  std::vector<Step> steps;
  ir::ValueId result;  ///< what the group computes so far
};

enum class ResidualMode {
  proven,  ///< a branched block is joined where the joined kernel gives the same bits
  split,   ///< every branched block stays split
};

struct JoinOptions {
  ResidualMode residual = ResidualMode::proven;
  int max_steps = 16;  ///< group size cap: compile time stays near linear
};

/// A join rule of the catalogue. It never changes the graph.
struct JoinPattern {
  const char* name;  ///< "conv_activation"
  const char* before_after;
  const char* formula;
  const char* exactness;
  std::span<const Condition> conditions;
  /// Whether this rule speaks for `next` behind this group.
  bool (*applies)(const ir::Graph&, const GroupDraft&, ir::NodeId next);
  /// The step that `next` becomes, or the condition that fails. Pure.
  std::variant<Step, Failure> (*legal)(const ir::Graph&, const GroupDraft&, ir::NodeId next,
                                       const JoinOptions&);
};

struct JoinVerdict {
  const JoinPattern* pattern = nullptr;  ///< null: no rule of the catalogue speaks for this node
  std::variant<Step, Refusal> outcome;
};

/// May `next`, a reader of draft.result, become the draft's next step? Universal legality first (U1 the
/// draft's result has no other reader and is no graph output, U2 convex, U3 type and shape kept, U4 group
/// size), then the first rule of the catalogue that applies.
JoinVerdict legal_join(const ir::Graph& graph, const GroupDraft& draft, ir::NodeId next,
                       const JoinOptions& options);

}  // namespace onepass::patterns

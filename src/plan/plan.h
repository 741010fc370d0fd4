// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/stripes.h"
#include "ir/graph.h"
#include "kernels/choice.h"
#include "kernels/estimate.h"
#include "kernels/feature_map.h"
#include "loops/nest.h"
#include "patterns/join.h"
#include "plan/tile_choice.h"
#include "targets/target.h"

namespace onepass::plan {

struct PlanOptions {
  bool joins = true;          ///< false: one group per node
  bool concat_slices = true;  ///< maps that are slices of another lie in its place
  bool stripes = true;        ///< launches over large maps run in stripes of rows
  patterns::JoinOptions join;
  kernels::ConvPolicy conv;
  /// Instead of `conv` for single convolutions and matrix products, by the name of the node's output value
  /// in the graph that is planned.
  std::map<std::string, kernels::ConvPolicy> conv_by_value;

  /// How blocked maps keep their elements. In bf16 every map that one kernel hands to another is rounded:
  /// half the bytes, for budgets of some thousandths.
  loops::Scalar storage = loops::Scalar::f32;

  /// Measured choices of kernels; what it does not name is the model's choice.
  TileTable tiles;

  const kernels::ConvPolicy& policy_for(const ir::Graph& graph, ir::NodeId anchor) const;
};

/// Nodes that become one kernel, or one plain routine.
struct Group {
  std::vector<ir::NodeId> nodes;       ///< anchor first
  std::vector<patterns::Step> steps;   ///< what follows the anchor
  std::vector<std::string> joined_by;  ///< pattern name of each step
  ir::ValueId result;                  ///< output 0 of the last node
  std::string name;                    ///< the user's node names, joined with " + "
};

/// What was decided about one join and what it is predicted to cost.
struct Decision {
  std::string pattern;
  std::vector<std::string> nodes;  ///< the user's own node names, producer first
  bool fused = false;
  bool branched = false;  ///< a residual join, listed apart from straight chains
  std::string condition;  ///< when split: "C2", "U1", "cost", "proof"
  std::string reason;     ///< when split: why; when a residual is joined: its check
  double fused_ns = 0, split_ns = 0;
};

enum class BufferSpace : uint8_t { arena, weights, input, output };

/// Bytes of a buffer that are bytes of another one: what lies there is what was written as that.
struct BufferPart {
  int32_t buffer = -1;
  int64_t at_bytes = 0;    ///< in the buffer that the part belongs to
  int64_t from_bytes = 0;  ///< in `buffer`
  int64_t size_bytes = 0;
};

/// A piece of memory that launches read and write.
struct Buffer {
  std::string name;
  BufferSpace space = BufferSpace::arena;
  int32_t index = 0;  ///< graph input or output number
  int64_t size_bytes = 0;
  int64_t offset_bytes = -1;  ///< arena and weights, and inside an output; set by plan_memory but for weights
  int32_t shares = -1;        ///< in place: the buffer whose memory this one takes over
  int32_t first_launch = -1, last_launch = -1;  ///< written first, read last
  ir::ValueId value;                            ///< what it holds; invalid for packed weights
  std::optional<kernels::FeatureMap> map;       ///< how it lies; none: row-major as ONNX has it
  int32_t inside = -1;       ///< the buffer in whose place this one lies, inside_bytes behind its start
  int64_t inside_bytes = 0;  ///< (no launch reads or writes that buffer itself)
  std::vector<BufferPart>
      parts;  ///< what it is made of, in order, where no launch writes it: a Concat placed
};

struct Launch {
  std::string symbol;                  ///< kernel or routine
  std::string name;                    ///< the user's node names
  std::string family;                  ///< "conv_direct", "layout", "routine", ...
  int32_t group = -1;                  ///< -1: a layout conversion
  std::vector<int32_t> reads, writes;  ///< buffers
  std::vector<int32_t> operands;       ///< buffers in the order of the call
  std::vector<int64_t> params;         ///< of a plain routine
  std::vector<int32_t> may_take_over;  ///< buffers laid out as the destination, which may lie in their place
  int64_t slices = 1;
  kernels::Estimate estimate;
  double predicted_ns = 0;
  std::optional<TileQuestion> tile;             ///< of a convolution or matrix product
  std::optional<kernels::KernelChoice> choice;  ///< of a generated kernel
  std::vector<Launch> members;                  ///< what runs in stripes as this launch (stripes.h)
  Stripes stripes;                              ///< how they run; as many members
};

/// An extent that depends on data: where the run-time count of a graph output lies.
struct Count {
  int32_t output = 0;   ///< graph output
  int32_t buffer = -1;  ///< int64, in the arena, kept to the end of a run
};

struct Plan {
  const targets::Target* target = nullptr;
  std::vector<Group> groups;         ///< in execution order
  std::vector<Decision> decisions;   ///< about joins
  std::vector<Decision> placements;  ///< about values inside others (placement.h, plain_placement.h)
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
  std::vector<loops::LoopNest> kernels;  ///< each once; launches name them
  std::vector<std::byte> weights;        ///< the packed section
  std::vector<Count> counts;
  std::vector<int32_t> outputs;  ///< by graph output: the buffer that holds it at the end of a run
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;  ///< per thread

  int64_t bytes_read() const;
  int64_t bytes_written() const;
  double predicted_ns() const;
};

/// Plans a typed graph for `target`. Throws Error naming every node that nothing can run.
Plan make_plan(const ir::Graph& graph, const targets::Target& target, const PlanOptions& options = {});

}  // namespace onepass::plan

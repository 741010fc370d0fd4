// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ir/activation.h"
#include "kernels/feature_map.h"
#include "loops/builder.h"

namespace onepass::kernels {

/// What a step reads beside the accumulator.
struct StepOperand {
  enum class Kind {
    none,
    scalar,       ///< `value`, no buffer
    per_channel,  ///< buffer f32[blocks * block of dst], zero behind the last channel
    gate,         ///< a map with h = w = 1: one value per n and channel
    map,          ///< a map of the destination's extents
  };
  Kind kind = Kind::none;
  double value = 0;
  FeatureMap map;  ///< gate and map
};

/// One pointwise step on the accumulator. Each operation is rounded on its own.
struct EpilogueStep {
  enum class Kind { activation, affine, binary };
  Kind kind = Kind::activation;
  ir::Activation activation;
  ir::Op op{};  ///< binary: Add Sub Mul Div Min Max Pow is refused
  bool accumulator_left = true;
  StepOperand operand;  ///< binary; affine reads two per_channel buffers, scale then shift
};

struct Epilogue {
  std::vector<EpilogueStep> steps;
};

/// Steps keep zero lanes at zero: no masking is needed in the last channel block.
bool keeps_zero(const Epilogue& epilogue);

/// Number of operand buffers that the steps read.
int operand_count(const Epilogue& epilogue);

/// Floating-point operations per element, for the cost model.
double flops_per_element(const Epilogue& epilogue);

/// The epilogue inside a nest that is being built.
class EpilogueEmitter {
 public:
  /// Declares the operand buffers, in step order. `dst` is the map that the kernel writes. All three must
  /// outlive the emitter.
  EpilogueEmitter(loops::Builder& builder, const Epilogue& epilogue, const FeatureMap& dst,
                  int64_t vector_lanes);

  /// Where a vector of the accumulator stands.
  struct Position {
    loops::Affine n, channel_block, y, x;
    int lanes = 1;              ///< channels in the vector (dst.block, or a part of a matrix row)
    loops::Affine channel;      ///< first channel: channel_block * block + offset inside the block
    std::optional<int> active;  ///< lanes that exist, when fewer than `lanes`
    bool along_row = false;     ///< lanes are pixels x, x + 1, ... of one channel (plain maps)
  };
  loops::Value apply(loops::Value accumulator, const Position& at) const;

 private:
  loops::Value step_value(const EpilogueStep& step, loops::Value accumulator, const Position& at,
                          size_t& buffer) const;
  loops::Value operand(const StepOperand& operand, const Position& at, size_t& buffer) const;
  loops::Value channel_values(loops::BufferId buffer, const loops::Affine& index, const Position& at) const;

  loops::Builder& builder_;
  const Epilogue& epilogue_;
  const FeatureMap& dst_;
  std::vector<loops::BufferId> buffers_;
};

}  // namespace onepass::kernels

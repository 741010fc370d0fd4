// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"
#include "kernels/conv.h"
#include "kernels/matrix_product.h"
#include "kernels/pointwise.h"
#include "patterns/join.h"
#include "targets/target.h"

namespace onepass::plan {

/// What runs a node.
enum class Family : uint8_t {
  conv,     ///< conv_direct or conv_depthwise
  gemm,     ///< conv_direct on a row-major matrix: Gemm, MatMul with constant weights
  product,  ///< MatMul of two computed operands, plain
  pool,
  elementwise,
  upsample,   ///< Resize: nearest by whole factors, linear
  softmax,    ///< Softmax and LogSoftmax over any axis, plain
  transpose,  ///< rows and columns change places, plain
  concat,     ///< channel blocks side by side
  split,      ///< ranges of channel blocks: Split and Slice
  view,       ///< nothing moves: another shape for the same plain bytes
  routine,    ///< a plain routine of the runtime library
};

const char* name(Family family);

/// The family for `node`, from its operator, types and constants. A Concat is `concat` only when its
/// operands' channels fill whole blocks.
Family family_of(const ir::Graph& graph, ir::NodeId node, const targets::Target& target);

/// Families whose kernels take epilogue steps.
bool takes_steps(Family family);

/// n c h w of an f32 value: rank 4 as it is, rank 3 as n c 1 w, rank 2 as n c 1 1. Nothing for other ranks.
struct Extents {
  int64_t n = 1, c = 1, h = 1, w = 1;
};
std::optional<Extents> extents_of(const ir::TensorType& type);

/// Window attributes of Conv and pools with auto_pad resolved; kernel of a rank-3 value has kernel_h = 1.
struct Window {
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
};
Window window_of(const ir::Graph& graph, ir::NodeId node);

/// How an epilogue reads `operand` beside a result of type `result`; kind none when no kernel can.
/// `channel_axis`: 1, or the last axis of a matrix.
kernels::StepOperand::Kind operand_kind(const ir::Graph& graph, ir::ValueId operand,
                                        const ir::TensorType& result, size_t channel_axis);

/// The axis along which the channels of a family's result lie.
size_t channel_axis(Family family, const ir::TensorType& result);

/// The node as an epilogue step on its own input: how an elementwise group starts. Nothing when it has no
/// such form.
struct Start {
  ir::ValueId src;
  patterns::Step step;
};
std::optional<Start> start_of(const ir::Graph& graph, ir::NodeId node);

/// The convolution that `node` asks for, its maps still without layout (block 1, no halo).
kernels::ConvSpec conv_spec_of(const ir::Graph& graph, ir::NodeId node);

/// The product of computed matrices that `node` asks for, without steps; nothing where no kernel does it: f32
/// of static extents, batches alike or those of one operand all 1.
std::optional<kernels::MatrixProductSpec> product_spec_of(const ir::Graph& graph, ir::NodeId node);

/// The Softmax or LogSoftmax that `node` asks for.
kernels::SoftmaxSpec softmax_spec_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace onepass::plan

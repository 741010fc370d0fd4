// SPDX-License-Identifier: Apache-2.0
#include "plan/routine_call.h"

#include "plan/routine_call_support.h"

namespace onepass::plan {

namespace {

using ir::Op;

struct Row {
  Op op;
  routines::Builder builder;
};

// The activations follow in builder_of. Shape, Range and ConstantOfShape are folded before planning.
constexpr Row k_rows[] = {{Op::Conv, routines::conv},
                          {Op::ConvTranspose, routines::conv_transpose},
                          {Op::Gemm, routines::gemm},
                          {Op::MatMul, routines::matmul},
                          {Op::MaxPool, routines::max_pool},
                          {Op::AveragePool, routines::average_pool},
                          {Op::GlobalAveragePool, routines::global_pool},
                          {Op::GlobalMaxPool, routines::global_pool},
                          {Op::BatchNormalization, routines::batch_normalization},
                          {Op::PRelu, routines::broadcast},
                          {Op::Add, routines::broadcast},
                          {Op::Sub, routines::broadcast},
                          {Op::Mul, routines::broadcast},
                          {Op::Div, routines::broadcast},
                          {Op::Pow, routines::broadcast},
                          {Op::Min, routines::broadcast},
                          {Op::Max, routines::broadcast},
                          {Op::Sum, routines::broadcast},
                          {Op::Equal, routines::broadcast},
                          {Op::Greater, routines::broadcast},
                          {Op::GreaterOrEqual, routines::broadcast},
                          {Op::Less, routines::broadcast},
                          {Op::LessOrEqual, routines::broadcast},
                          {Op::And, routines::broadcast},
                          {Op::Or, routines::broadcast},
                          {Op::Mod, routines::broadcast},
                          {Op::Not, routines::unary},
                          {Op::Where, routines::where},
                          {Op::LRN, routines::lrn},
                          {Op::Softmax, routines::softmax},
                          {Op::LogSoftmax, routines::softmax},
                          {Op::Concat, routines::concat},
                          {Op::Split, routines::split},
                          {Op::Slice, routines::slice},
                          {Op::Pad, routines::pad},
                          {Op::Transpose, routines::transpose},
                          {Op::Reshape, routines::same_elements},
                          {Op::Flatten, routines::same_elements},
                          {Op::Squeeze, routines::same_elements},
                          {Op::Unsqueeze, routines::same_elements},
                          {Op::Identity, routines::same_elements},
                          {Op::Dropout, routines::same_elements},
                          {Op::Expand, routines::expand},
                          {Op::Tile, routines::tile},
                          {Op::DepthToSpace, routines::depth_to_space},
                          {Op::SpaceToDepth, routines::space_to_depth},
                          {Op::Gather, routines::gather},
                          {Op::Cast, routines::cast},
                          {Op::ReduceMean, routines::reduce},
                          {Op::ReduceSum, routines::reduce},
                          {Op::ReduceMax, routines::reduce},
                          {Op::ReduceMin, routines::reduce},
                          {Op::ReduceProd, routines::reduce},
                          {Op::ArgMax, routines::arg_max},
                          {Op::Resize, routines::resize},
                          {Op::TopK, routines::top_k},
                          {Op::NonMaxSuppression, routines::non_max_suppression}};

routines::Builder builder_of(Op op) {
  for (const Row& row : k_rows)
    if (row.op == op) return row.builder;
  if (ir::info(op).kind == ir::OpKind::pointwise) return routines::unary;
  return nullptr;
}

bool counted(const ir::Graph& graph, ir::ValueId value) {
  return value.valid() && graph.value(value).type.counted_axis >= 0;
}

/// A routine computes all rows up to the bound, so that a data-dependent extent must come out as it went in:
/// a node that mixes the rows (a sum over them) would take those behind the count for real.
bool keeps_counted_rows(const ir::Graph& graph, const ir::Node& node) {
  bool any = false;
  for (const ir::ValueId input : node.inputs) any = any || counted(graph, input);
  if (!any) return true;
  for (const ir::ValueId output : node.outputs)
    if (output.valid() && !counted(graph, output)) return false;
  return true;
}

}  // namespace

std::optional<RoutineCall> routine_call(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const routines::Builder builder = builder_of(node.op);
  if (builder == nullptr || !keeps_counted_rows(graph, node)) return std::nullopt;
  return builder({graph, id});
}

}  // namespace onepass::plan

// SPDX-License-Identifier: Apache-2.0
#include "kernels/epilogue.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/vector_math.h"

namespace onepass::kernels {

namespace {

using loops::Binary;
using loops::Value;

int buffers_of(const EpilogueStep& step) {
  if (step.kind == EpilogueStep::Kind::affine) return 2;
  if (step.kind == EpilogueStep::Kind::activation) return 0;
  const StepOperand::Kind kind = step.operand.kind;
  return kind == StepOperand::Kind::none || kind == StepOperand::Kind::scalar ? 0 : 1;
}

/// Min and Max of the standard: a NaN in either operand is the result.
Value nan_keeping(Binary op, const Value& a, const Value& b) {
  return loops::select(loops::Compare::ne, a, a, a, loops::binary(op, a, b));
}

Value apply_binary(ir::Op op, const Value& a, const Value& b) {
  switch (op) {
    case ir::Op::Add:
      return loops::binary(Binary::add, a, b);
    case ir::Op::Sub:
      return loops::binary(Binary::sub, a, b);
    case ir::Op::Mul:
      return loops::binary(Binary::mul, a, b);
    case ir::Op::Div:
      return loops::binary(Binary::div, a, b);
    case ir::Op::Min:
      return nan_keeping(Binary::min, a, b);
    case ir::Op::Max:
      return nan_keeping(Binary::max, a, b);
    default:
      throw InternalError(std::string("no epilogue step computes ") + ir::name(op));
  }
}

/// acc = 0 and a zero operand lane give zero.
bool keeps_zero(const EpilogueStep& step) {
  if (step.kind == EpilogueStep::Kind::affine) return true;
  if (step.kind == EpilogueStep::Kind::activation) return ir::keeps_zero(step.activation);
  if (step.op == ir::Op::Div) return false;
  return step.operand.kind != StepOperand::Kind::scalar || step.op == ir::Op::Mul;
}

int64_t operand_elems(const StepOperand& operand, const FeatureMap& dst, int64_t vector_lanes) {
  if (operand.kind != StepOperand::Kind::per_channel) return operand.map.elems();
  const int64_t block = std::max(dst.block == dst.c ? 1 : dst.block, vector_lanes);
  return (dst.c + block - 1) / block * block;
}

}  // namespace

bool keeps_zero(const Epilogue& epilogue) {
  return std::all_of(epilogue.steps.begin(), epilogue.steps.end(),
                     [](const EpilogueStep& s) { return keeps_zero(s); });
}

int operand_count(const Epilogue& epilogue) {
  int count = 0;
  for (const EpilogueStep& step : epilogue.steps) count += buffers_of(step);
  return count;
}

double flops_per_element(const Epilogue& epilogue) {
  constexpr double k_transcendental_flops = 20;
  double flops = 0;
  for (const EpilogueStep& step : epilogue.steps) {
    const bool costly =
        step.kind == EpilogueStep::Kind::activation && ir::activation_info(step.activation.op).ulp > 2;
    flops += costly ? k_transcendental_flops : buffers_of(step) == 2 ? 2 : 1;
  }
  return flops;
}

EpilogueEmitter::EpilogueEmitter(loops::Builder& builder, const Epilogue& epilogue, const FeatureMap& dst,
                                 int64_t vector_lanes)
    : builder_(builder), epilogue_(epilogue), dst_(dst) {
  for (size_t i = 0; i < epilogue.steps.size(); ++i) {
    const EpilogueStep& step = epilogue.steps[i];
    for (int part = 0; part < buffers_of(step); ++part) {
      StepOperand operand = step.operand;
      if (step.kind == EpilogueStep::Kind::affine) operand.kind = StepOperand::Kind::per_channel;
      const bool is_map = operand.kind == StepOperand::Kind::map || operand.kind == StepOperand::Kind::gate;
      buffers_.push_back(builder.input("operand" + std::to_string(buffers_.size()),
                                       operand_elems(operand, dst, vector_lanes), 4,
                                       is_map ? operand.map.scalar : loops::Scalar::f32));
    }
  }
}

Value EpilogueEmitter::apply(Value accumulator, const Position& at) const {
  size_t buffer = 0;
  for (const EpilogueStep& step : epilogue_.steps) accumulator = step_value(step, accumulator, at, buffer);
  return accumulator;
}

Value EpilogueEmitter::step_value(const EpilogueStep& step, Value accumulator, const Position& at,
                                  size_t& buffer) const {
  if (step.kind == EpilogueStep::Kind::activation) return apply_activation(step.activation, accumulator);
  if (step.kind == EpilogueStep::Kind::affine) {
    const Value scale = channel_values(buffers_.at(buffer++), at.channel, at);
    const Value shift = channel_values(buffers_.at(buffer++), at.channel, at);
    return loops::binary(Binary::add, loops::binary(Binary::mul, accumulator, scale), shift);
  }
  const Value other = operand(step.operand, at, buffer);
  return step.accumulator_left ? apply_binary(step.op, accumulator, other)
                               : apply_binary(step.op, other, accumulator);
}

/// One value per lane, or the one value of the channel that all lanes belong to.
Value EpilogueEmitter::channel_values(loops::BufferId buffer, const loops::Affine& index,
                                      const Position& at) const {
  return at.along_row ? builder_.broadcast(buffer, index, at.lanes)
                      : builder_.load(buffer, index, at.lanes, at.active);
}

Value EpilogueEmitter::operand(const StepOperand& operand, const Position& at, size_t& buffer) const {
  const loops::Affine inside = at.channel - at.channel_block * dst_.block;
  switch (operand.kind) {
    case StepOperand::Kind::scalar:
      return loops::constant(operand.value, at.lanes);
    case StepOperand::Kind::per_channel:
      return channel_values(buffers_.at(buffer++), at.channel, at);
    case StepOperand::Kind::gate:
      return channel_values(buffers_.at(buffer++),
                            pixel_index(operand.map, at.n, at.channel_block, 0, 0) + inside, at);
    case StepOperand::Kind::map:
      return builder_.load(buffers_.at(buffer++),
                           pixel_index(operand.map, at.n, at.channel_block, at.y, at.x) + inside, at.lanes,
                           at.active);
    case StepOperand::Kind::none:
      break;
  }
  throw InternalError("a binary step has an operand");
}

}  // namespace onepass::kernels

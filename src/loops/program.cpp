// SPDX-License-Identifier: Apache-2.0
#include "loops/program.h"

#include <bit>
#include <unordered_map>

namespace onepass::loops {

namespace {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const LoopNest& nest) : nest_(nest) {}

  Program build() {
    for (const Register& reg : nest_.registers) {
      program_.registers.push_back({program_.register_words, program_.register_slots});
      program_.register_words += reg.count * reg.type.lanes;
      program_.register_slots += reg.count;
    }
    const auto [begin, end] = lower(nest_.body);
    program_.body_begin = begin;
    program_.body_end = end;
    return std::move(program_);
  }

 private:
  using Range = std::pair<int32_t, int32_t>;

  AffineRange affine(const Affine& affine) {
    AffineRange range{affine.constant, static_cast<int32_t>(program_.terms.size()),
                      static_cast<int32_t>(affine.terms.size())};
    for (const auto& [var, coefficient] : affine.terms) program_.terms.push_back({var.id, coefficient});
    return range;
  }

  int32_t allocate(int lanes) {
    const auto offset = static_cast<int32_t>(program_.frame.size());
    program_.frame.resize(program_.frame.size() + lanes);
    return offset;
  }

  // ---- values ---------------------------------------------------------------------------------------------

  int32_t lower(const Value& value) {
    if (const auto known = values_.find(value.get()); known != values_.end()) return known->second;
    const int32_t offset =
        std::visit([&](const auto& kind) { return lower_kind(value->type, kind); }, value->kind);
    values_.emplace(value.get(), offset);
    return offset;
  }

  int32_t push(Op op) {
    op.dst = allocate(op.lanes);
    program_.ops.push_back(op);
    return op.dst;
  }

  int32_t lower_kind(Type type, const Constant& constant) {
    const int32_t offset = allocate(type.lanes);
    const uint32_t word = type.scalar == Scalar::f32
                              ? std::bit_cast<uint32_t>(static_cast<float>(constant.value))
                              : static_cast<uint32_t>(static_cast<int32_t>(constant.value));
    for (int i = 0; i < type.lanes; ++i) program_.frame[offset + i] = word;
    return offset;
  }

  int32_t lower_kind(Type type, const LaneIndex&) {
    const int32_t offset = allocate(type.lanes);
    for (int i = 0; i < type.lanes; ++i) program_.frame[offset + i] = i;
    return offset;
  }

  int32_t lower_kind(Type type, const Load& load) {
    return push({.kind = OpKind::lane_load,
                 .lanes = type.lanes,
                 .object = load.buffer.id,
                 .index = affine(load.index),
                 .stride = load.stride,
                 .active = load.active.value_or(type.lanes)});
  }

  int32_t lower_kind(Type type, const Broadcast& broadcast) {
    return push({.kind = OpKind::broadcast,
                 .lanes = type.lanes,
                 .object = broadcast.buffer.id,
                 .index = affine(broadcast.index)});
  }

  int32_t lower_kind(Type type, const Read& read) {
    return push(
        {.kind = OpKind::read, .lanes = type.lanes, .object = read.reg.id, .index = affine(read.slot)});
  }

  int32_t lower_kind(Type type, const UnaryOp& unary) {
    const int32_t a = lower(unary.a);
    return push(
        {.kind = OpKind::unary, .detail = static_cast<uint8_t>(unary.op), .lanes = type.lanes, .a = a});
  }

  int32_t lower_kind(Type type, const BinaryOp& binary) {
    const int32_t a = lower(binary.a);
    const int32_t b = lower(binary.b);
    const auto detail = static_cast<uint8_t>(binary.op);
    return push({.kind = OpKind::binary,
                 .detail = detail,
                 .scalar = binary.a->type.scalar,
                 .lanes = type.lanes,
                 .a = a,
                 .b = b});
  }

  int32_t lower_kind(Type type, const Fma& fma) {
    const int32_t a = lower(fma.a);
    const int32_t b = lower(fma.b);
    const int32_t c = lower(fma.c);
    return push({.kind = OpKind::fma, .lanes = type.lanes, .a = a, .b = b, .c = c});
  }

  int32_t lower_kind(Type type, const Select& select) {
    Op op{.kind = OpKind::select, .detail = static_cast<uint8_t>(select.compare), .lanes = type.lanes};
    op.scalar = select.a->type.scalar;
    op.a = lower(select.a);
    op.b = lower(select.b);
    op.c = lower(select.then);
    op.d = lower(select.otherwise);
    return push(op);
  }

  int32_t lower_kind(Type type, const Shuffle& shuffle) {
    Op op{.kind = OpKind::shuffle, .lanes = type.lanes, .a = lower(shuffle.a), .b = lower(shuffle.b)};
    op.object = static_cast<int32_t>(program_.shuffle_lanes.size());
    const int lanes = shuffle.a->type.lanes;
    for (const int lane : shuffle.lanes)
      program_.shuffle_lanes.push_back(lane < lanes ? op.a + lane : op.b + lane - lanes);
    return push(op);
  }

  // ---- statements -----------------------------------------------------------------------------------------

  Range lower(const Body& body) {
    std::vector<Step> steps;
    for (const Stmt& stmt : body) {
      values_.clear();
      const auto first_op = static_cast<int32_t>(program_.ops.size());
      Step step = std::visit([&](const auto& kind) { return lower_stmt(kind); }, stmt.kind);
      step.first_op = first_op;
      step.op_count = step.kind == StepKind::store || step.kind == StepKind::assign
                          ? static_cast<int32_t>(program_.ops.size()) - first_op
                          : 0;
      steps.push_back(step);
    }
    const auto begin = static_cast<int32_t>(program_.steps.size());
    program_.steps.insert(program_.steps.end(), steps.begin(), steps.end());
    return {begin, static_cast<int32_t>(program_.steps.size())};
  }

  Step lower_stmt(const For& loop) {
    Step step{.kind = StepKind::loop, .var = loop.var.id, .a = affine(loop.begin), .b = affine(loop.end)};
    step.stride = loop.step;
    std::tie(step.body_begin, step.body_end) = lower(loop.body);
    return step;
  }

  Step lower_stmt(const Let& let) {
    return {
        .kind = StepKind::let, .int_op = let.op, .var = let.var.id, .a = affine(let.a), .b = affine(let.b)};
  }

  Step lower_stmt(const Store& store) {
    const int lanes = store.value->type.lanes;
    return {.kind = StepKind::store,
            .value = lower(store.value),
            .object = store.buffer.id,
            .lanes = lanes,
            .active = store.active.value_or(lanes),
            .a = affine(store.index),
            .stride = store.stride};
  }

  Step lower_stmt(const Assign& assign) {
    return {.kind = StepKind::assign,
            .value = lower(assign.value),
            .object = assign.reg.id,
            .lanes = assign.value->type.lanes,
            .a = affine(assign.slot)};
  }

  Step lower_stmt(const If& branch) {
    Step step{
        .kind = StepKind::branch, .compare = branch.compare, .a = affine(branch.a), .b = affine(branch.b)};
    std::tie(step.body_begin, step.body_end) = lower(branch.then);
    std::tie(step.other_begin, step.other_end) = lower(branch.otherwise);
    return step;
  }

  static Step lower_stmt(const Prefetch&) { return {.kind = StepKind::nothing}; }

  static Step lower_stmt(const TileZero& zero) { return {.kind = StepKind::tile_zero, .tile = zero.tile}; }

  Step lower_stmt(const TileLoad& load) {
    Step step{.kind = StepKind::tile_load, .object = load.buffer.id, .tile = load.tile};
    step.a = affine(load.index);
    step.stride = load.row_stride;
    return step;
  }

  Step lower_stmt(const TileStore& store) {
    Step step{.kind = StepKind::tile_store, .object = store.buffer.id, .tile = store.tile};
    step.a = affine(store.index);
    step.stride = store.row_stride;
    return step;
  }

  static Step lower_stmt(const TileProduct& product) {
    return {.kind = StepKind::tile_product, .tile = product.sum, .tile_a = product.a, .tile_b = product.b};
  }

  const LoopNest& nest_;
  Program program_;
  std::unordered_map<const Expr*, int32_t> values_;  ///< of the current statement
};

}  // namespace

Program build_program(const LoopNest& nest) {
  return ProgramBuilder(nest).build();
}

}  // namespace onepass::loops

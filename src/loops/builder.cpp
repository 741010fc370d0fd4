// SPDX-License-Identifier: Apache-2.0
#include "loops/builder.h"

#include "base/diagnostic.h"
#include "loops/check.h"

namespace onepass::loops {

namespace {

template <class Kind>
Value make(Type type, Kind kind) {
  return std::make_shared<const Expr>(Expr{type, std::move(kind)});
}

Scalar result_scalar(Unary op, Scalar operand) {
  if (op == Unary::to_i32 || op == Unary::bits_to_i32) return Scalar::i32;
  if (op == Unary::to_f32 || op == Unary::bits_to_f32) return Scalar::f32;
  return operand;
}

}  // namespace

Value constant(double value, int lanes) {
  return make({Scalar::f32, lanes}, Constant{value});
}
Value constant_i32(int64_t value, int lanes) {
  return make({Scalar::i32, lanes}, Constant{static_cast<double>(value)});
}
Value lane_index(int lanes) {
  return make({Scalar::i32, lanes}, LaneIndex{});
}

Value unary(Unary op, Value a) {
  const Type type{result_scalar(op, a->type.scalar), a->type.lanes};
  return make(type, UnaryOp{op, std::move(a)});
}

Value binary(Binary op, Value a, Value b) {
  const Type type{op == Binary::pack_bf16 ? Scalar::i32 : a->type.scalar, a->type.lanes};
  return make(type, BinaryOp{op, std::move(a), std::move(b)});
}

Value fma(Value a, Value b, Value c) {
  const Type type = a->type;
  return make(type, Fma{std::move(a), std::move(b), std::move(c)});
}

Value select(Compare compare, Value a, Value b, Value then, Value otherwise) {
  const Type type = then->type;
  return make(type, Select{compare, std::move(a), std::move(b), std::move(then), std::move(otherwise)});
}

Value shuffle(Value a, Value b, std::vector<int> lanes) {
  const Type type{a->type.scalar, static_cast<int>(lanes.size())};
  return make(type, Shuffle{std::move(a), std::move(b), std::move(lanes)});
}

Builder::Builder(std::string name) {
  nest_.name = std::move(name);
  bodies_.push_back(&nest_.body);
}

BufferId Builder::input(std::string name, int64_t elems, int64_t align_bytes, Scalar scalar) {
  nest_.buffers.push_back(
      {.name = std::move(name), .scalar = scalar, .elems = elems, .align_bytes = align_bytes});
  return {static_cast<int32_t>(nest_.buffers.size() - 1)};
}

BufferId Builder::stream(std::string name, int64_t elems, int64_t align_bytes, Scalar scalar) {
  const BufferId id = input(std::move(name), elems, align_bytes, scalar);
  nest_.buffers.back().streamed = true;
  return id;
}

BufferId Builder::output(std::string name, int64_t elems, int64_t align_bytes, Scalar scalar) {
  const BufferId id = input(std::move(name), elems, align_bytes, scalar);
  nest_.buffers.back().written = true;
  return id;
}

BufferId Builder::scratch(std::string name, int64_t elems, Scalar scalar) {
  const BufferId id = output(std::move(name), elems, 64, scalar);
  nest_.buffers.back().scratch = true;
  return id;
}

RegisterId Builder::registers(std::string name, Type type, int count) {
  nest_.registers.push_back({std::move(name), type, count});
  return {static_cast<int32_t>(nest_.registers.size() - 1)};
}

Affine Builder::slices(int64_t count) {
  require(nest_.slice.id < 0, "a nest has one parallel axis");
  nest_.slice = new_var("slice");
  nest_.slices = count;
  return nest_.slice;
}

void Builder::fill(Body& target, const Block& block) {
  bodies_.push_back(&target);
  block();
  bodies_.pop_back();
}

void Builder::loop(std::string name, Affine begin, Affine end, int64_t step, const LoopBlock& block) {
  const Var var = new_var(std::move(name));
  For statement{.var = var, .begin = std::move(begin), .end = std::move(end), .step = step};
  fill(statement.body, [&] { block(var); });
  body().push_back({std::move(statement)});
}

void Builder::unrolled(std::string name, int64_t count, const LoopBlock& block, bool overlapping) {
  const Var var = new_var(std::move(name));
  For statement{.var = var, .begin = 0, .end = count, .unrolled = true, .overlapping = overlapping};
  fill(statement.body, [&] { block(var); });
  body().push_back({std::move(statement)});
}

void Builder::when(Compare compare, Affine a, Affine b, const Block& then, const Block& otherwise) {
  If statement{.compare = compare, .a = std::move(a), .b = std::move(b)};
  fill(statement.then, then);
  if (otherwise) fill(statement.otherwise, otherwise);
  body().push_back({std::move(statement)});
}

Affine Builder::floor_div(const Affine& a, int64_t divisor) {
  return divisor == 1 ? a : let("quotient", IntOp::floor_div, a, divisor);
}

Affine Builder::mod(const Affine& a, int64_t divisor) {
  return divisor == 1 ? Affine(0) : let("remainder", IntOp::mod, a, divisor);
}

Affine Builder::min(const Affine& a, const Affine& b) {
  return let("least", IntOp::min, a, b);
}

Affine Builder::max(const Affine& a, const Affine& b) {
  return let("most", IntOp::max, a, b);
}

Value Builder::load(BufferId buffer, Affine index, int lanes, std::optional<int> active) const {
  return load_strided(buffer, std::move(index), lanes, 1, active);
}

Value Builder::load_strided(BufferId buffer, Affine index, int lanes, int64_t stride,
                            std::optional<int> active) const {
  return make({value_scalar(nest_.buffers.at(buffer.id).scalar), lanes},
              Load{buffer, std::move(index), stride, active});
}

Value Builder::broadcast(BufferId buffer, Affine index, int lanes) const {
  return make({value_scalar(nest_.buffers.at(buffer.id).scalar), lanes}, Broadcast{buffer, std::move(index)});
}

Value Builder::read(RegisterId reg, Affine slot) const {
  return make(nest_.registers.at(reg.id).type, Read{reg, std::move(slot)});
}

void Builder::assign(RegisterId reg, Affine slot, Value value) {
  body().push_back({Assign{reg, std::move(slot), std::move(value)}});
}

void Builder::store(BufferId buffer, Affine index, Value value, std::optional<int> active) {
  store_strided(buffer, std::move(index), std::move(value), 1, active);
}

void Builder::store_strided(BufferId buffer, Affine index, Value value, int64_t stride,
                            std::optional<int> active) {
  body().push_back({Store{buffer, std::move(index), std::move(value), stride, active}});
}

void Builder::prefetch(BufferId buffer, Affine index) {
  body().push_back({Prefetch{buffer, std::move(index)}});
}

void Builder::tile_zero(int tile) {
  body().push_back({TileZero{tile}});
}

void Builder::tile_load(int tile, BufferId buffer, Affine index, int64_t row_stride) {
  body().push_back({TileLoad{tile, buffer, std::move(index), row_stride}});
}

void Builder::tile_store(int tile, BufferId buffer, Affine index, int64_t row_stride) {
  body().push_back({TileStore{tile, buffer, std::move(index), row_stride}});
}

void Builder::tile_product(int sum, int a, int b) {
  body().push_back({TileProduct{sum, a, b}});
}

LoopNest Builder::finish() {
  require(bodies_.size() == 1, "every body is closed");
  check(nest_);
  return std::move(nest_);
}

Var Builder::new_var(std::string name) {
  nest_.vars.push_back(std::move(name));
  return {static_cast<int32_t>(nest_.vars.size() - 1)};
}

Affine Builder::let(const char* name, IntOp op, const Affine& a, const Affine& b) {
  const Var var = new_var(name);
  body().push_back({Let{var, op, a, b}});
  return var;
}

}  // namespace onepass::loops

// SPDX-License-Identifier: Apache-2.0
#include "loops/check.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <unordered_set>

#include "base/diagnostic.h"

namespace onepass::loops {

namespace {

constexpr int k_max_lanes = 64;

/// What a variable is while its scope is open.
enum class Scope : uint8_t { closed, open, constant_when_unrolled };

class Checker {
 public:
  explicit Checker(const LoopNest& nest) : nest_(nest), scopes_(nest.vars.size(), Scope::closed) {}

  void run() {
    check_name(nest_.name);
    for (const Buffer& buffer : nest_.buffers) check_buffer(buffer);
    expect(nest_.tiles >= 0 && nest_.tiles <= k_most_tiles,
           fmt::format("{} tiles of {}", nest_.tiles, k_most_tiles));
    for (const Register& reg : nest_.registers) {
      check_type(reg.type);
      expect(reg.count >= 1, fmt::format("register {} has {} slots", reg.name, reg.count));
    }
    expect(nest_.slices >= 0, "the number of slices is negative");
    expect(nest_.slice.id >= 0 || nest_.slices == 1, "many slices need a slice variable");
    if (nest_.slice.id >= 0) define(nest_.slice, Scope::open);
    check_body(nest_.body);
  }

 private:
  void expect(bool holds, const std::string& what) const {
    if (!holds) throw InternalError(fmt::format("loop nest '{}': {}", nest_.name, what));
  }

  void check_name(const std::string& name) const {
    expect(!name.empty() && !(name[0] >= '0' && name[0] <= '9'), "the name is no identifier");
    for (const char c : name) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      expect(letter || c == '_' || (c >= '0' && c <= '9'), "the name is no identifier");
    }
  }

  void check_buffer(const Buffer& buffer) const {
    expect(buffer.elems >= 0, fmt::format("buffer {} has {} elements", buffer.name, buffer.elems));
    const bool power =
        buffer.align_bytes >= 4 && std::has_single_bit(static_cast<uint64_t>(buffer.align_bytes));
    expect(power, fmt::format("buffer {} is aligned to {} bytes", buffer.name, buffer.align_bytes));
    expect(buffer.written || !buffer.scratch, fmt::format("scratch {} is never written", buffer.name));
  }

  void check_type(Type type) const {
    const bool fits = type.lanes >= 1 && type.lanes <= k_max_lanes;
    expect(type.scalar != Scalar::bf16, "bf16 is a type of memory alone");
    expect(fits && std::has_single_bit(static_cast<unsigned>(type.lanes)),
           fmt::format("{} lanes: a power of two up to {} is needed", type.lanes, k_max_lanes));
  }

  // ---- variables and indexes ------------------------------------------------------------------------------

  void define(Var var, Scope scope) {
    expect(var.id >= 0 && var.id < static_cast<int32_t>(scopes_.size()),
           fmt::format("variable {} is unknown", var.id));
    expect(scopes_[var.id] == Scope::closed, fmt::format("variable {} is defined twice", nest_.vars[var.id]));
    scopes_[var.id] = scope;
  }

  void check_affine(const Affine& affine) const {
    const Var* before = nullptr;
    for (const auto& [var, coefficient] : affine.terms) {
      expect(var.id >= 0 && var.id < static_cast<int32_t>(scopes_.size()),
             fmt::format("variable {} is unknown", var.id));
      expect(scopes_[var.id] != Scope::closed,
             fmt::format("variable {} is used out of scope", nest_.vars[var.id]));
      expect(coefficient != 0, "an affine term is zero");
      expect(before == nullptr || *before < var, "affine terms are out of order");
      before = &var;
    }
  }

  bool constant_when_unrolled(const Affine& affine) const {
    for (const auto& term : affine.terms)
      if (scopes_[term.first.id] != Scope::constant_when_unrolled) return false;
    return true;
  }

  // ---- values ---------------------------------------------------------------------------------------------

  const Buffer& buffer(BufferId id) const {
    expect(id.id >= 0 && id.id < static_cast<int32_t>(nest_.buffers.size()),
           fmt::format("buffer {} is unknown", id.id));
    return nest_.buffers[id.id];
  }

  const Register& check_slot(RegisterId id, const Affine& slot) const {
    expect(id.id >= 0 && id.id < static_cast<int32_t>(nest_.registers.size()),
           fmt::format("register {} is unknown", id.id));
    const Register& reg = nest_.registers[id.id];
    check_affine(slot);
    expect(constant_when_unrolled(slot),
           fmt::format("a slot of register {} depends on a loop that stays", reg.name));
    const bool inside = !slot.is_constant() || (slot.constant >= 0 && slot.constant < reg.count);
    expect(inside, fmt::format("slot {} of register {} has {} slots", slot.constant, reg.name, reg.count));
    return reg;
  }

  void check_active(std::optional<int> active, int lanes) const {
    if (active)
      expect(*active >= 0 && *active <= lanes, fmt::format("{} of {} lanes are active", *active, lanes));
  }

  void same(Type a, Type b, const char* what) const {
    expect(a == b, fmt::format("the types of a {} differ", what));
  }

  Type check_value(const Value& value) {
    expect(value != nullptr, "a value is missing");
    if (!seen_.insert(value.get()).second) return value->type;
    check_type(value->type);
    std::visit([&](const auto& kind) { check_kind(value->type, kind); }, value->kind);
    return value->type;
  }

  void check_kind(Type type, const Constant& constant) const {
    if (type.scalar == Scalar::f32) return;
    const bool fits = constant.value >= -2147483648.0 && constant.value <= 2147483647.0;
    expect(fits && constant.value == std::floor(constant.value), "an i32 constant is no 32-bit integer");
  }

  void check_kind(Type type, const LaneIndex&) const {
    expect(type.scalar == Scalar::i32, "a lane index is i32");
  }

  void check_kind(Type type, const Load& load) const {
    expect(value_scalar(buffer(load.buffer).scalar) == type.scalar, "a load has not its buffer's type");
    check_affine(load.index);
    check_active(load.active, type.lanes);
  }

  void check_kind(Type type, const Broadcast& broadcast) const {
    expect(value_scalar(buffer(broadcast.buffer).scalar) == type.scalar,
           "a broadcast has not its buffer's type");
    check_affine(broadcast.index);
  }

  void check_kind(Type type, const Read& read) const {
    same(check_slot(read.reg, read.slot).type, type, "register read");
  }

  void check_kind(Type type, const UnaryOp& unary) {
    const Type operand = check_value(unary.a);
    const bool from_i32 = unary.op == Unary::to_f32 || unary.op == Unary::bits_to_f32;
    const bool to_i32 = unary.op == Unary::to_i32 || unary.op == Unary::bits_to_i32;
    same(operand, {from_i32 ? Scalar::i32 : Scalar::f32, type.lanes}, "unary operation's operand");
    same(type, {to_i32 ? Scalar::i32 : Scalar::f32, type.lanes}, "unary operation");
  }

  void check_kind(Type type, const BinaryOp& binary) {
    const bool packs = binary.op == Binary::pack_bf16;
    if (packs) expect(type.scalar == Scalar::i32, "packed bf16 is i32");
    const Type operand{packs ? Scalar::f32 : type.scalar, type.lanes};
    same(check_value(binary.a), operand, "binary operation");
    same(check_value(binary.b), operand, "binary operation");
    const bool shift = binary.op == Binary::shift_left || binary.op == Binary::shift_right;
    const bool bits = shift || binary.op == Binary::bit_and || binary.op == Binary::bit_or;
    if (bits) expect(type.scalar == Scalar::i32, "a bit operation is i32");
    if (binary.op == Binary::div) expect(type.scalar == Scalar::f32, "a division is f32");
    if (binary.op == Binary::scale) expect(type.scalar == Scalar::f32, "a scaling is f32");
    const auto* amount = shift ? std::get_if<Constant>(&binary.b->kind) : nullptr;
    if (amount != nullptr) expect(amount->value >= 0 && amount->value < 32, "a shift is by 0 to 31");
  }

  void check_kind(Type type, const Fma& fma) {
    expect(type.scalar == Scalar::f32, "an fma is f32");
    for (const Value& operand : {fma.a, fma.b, fma.c}) same(check_value(operand), type, "fma");
  }

  void check_kind(Type type, const Select& select) {
    same(check_value(select.a), check_value(select.b), "comparison");
    expect(select.a->type.lanes == type.lanes, "a comparison has not its select's lanes");
    same(check_value(select.then), type, "select");
    same(check_value(select.otherwise), type, "select");
  }

  void check_kind(Type type, const Shuffle& shuffle) {
    const Type operand = check_value(shuffle.a);
    same(operand, check_value(shuffle.b), "shuffle");
    expect(operand.scalar == type.scalar, "a shuffle keeps the scalar type");
    expect(static_cast<int>(shuffle.lanes.size()) == type.lanes, "a shuffle names every lane of its result");
    for (const int lane : shuffle.lanes)
      expect(lane >= 0 && lane < 2 * operand.lanes,
             fmt::format("a shuffle takes lane {} of {}", lane, 2 * operand.lanes));
  }

  // ---- statements -----------------------------------------------------------------------------------------

  void check_body(const Body& body) {
    std::vector<Var> lets;
    for (const Stmt& stmt : body) {
      seen_.clear();
      if (const auto* let = std::get_if<Let>(&stmt.kind)) lets.push_back(let->var);
      std::visit([&](const auto& kind) { check_stmt(kind); }, stmt.kind);
    }
    for (const Var var : lets) scopes_[var.id] = Scope::closed;
  }

  void check_stmt(const For& loop) {
    check_affine(loop.begin);
    check_affine(loop.end);
    expect(loop.step > 0, "a loop's step is not positive");
    const bool constant = loop.begin.is_constant() && loop.end.is_constant();
    expect(constant || !loop.unrolled, "an unrolled loop has bounds that vary");
    expect(loop.unrolled || !loop.overlapping, "an overlapping loop is not unrolled");
    define(loop.var, loop.unrolled ? Scope::constant_when_unrolled : Scope::open);
    check_body(loop.body);
    scopes_[loop.var.id] = Scope::closed;
  }

  void check_stmt(const Let& let) {
    check_affine(let.a);
    check_affine(let.b);
    const bool division = let.op == IntOp::floor_div || let.op == IntOp::mod;
    if (division) expect(let.b.is_constant() && let.b.constant > 0, "a divisor is not a positive constant");
    const bool constant = constant_when_unrolled(let.a) && constant_when_unrolled(let.b);
    define(let.var, constant ? Scope::constant_when_unrolled : Scope::open);
  }

  void check_stmt(const Store& store) {
    const Buffer& target = buffer(store.buffer);
    expect(target.written, fmt::format("buffer {} is read-only and is written", target.name));
    const Type type = check_value(store.value);
    expect(type.scalar == value_scalar(target.scalar), "a store has not its buffer's type");
    check_affine(store.index);
    check_active(store.active, type.lanes);
  }

  void check_stmt(const Assign& assign) {
    const Type type = check_value(assign.value);
    same(check_slot(assign.reg, assign.slot).type, type, "register assignment");
  }

  void check_stmt(const If& branch) {
    check_affine(branch.a);
    check_affine(branch.b);
    check_body(branch.then);
    check_body(branch.otherwise);
  }

  void check_tile(int tile) const {
    expect(tile >= 0 && tile < nest_.tiles, fmt::format("tile {} of {}", tile, nest_.tiles));
  }

  void check_stmt(const Prefetch& prefetch) {
    buffer(prefetch.buffer);
    check_affine(prefetch.index);
  }

  void check_stmt(const TileZero& zero) { check_tile(zero.tile); }

  void check_stmt(const TileLoad& load) {
    check_tile(load.tile);
    expect(buffer(load.buffer).scalar != Scalar::bf16, "a tile is loaded by words");
    check_affine(load.index);
    expect(load.row_stride >= 0, "a tile's rows go backwards");
  }

  void check_stmt(const TileStore& store) {
    check_tile(store.tile);
    const Buffer& target = buffer(store.buffer);
    expect(target.written, fmt::format("buffer {} is read-only and is written", target.name));
    expect(target.scalar == Scalar::f32, "a tile of sums is stored to f32");
    expect(store.row_stride >= k_tile_words, "a tile's stored rows overlap");
    check_affine(store.index);
  }

  void check_stmt(const TileProduct& product) {
    for (const int tile : {product.sum, product.a, product.b}) check_tile(tile);
    expect(product.sum != product.a && product.sum != product.b && product.a != product.b,
           "a tile product needs three tiles");
  }

  const LoopNest& nest_;
  std::vector<Scope> scopes_;
  std::unordered_set<const Expr*> seen_;  ///< values of the current statement
};

}  // namespace

void check(const LoopNest& nest) {
  Checker(nest).run();
}

}  // namespace onepass::loops

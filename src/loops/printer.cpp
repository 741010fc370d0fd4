// SPDX-License-Identifier: Apache-2.0
#include "loops/printer.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

#include "loops/names.h"

namespace onepass::loops {

namespace {

std::string type_text(Type type) {
  return fmt::format("{}x{}", name(type.scalar), type.lanes);
}

/// One statement per line; a value used more than once in a statement gets a line and a name of its own.
class Printer {
 public:
  explicit Printer(const LoopNest& nest) : nest_(nest) {}

  std::string print() {
    line(fmt::format("nest {} slices {}", nest_.name, nest_.slices));
    ++depth_;
    for (const Buffer& buffer : nest_.buffers) print_buffer(buffer);
    for (const Register& reg : nest_.registers)
      line(fmt::format("registers {}: {}[{}]", reg.name, type_text(reg.type), reg.count));
    if (nest_.tiles > 0) line(fmt::format("tiles {}", nest_.tiles));
    if (nest_.slice.id >= 0) line(fmt::format("parallel {}", variable(nest_.slice)));
    print_body(nest_.body);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  void print_buffer(const Buffer& buffer) {
    const char* role = buffer.scratch ? "scratch" : buffer.written ? "output" : "input";
    std::string text = fmt::format("{} {}: {}[{}]", role, buffer.name, name(buffer.scalar), buffer.elems);
    if (buffer.align_bytes > 4) text += fmt::format(" align {}", buffer.align_bytes);
    if (buffer.streamed) text += " streamed";
    line(text);
  }

  // ---- indexes --------------------------------------------------------------------------------------------

  /// Names repeat, so a variable carries its number: "k.3".
  std::string variable(Var var) const { return fmt::format("{}.{}", nest_.vars[var.id], var.id); }

  std::string affine(const Affine& affine) const {
    std::string text;
    for (const auto& [var, coefficient] : affine.terms) {
      if (!text.empty()) text += " + ";
      text += coefficient == 1 ? variable(var) : fmt::format("{}*{}", coefficient, variable(var));
    }
    if (text.empty()) return fmt::format("{}", affine.constant);
    if (affine.constant == 0) return text;
    return fmt::format("{} {} {}", text, affine.constant < 0 ? "-" : "+", std::abs(affine.constant));
  }

  std::string access(BufferId buffer, const Affine& index, int64_t stride, std::optional<int> active) const {
    std::string text = fmt::format("{}[{}", nest_.buffers[buffer.id].name, affine(index));
    if (stride != 1) text += fmt::format(" step {}", stride);
    if (active) text += fmt::format(" active {}", *active);
    return text + "]";
  }

  // ---- values ---------------------------------------------------------------------------------------------

  void count_uses(const Value& value) {
    if (++uses_[value.get()] > 1) return;
    std::visit(
        [&](const auto& kind) { for_operands(kind, [&](const Value& operand) { count_uses(operand); }); },
        value->kind);
  }

  template <class Kind, class Visit>
  static void for_operands(const Kind& kind, Visit visit) {
    if constexpr (requires { kind.a; }) visit(kind.a);
    if constexpr (requires { kind.b; }) visit(kind.b);
    if constexpr (requires { kind.c; }) visit(kind.c);
    if constexpr (requires { kind.then; }) visit(kind.then);
    if constexpr (requires { kind.otherwise; }) visit(kind.otherwise);
  }

  std::string value(const Value& value) {
    if (const auto known = names_.find(value.get()); known != names_.end()) return known->second;
    std::string text =
        std::visit([&](const auto& kind) { return print_kind(value->type, kind); }, value->kind);
    const bool leaf =
        std::holds_alternative<Constant>(value->kind) || std::holds_alternative<Read>(value->kind);
    if (uses_[value.get()] == 1 || leaf) return text;
    const std::string name = fmt::format("%{}", names_.size());
    line(fmt::format("{} = {}", name, text));
    names_.emplace(value.get(), name);
    return name;
  }

  std::string print_kind(Type type, const Constant& constant) const {
    if (type.scalar == Scalar::i32) return fmt::format("{}i", static_cast<int64_t>(constant.value));
    return fmt::format("{:.9g}", static_cast<float>(constant.value));
  }

  std::string print_kind(Type, const LaneIndex&) const { return "lane"; }

  std::string print_kind(Type type, const Load& load) const {
    return fmt::format("load {} {}", type_text(type),
                       access(load.buffer, load.index, load.stride, load.active));
  }

  std::string print_kind(Type type, const Broadcast& broadcast) const {
    return fmt::format("broadcast {} {}", type_text(type), access(broadcast.buffer, broadcast.index, 1, {}));
  }

  std::string print_kind(Type, const Read& read) const {
    return fmt::format("{}[{}]", nest_.registers[read.reg.id].name, affine(read.slot));
  }

  std::string print_kind(Type, const UnaryOp& unary) {
    return fmt::format("{}({})", name(unary.op), value(unary.a));
  }

  std::string print_kind(Type, const BinaryOp& binary) {
    const std::string a = value(binary.a);
    return fmt::format("{}({}, {})", name(binary.op), a, value(binary.b));
  }

  std::string print_kind(Type, const Fma& fma) {
    const std::string a = value(fma.a);
    const std::string b = value(fma.b);
    return fmt::format("fma({}, {}, {})", a, b, value(fma.c));
  }

  std::string print_kind(Type, const Select& select) {
    const std::string a = value(select.a);
    const std::string b = value(select.b);
    const std::string then = value(select.then);
    return fmt::format("select({} {} {}, {}, {})", a, sign(select.compare), b, then, value(select.otherwise));
  }

  std::string print_kind(Type, const Shuffle& shuffle) {
    const std::string a = value(shuffle.a);
    return fmt::format("shuffle({}, {}, [{}])", a, value(shuffle.b), fmt::join(shuffle.lanes, " "));
  }

  std::string statement_value(const Value& root) {
    count_uses(root);
    return value(root);
  }

  // ---- statements -----------------------------------------------------------------------------------------

  void print_body(const Body& body) {
    for (const Stmt& stmt : body) {
      uses_.clear();
      names_.clear();
      std::visit([&](const auto& kind) { print_stmt(kind); }, stmt.kind);
    }
  }

  void print_nested(const std::string& head, const Body& body) {
    line(head);
    ++depth_;
    print_body(body);
    --depth_;
  }

  void print_stmt(const For& loop) {
    const char* kind = loop.overlapping ? "overlapping" : loop.unrolled ? "unrolled" : "for";
    std::string head =
        fmt::format("{} {} in {} .. {}", kind, variable(loop.var), affine(loop.begin), affine(loop.end));
    if (loop.step != 1) head += fmt::format(" step {}", loop.step);
    print_nested(head, loop.body);
  }

  void print_stmt(const Let& let) {
    line(fmt::format("let {} = {}({}, {})", variable(let.var), name(let.op), affine(let.a), affine(let.b)));
  }

  void print_stmt(const Store& store) {
    const std::string stored = statement_value(store.value);
    line(fmt::format("{} = {}", access(store.buffer, store.index, store.stride, store.active), stored));
  }

  void print_stmt(const Assign& assign) {
    const std::string assigned = statement_value(assign.value);
    line(fmt::format("{}[{}] = {}", nest_.registers[assign.reg.id].name, affine(assign.slot), assigned));
  }

  void print_stmt(const If& branch) {
    print_nested(fmt::format("if {} {} {}", affine(branch.a), sign(branch.compare), affine(branch.b)),
                 branch.then);
    if (!branch.otherwise.empty()) print_nested("else", branch.otherwise);
  }

  std::string tile_rows(BufferId buffer, const Affine& index, int64_t row_stride) const {
    return fmt::format("{}[{} rows {}]", nest_.buffers[buffer.id].name, affine(index), row_stride);
  }

  void print_stmt(const Prefetch& prefetch) {
    line(fmt::format("prefetch {}[{}]", nest_.buffers[prefetch.buffer.id].name, affine(prefetch.index)));
  }

  void print_stmt(const TileZero& zero) { line(fmt::format("tile {} = 0", zero.tile)); }

  void print_stmt(const TileLoad& load) {
    line(fmt::format("tile {} = {}", load.tile, tile_rows(load.buffer, load.index, load.row_stride)));
  }

  void print_stmt(const TileStore& store) {
    line(fmt::format("{} = tile {}", tile_rows(store.buffer, store.index, store.row_stride), store.tile));
  }

  void print_stmt(const TileProduct& product) {
    line(fmt::format("tile {} += tile {} * tile {}", product.sum, product.a, product.b));
  }

  const LoopNest& nest_;
  std::string text_;
  int depth_ = 0;
  std::unordered_map<const Expr*, int> uses_;           ///< in the current statement
  std::unordered_map<const Expr*, std::string> names_;  ///< in the current statement
};

}  // namespace

std::string print(const LoopNest& nest) {
  return Printer(nest).print();
}

}  // namespace onepass::loops

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "emit/c_support.h"
#include "emit/emit.h"
#include "loops/check.h"
#include "loops/names.h"

namespace onepass::emit {

namespace {

using loops::Scalar;

/// Loops stay loops, registers are arrays, every operation is a call of the support text's function.
class CPrinter {
 public:
  explicit CPrinter(const loops::LoopNest& nest) : nest_(nest) {}

  std::string print() {
    line(fmt::format("void {}(const struct onepass_call* call, int64_t slice_begin, int64_t slice_end) {{",
                     nest_.name));
    ++depth_;
    line("(void)call;");
    declare_buffers();
    const std::string slice = nest_.slice.id >= 0 ? variable(nest_.slice) : "slice";
    line(fmt::format("for (int64_t {0} = slice_begin; {0} < slice_end; ++{0}) {{", slice));
    ++depth_;
    declare_registers();
    if (nest_.tiles > 0) line(fmt::format("struct tile tiles[{}];", nest_.tiles));
    print_body(nest_.body);
    close();
    close();
    return std::move(text_);
  }

  const std::set<int>& lanes() const { return lanes_; }
  const std::set<std::string>& functions() const { return functions_; }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  void close() {
    --depth_;
    line("}");
  }

  void declare_buffers() {
    int operand = 0;
    for (int32_t i = 0; i < static_cast<int32_t>(nest_.buffers.size()); ++i) {
      const loops::Buffer& buffer = nest_.buffers[i];
      const std::string from =
          buffer.scratch ? fmt::format("((char*)call->scratch + {})", scratch_offset_bytes(nest_, {i}))
                         : fmt::format("call->operands[{}]", operand++);
      constexpr const char* k_elements[] = {"float", "int32_t", "uint16_t"};
      const char* element = k_elements[static_cast<int>(buffer.scalar)];
      line(fmt::format("{0}{1}* const b{2} = ({0}{1}*){3};  // {4}", buffer.written ? "" : "const ", element,
                       i, from, buffer.name));
      line(fmt::format("(void)b{};", i));
    }
  }

  void declare_registers() {
    for (size_t i = 0; i < nest_.registers.size(); ++i) {
      const loops::Register& reg = nest_.registers[i];
      lanes_.insert(reg.type.lanes);
      line(fmt::format("{} r{}[{}];  // {}", c_type(reg.type), i, reg.count, reg.name));
      line(fmt::format("(void)r{};", i));
    }
  }

  // ---- integers -------------------------------------------------------------------------------------------

  static std::string variable(loops::Var var) { return fmt::format("v{}", var.id); }

  static std::string affine(const loops::Affine& affine) {
    std::string text;
    for (const auto& [var, coefficient] : affine.terms) {
      const std::string sign = text.empty() ? "" : " + ";
      text += coefficient == 1 ? sign + variable(var)
                               : fmt::format("{}{} * ({})", sign, variable(var), coefficient);
    }
    if (text.empty()) return fmt::format("{}", affine.constant);
    return affine.constant == 0 ? text : fmt::format("{} + ({})", text, affine.constant);
  }

  /// The name of a function of the support text, which is thereby needed.
  std::string function(const std::string& operation, loops::Type type) {
    return *functions_.insert(fmt::format("op_{}_{}", operation, c_type(type))).first;
  }

  std::string memory_operation(const char* operation, loops::BufferId buffer) const {
    return nest_.buffers[buffer.id].scalar == Scalar::bf16 ? fmt::format("{}_bf16", operation) : operation;
  }

  // ---- values ---------------------------------------------------------------------------------------------

  std::string value(const loops::Value& value) {
    if (const auto known = values_.find(value.get()); known != values_.end()) return known->second;
    lanes_.insert(value->type.lanes);
    const std::string formula =
        std::visit([&](const auto& kind) { return print_kind(value->type, kind); }, value->kind);
    const std::string name = fmt::format("t{}", values_.size());
    line(fmt::format("const {} {} = {};", c_type(value->type), name, formula));
    values_.emplace(value.get(), name);
    return name;
  }

  static std::string number(Scalar scalar, double value) {
    if (scalar == Scalar::i32)
      return value == -2147483648.0 ? "INT32_MIN" : fmt::format("{}", static_cast<int32_t>(value));
    const auto single = static_cast<float>(value);
    if (std::isnan(single)) return "__builtin_nanf(\"\")";
    if (std::isinf(single)) return single > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    return fmt::format("{:.9e}f", single);
  }

  std::string print_kind(loops::Type type, const loops::Constant& constant) {
    return fmt::format("{}({})", function("splat", type), number(type.scalar, constant.value));
  }

  std::string print_kind(loops::Type type, const loops::LaneIndex&) {
    std::string lanes;
    for (int i = 0; i < type.lanes; ++i) lanes += fmt::format("{}{}", i == 0 ? "" : ", ", i);
    return "{" + lanes + "}";
  }

  std::string print_kind(loops::Type type, const loops::Load& load) {
    return fmt::format("{}(b{} + ({}), {}, {})", function(memory_operation("load", load.buffer), type),
                       load.buffer.id, affine(load.index), load.stride, load.active.value_or(type.lanes));
  }

  std::string print_kind(loops::Type type, const loops::Broadcast& broadcast) {
    const bool narrow = nest_.buffers[broadcast.buffer.id].scalar == Scalar::bf16;
    const std::string element = fmt::format("b{}[{}]", broadcast.buffer.id, affine(broadcast.index));
    return fmt::format("{}({})", function("splat", type),
                       narrow ? fmt::format("f32_of_bf16({})", element) : element);
  }

  std::string print_kind(loops::Type, const loops::Read& read) {
    return fmt::format("r{}[{}]", read.reg.id, affine(read.slot));
  }

  std::string print_kind(loops::Type, const loops::UnaryOp& unary) {
    const std::string a = value(unary.a);
    return fmt::format("{}({})", function(loops::name(unary.op), unary.a->type), a);
  }

  std::string print_kind(loops::Type, const loops::BinaryOp& binary) {
    const std::string a = value(binary.a);
    const std::string b = value(binary.b);
    return fmt::format("{}({}, {})", function(loops::name(binary.op), binary.a->type), a, b);
  }

  std::string print_kind(loops::Type type, const loops::Fma& fma) {
    const std::string a = value(fma.a);
    const std::string b = value(fma.b);
    const std::string c = value(fma.c);
    return fmt::format("{}({}, {}, {})", function("fma", type), a, b, c);
  }

  std::string print_kind(loops::Type type, const loops::Select& select) {
    const std::string a = value(select.a);
    const std::string b = value(select.b);
    const std::string then = value(select.then);
    const std::string otherwise = value(select.otherwise);
    const std::string operation =
        fmt::format("select_{}_{}", loops::name(select.compare), loops::name(select.a->type.scalar));
    return fmt::format("{}({}, {}, {}, {})", function(operation, type), a, b, then, otherwise);
  }

  std::string print_kind(loops::Type, const loops::Shuffle& shuffle) {
    const std::string a = value(shuffle.a);
    const std::string b = value(shuffle.b);
    const int lanes = shuffle.a->type.lanes;
    std::string text;
    for (const int lane : shuffle.lanes) {
      const std::string index = lanes == 1 ? "" : fmt::format("[{}]", lane % lanes);
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", lane < lanes ? a : b, index);
    }
    return "{" + text + "}";
  }

  // ---- statements -----------------------------------------------------------------------------------------

  void print_body(const loops::Body& body) {
    for (const loops::Stmt& stmt : body) {
      values_.clear();
      std::visit([&](const auto& kind) { print_stmt(kind); }, stmt.kind);
    }
  }

  void print_block(const std::string& head, const loops::Body& body) {
    line(head + " {");
    ++depth_;
    print_body(body);
    close();
  }

  void print_stmt(const loops::For& loop) {
    const std::string var = variable(loop.var);
    print_block(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", var, affine(loop.begin),
                            affine(loop.end), loop.step),
                loop.body);
  }

  void print_stmt(const loops::Let& let) {
    constexpr const char* functions[] = {"floor_div", "floor_mod", "least", "most"};
    line(fmt::format("const int64_t {} = {}({}, {});", variable(let.var), functions[static_cast<int>(let.op)],
                     affine(let.a), affine(let.b)));
    line(fmt::format("(void){};", variable(let.var)));
  }

  void print_stmt(const loops::Store& store) {
    line("{");
    ++depth_;
    const std::string stored = value(store.value);
    const int lanes = store.value->type.lanes;
    line(fmt::format("{}(b{} + ({}), {}, {}, {});",
                     function(memory_operation("store", store.buffer), store.value->type), store.buffer.id,
                     affine(store.index), stored, store.stride, store.active.value_or(lanes)));
    close();
  }

  void print_stmt(const loops::Assign& assign) {
    line("{");
    ++depth_;
    const std::string assigned = value(assign.value);
    line(fmt::format("r{}[{}] = {};", assign.reg.id, affine(assign.slot), assigned));
    close();
  }

  void print_stmt(const loops::If& branch) {
    print_block(fmt::format("if ({} {} {})", affine(branch.a), loops::sign(branch.compare), affine(branch.b)),
                branch.then);
    if (!branch.otherwise.empty()) print_block("else", branch.otherwise);
  }

  void print_stmt(const loops::Prefetch&) {}

  void print_stmt(const loops::TileZero& zero) { line(fmt::format("tile_zero(&tiles[{}]);", zero.tile)); }

  void print_stmt(const loops::TileLoad& load) {
    line(fmt::format("tile_load(&tiles[{}], b{} + ({}), {});", load.tile, load.buffer.id, affine(load.index),
                     load.row_stride));
  }

  void print_stmt(const loops::TileStore& store) {
    line(fmt::format("tile_store(&tiles[{}], b{} + ({}), {});", store.tile, store.buffer.id,
                     affine(store.index), store.row_stride));
  }

  void print_stmt(const loops::TileProduct& product) {
    line(fmt::format("tile_product(&tiles[{}], &tiles[{}], &tiles[{}]);", product.sum, product.a, product.b));
  }

  const loops::LoopNest& nest_;
  std::string text_;
  int depth_ = 0;
  std::set<int> lanes_;                                         ///< of the values printed
  std::set<std::string> functions_;                             ///< of the support text, called
  std::unordered_map<const loops::Expr*, std::string> values_;  ///< of the current statement
};

}  // namespace

std::string c_source(std::span<const loops::LoopNest> nests) {
  std::string functions;
  std::set<int> lanes;
  std::set<std::string> used;
  for (const loops::LoopNest& nest : nests) {
    loops::check(nest);
    CPrinter printer(nest);
    functions += "\n" + printer.print();
    lanes.insert(printer.lanes().begin(), printer.lanes().end());
    used.insert(printer.functions().begin(), printer.functions().end());
  }
  std::string support = c_prologue();
  if (std::any_of(nests.begin(), nests.end(), [](const loops::LoopNest& nest) { return nest.tiles > 0; }))
    support += c_tile_support();
  for (const int count : lanes) support += c_lane_support(count, used);
  return support + functions;
}

}  // namespace onepass::emit

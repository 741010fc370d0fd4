// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "ir/activation.h"
#include "property/blocks.h"

namespace onepass::test {

namespace {

using ir::Op;

bool any(const Item& item) {
  return !item.dims.empty();
}

const std::vector<const char*>& activation_names() {
  static const std::vector<const char*> names = {
#define ONEPASS_ACTIVATION(operator, ...) #operator,
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
  };
  return names;
}

/// A rounding error of the operand would become a jump of the result.
bool jumps(const std::string& op) {
  return op == "Floor" || op == "Ceil" || op == "Round" || op == "ThresholdedRelu";
}

bool is_steep(const std::string& op) {
  return op == "Log" || op == "Sqrt" || op == "Reciprocal";
}

std::string parameters(NetworkBuilder& net, const std::string& op) {
  if (op == "Gelu") return net.random.chance(0.5) ? "approximate=\"tanh\"" : "";
  if (net.random.chance(0.4)) return "";
  const std::set<std::string> with_alpha = {"LeakyRelu", "ThresholdedRelu", "Elu", "Celu", "Swish"};
  if (with_alpha.contains(op)) return fmt::format("alpha={:.3f}", net.random.real(0.05, 1.2));
  if (op == "HardSigmoid")
    return fmt::format("alpha={:.3f}, beta={:.3f}", net.random.real(0.1, 0.4), net.random.real(0.2, 0.8));
  if (op == "Selu")
    return fmt::format("alpha={:.3f}, gamma={:.3f}", net.random.real(0.5, 1.8), net.random.real(0.5, 1.2));
  return "";
}

std::optional<Item> clip(NetworkBuilder& net, const Item& x) {
  const bool low = net.random.chance(0.8), high = net.random.chance(0.8);
  std::vector<std::string> operands = {x.name, low ? net.constant("f32[] {-0.5}") : "_"};
  if (high) operands.push_back(net.constant(net.random.chance(0.5) ? "f32[] {6.0}" : "f32[] {0.75}"));
  if (!low && !high) operands.pop_back();
  return net.node("Clip", operands, "", x.exact);
}

/// At least a half, so that no operator behind it explodes.
std::optional<Item> positive(NetworkBuilder& net, const Item& x) {
  const auto y = net.node("Abs", {x.name}, "", x.exact);
  return y ? net.node("Add", {y->name, net.constant("f32[] {0.5}")}) : std::nullopt;
}

std::string constant_beside(NetworkBuilder& net, const Item& x) {
  const double form = net.random.real(0, 1);
  if (form < 0.3) return net.constant(fmt::format("f32[] {{{:.3f}}}", net.random.real(-1.5, 1.5)));
  if (form < 0.4) return net.random_constant(x.dims, 0.3, 1.2);
  if (form < 0.5) return net.random_constant({x.dims.back()}, 0.3, 1.2);
  if (x.dims.size() < 3) return net.random_constant({x.dims.back()}, 0.3, 1.2);
  ir::Shape dims(x.dims.size() - 1, 1);
  dims[0] = x.dims[1];
  if (net.random.chance(0.5)) dims.insert(dims.begin(), 1);
  return net.random_constant(dims, 0.3, 1.2);
}

}  // namespace

std::optional<Item> add_activation(NetworkBuilder& net, const Item& x) {
  const std::string op = net.random.chance(0.35) ? "Relu" : net.random.pick(activation_names());
  if (op == "Clip") return clip(net, x);
  if (jumps(op) && !x.exact) return net.node("Relu", {x.name}, "", x.exact);
  std::optional<Item> y = x;
  if (is_steep(op)) y = positive(net, x);
  if (op == "Exp") y = clip(net, x);
  if (!y) return std::nullopt;
  const bool exact = y->exact && (op == "Relu" || op == "Abs" || op == "Neg" || jumps(op));
  return net.node(op, {y->name}, parameters(net, op), exact);
}

void activation(NetworkBuilder& net) {
  if (const auto x = net.pick(any)) add_activation(net, *x);
}

void batch_norm(NetworkBuilder& net) {
  if (const auto x = net.pick(any)) add_batch_norm(net, *x);
}

void affine(NetworkBuilder& net) {
  const auto x = net.pick(any);
  if (!x) return;
  const std::string op =
      net.random.pick(std::vector<std::string>{"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Pow"});
  if (op == "Pow") {
    net.node("Pow", {x->name, net.constant("f32[] {2.0}")});
  } else if (op == "PRelu") {
    net.node("PRelu",
             {x->name, net.random_constant(x->dims.size() == 4 ? ir::Shape{x->dims[1], 1, 1} : ir::Shape{1},
                                           -0.5, 0.9)});
  } else {
    const std::string c = op == "Div" ? net.constant("f32[] {1.7}") : constant_beside(net, *x);
    const bool first = op == "Div" || net.random.chance(0.6);
    net.node(op, {first ? x->name : c, first ? c : x->name});
  }
}

void binary(NetworkBuilder& net) {
  const auto a = net.pick(any);
  if (!a) return;
  const auto b = net.pick([&](const Item& item) { return item.dims == a->dims && item.name != a->name; });
  const std::string other = b ? b->name : a->name;
  const std::string op =
      net.random.pick(std::vector<std::string>{"Add", "Add", "Sub", "Mul", "Max", "Min", "Sum"});
  const bool first = net.random.chance(0.5);
  std::vector<std::string> operands = {first ? a->name : other, first ? other : a->name};
  if (op == "Sum" && net.random.chance(0.5)) operands.push_back(a->name);
  const auto y = net.node(op, operands);
  if (y && net.random.chance(0.4)) add_activation(net, *y);
}

void decomposed(NetworkBuilder& net) {
  const auto x = net.pick(any);
  if (!x) return;
  if (net.random.chance(0.5)) {
    const auto s = net.node("Sigmoid", {x->name});
    const bool first = net.random.chance(0.5);
    if (s) net.node("Mul", {first ? x->name : s->name, first ? s->name : x->name});
    return;
  }
  const auto shifted = net.node("Add", {x->name, net.constant("f32[] {3.0}")});
  const std::string zero = net.constant("f32[] {0.0}"), six = net.constant("f32[] {6.0}");
  const auto clipped = shifted ? net.node("Clip", {shifted->name, zero, six}) : std::nullopt;
  const auto product = clipped ? net.node("Mul", {x->name, clipped->name}) : std::nullopt;
  if (product) net.node("Div", {product->name, six});
}

void gate(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  auto g = net.node(net.random.chance(0.7) ? "GlobalAveragePool" : "GlobalMaxPool", {x->name});
  if (!g) return;
  const int64_t c = x->dims[1];
  g = net.node("Conv",
               {g->name, net.random_constant({c, c, 1, 1}, -0.5, 0.5), net.random_constant({c}, -0.5, 0.5)});
  if (g) g = net.node(net.random.pick(std::vector<std::string>{"Sigmoid", "HardSigmoid", "Tanh"}), {g->name});
  if (!g) return;
  const bool first = net.random.chance(0.5);
  const auto y = net.node(net.random.pick(std::vector<std::string>{"Mul", "Mul", "Add", "Sub"}),
                          {first ? x->name : g->name, first ? g->name : x->name});
  if (y && net.random.chance(0.4)) add_activation(net, *y);
}

void spatial_gate(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  auto g =
      net.node(net.random.chance(0.5) ? "ReduceMean" : "ReduceMax", {x->name, net.ints({1})}, "keepdims=1");
  if (g) g = net.node("Sigmoid", {g->name});
  if (!g) return;
  const bool first = net.random.chance(0.5);
  net.node("Mul", {first ? x->name : g->name, first ? g->name : x->name});
}

}  // namespace onepass::test

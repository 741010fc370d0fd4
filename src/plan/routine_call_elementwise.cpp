// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "ir/activation.h"
#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

using ir::DType;
using ir::Op;

struct BinaryName {
  Op op;
  const char* stem;
};

constexpr BinaryName k_binary_names[] = {{Op::PRelu, "prelu"},     {Op::Add, "add"},
                                         {Op::Sub, "sub"},         {Op::Mul, "mul"},
                                         {Op::Div, "div"},         {Op::Pow, "pow"},
                                         {Op::Min, "min"},         {Op::Max, "max"},
                                         {Op::Sum, "add"},         {Op::Equal, "equal"},
                                         {Op::Greater, "greater"}, {Op::GreaterOrEqual, "greater_or_equal"},
                                         {Op::Less, "less"},       {Op::LessOrEqual, "less_or_equal"},
                                         {Op::And, "and"},         {Op::Or, "or"},
                                         {Op::Mod, "mod"}};

const char* stem_of(const NodeView& view) {
  const ir::Node& node = view.node();
  if (node.op == Op::Mod && node.attributes.get_int("fmod", 0) != 0) return "fmod";
  const auto* row = std::ranges::find(k_binary_names, node.op, &BinaryName::op);
  require(row != std::end(k_binary_names), "a broadcast operator has a routine");
  return row->stem;
}

bool is_one_of(DType dtype, std::initializer_list<DType> accepted) {
  return std::ranges::find(accepted, dtype) != accepted.end();
}

/// The rows of runtime/inside/binary.def.
bool has_binary(Op op, DType dtype) {
  const bool logic = op == Op::And || op == Op::Or;
  if (dtype == DType::boolean) return logic || op == Op::Equal;
  if (op == Op::Pow) return is_one_of(dtype, {DType::f32, DType::f64, DType::i64, DType::i32});
  if (op == Op::PRelu) return dtype == DType::f32;
  return !logic;
}

std::optional<RoutineCall> flat(const NodeView& view, std::string symbol, int64_t elem_cost) {
  RoutineCall call = call_of(view, std::move(symbol), {0});
  set_work(call, ir::element_count(view.dims(0)), elem_cost);
  return call;
}

constexpr int64_t k_function_cost = 16;  ///< element operations that a call of libm stands for

/// "relu", from the formula column of activations.def.
const char* formula_of(Op op) {
  switch (op) {
#define ONEPASS_ACTIVATION(op, formula, ...) \
  case Op::op:                               \
    return #formula;
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
    default:
      return "not";
  }
}

template <class E>
Ints integer_bounds(const NodeView& view) {
  Ints bounds{std::numeric_limits<E>::min(), std::numeric_limits<E>::max()};
  for (size_t i = 0; i < 2; ++i)
    if (const auto bound = view.constant_ints(i + 1); bound && bound->size() == 1) bounds[i] = bound->front();
  return bounds;
}

/// Parameters of a function on integers or booleans; nothing when there is no such function.
std::optional<Ints> integer_parameters(const NodeView& view) {
  const Op op = view.node().op;
  const DType dtype = view.type(0).dtype;
  if (op == Op::Not) return Ints{0, 0};
  const bool integer = is_one_of(dtype, {DType::i64, DType::i32, DType::i8, DType::u8});
  if (!integer || (op != Op::Abs && op != Op::Neg && op != Op::Relu && op != Op::Clip)) return std::nullopt;
  if (op != Op::Clip) return Ints{0, 0};
  if (dtype == DType::i64) return integer_bounds<int64_t>(view);
  if (dtype == DType::i32) return integer_bounds<int32_t>(view);
  return dtype == DType::i8 ? integer_bounds<int8_t>(view) : integer_bounds<uint8_t>(view);
}

bool has_run_time_bound(const NodeView& view) {
  const auto varies = [&](size_t bound) { return view.has(bound) && view.constant(bound) == nullptr; };
  return view.node().op == Op::Clip && (varies(1) || varies(2));
}

std::optional<RoutineCall> clip_between(const NodeView& view) {
  const DType dtype = view.type(0).dtype;
  if (!is_one_of(dtype, {DType::f32, DType::f64, DType::i64, DType::i32, DType::i8, DType::u8}))
    return std::nullopt;
  RoutineCall call = call_of(view, symbol_of("clip_between", dtype), {0});
  for (const size_t bound : {1, 2}) {
    call.params.push_back(view.has(bound));
    if (view.has(bound)) call.inputs.push_back(view.node().inputs[bound]);
  }
  set_work(call, ir::element_count(view.dims(0)), 2);
  return call;
}

}  // namespace

std::optional<RoutineCall> broadcast(const NodeView& view) {
  const ir::Node& node = view.node();
  const DType dtype = view.type(0).dtype;
  if (node.inputs.size() == 1) return same_elements(view);
  IndexSpace space{.dims = view.result().dims, .strides = {}};
  for (size_t input = 0; input < node.inputs.size(); ++input) {
    if (view.type(input).dtype != dtype) return std::nullopt;
    space.strides.push_back(broadcast_strides(view.dims(input), space.dims));
  }
  const int64_t elems = ir::element_count(space.dims);
  space.merge_axes();
  if (!space.fits() || !has_binary(node.op, dtype)) return std::nullopt;
  RoutineCall call = call_of(view, symbol_of(stem_of(view), dtype), {});
  call.inputs = node.inputs;
  call.params.push_back(static_cast<int64_t>(node.inputs.size()));
  space.append_to(call.params);
  const bool dear = node.op == Op::Pow || node.op == Op::Mod;
  set_work(call, elems, dear ? k_function_cost : static_cast<int64_t>(node.inputs.size()) - 1);
  return call;
}

std::optional<RoutineCall> where(const NodeView& view) {
  IndexSpace space{.dims = view.result().dims, .strides = {}};
  for (size_t input = 0; input < 3; ++input)
    space.strides.push_back(broadcast_strides(view.dims(input), space.dims));
  const int64_t elems = ir::element_count(space.dims);
  space.merge_axes();
  if (!space.fits()) return std::nullopt;
  RoutineCall call = call_of(view, sized_symbol("where", view.result().dtype), {0, 1, 2});
  space.append_to(call.params);
  set_work(call, elems, 2);
  return call;
}

std::optional<RoutineCall> cast(const NodeView& view) {
  const DType from = view.type(0).dtype;
  const DType to = view.result().dtype;
  if (from == to) return same_elements(view);
  return flat(view, std::string("onepass_cast_") + ir::name(from) + "_" + ir::name(to), 1);
}

std::optional<RoutineCall> unary(const NodeView& view) {
  if (has_run_time_bound(view)) return clip_between(view);
  const DType dtype = view.type(0).dtype;
  Ints parameters;
  if (is_one_of(dtype, {DType::f32, DType::f64})) {
    const auto activation = ir::activation_of_any_float(view.graph, view.id);
    if (!activation) return std::nullopt;
    parameters = {bits(activation->alpha), bits(activation->beta)};
  } else {
    const auto known = integer_parameters(view);
    if (!known) return std::nullopt;
    parameters = *known;
  }
  auto call = flat(view, symbol_of(formula_of(view.node().op), dtype), k_function_cost);
  append(call->params, parameters);
  return call;
}

std::optional<RoutineCall> batch_normalization(const NodeView& view) {
  const ir::Shape& dims = view.dims(0);
  if (view.attribute("training_mode", 0) != 0 || view.type(0).dtype != DType::f32 || dims.size() < 2)
    return std::nullopt;
  for (size_t output = 1; output < view.node().outputs.size(); ++output)
    if (view.wants(output)) return std::nullopt;
  const bool elements = view.attribute("spatial", 1) == 0;
  RoutineCall call = call_of(
      view,
      elements ? "onepass_batch_normalization_elements_f32" : "onepass_batch_normalization_channels_f32",
      {0, 1, 2, 3, 4});
  const int64_t plane_elems = ir::element_count({dims.begin() + 2, dims.end()});
  call.params.push_back(ir::element_count(view.dims(1)));
  if (!elements) call.params.push_back(plane_elems);
  call.params.push_back(bits(view.node().attributes.get_float("epsilon", 1e-5)));
  if (elements)
    set_work(call, ir::element_count(dims), 8);
  else
    set_work(call, dims[0] * dims[1], 8 * plane_elems);
  return call;
}

}  // namespace onepass::plan::routines

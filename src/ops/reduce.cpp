// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"
#include "ops/summation.h"

namespace onepass::ops {

namespace {

/// The axes that a reduction reduces: input 1, or all of them, or none.
std::vector<int64_t> reduced_axes(const ir::Node& node, const ir::Tensor* axes, size_t rank) {
  const std::vector<int64_t> named = axes == nullptr ? std::vector<int64_t>{} : axes->to_ints();
  if (!named.empty()) return normalized_axes(node, named, static_cast<int64_t>(rank));
  std::vector<int64_t> all(node.attributes.get_int("noop_with_empty_axes", 0) != 0 ? 0 : rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// `type` without the sorted `axes`, or with extent 1 there.
ir::TensorType reduced_type(const ir::TensorType& type, const std::vector<int64_t>& axes, bool keep_axes) {
  ir::TensorType result{type.dtype, {}};
  for (int axis = 0; axis < static_cast<int>(type.dims.size()); ++axis) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), axis);
    if (reduced && !keep_axes) continue;
    if (axis == type.counted_axis && !reduced) result.counted_axis = static_cast<int>(result.dims.size());
    result.dims.push_back(reduced ? 1 : type.dims[axis]);
  }
  return result;
}

bool keeps_axes(const ir::Node& node) {
  return node.attributes.get_int("keepdims", 1) != 0;
}

std::vector<ir::TensorType> reduce_shape(const ShapeContext& context) {
  const ir::TensorType& src = context.type(0);
  if (!is_numeric(src.dtype))
    refuse(context.node, "unsupported_type", fmt::format("input 0 is {}", ir::to_string(src)),
           "a numeric type");
  if (context.has(1)) require_dtype(context, 1, {ir::DType::i64});
  const ir::Tensor* axes = context.has(1) ? &context.constant(1) : nullptr;
  return one_output(context, reduced_type(src, reduced_axes(context.node, axes, src.dims.size()),
                                          keeps_axes(context.node)));
}

/// Refuses what has no value: the mean of no integers, an extreme of nothing in a type without infinity.
std::vector<ir::TensorType> nonempty_reduce_shape(const ShapeContext& context) {
  std::vector<ir::TensorType> result = reduce_shape(context);
  const ir::TensorType& src = context.type(0);
  if (ir::element_count(src.dims) == 0 && ir::element_count(result[0].dims) != 0 && !is_float(src.dtype))
    refuse(context.node, "bad_extent", fmt::format("an empty {} is reduced", ir::to_string(src)),
           "extents >= 1");
  return result;
}

/// For each output the source elements that it stands for: element i of output o lies at
/// kept[o] + reduced[i]. Reduced elements come in row-major order.
struct Partition {
  std::vector<int64_t> kept, reduced;
};

/// Offsets of all positions over some axes of a dense tensor.
std::vector<int64_t> offsets_over(const ir::Shape& shape, const std::vector<int64_t>& axes) {
  const ir::Shape strides = ir::row_major_strides(shape);
  std::vector<int64_t> offsets{0};
  for (int64_t axis : axes) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * shape[axis]);
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < shape[axis]; ++i) next.push_back(offset + i * strides[axis]);
    offsets = std::move(next);
  }
  return offsets;
}

Partition partition(const ir::Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> others;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), axis)) others.push_back(axis);
  return {offsets_over(shape, others), offsets_over(shape, axes)};
}

/// dst[o] = function(count, term) with term(i) the i-th source element of output o.
template <class T, class Function>
void reduce(const ir::Node& node, Inputs inputs, Outputs outputs, Function function) {
  const ir::Shape& shape = inputs[0]->shape();
  const Partition parts = partition(shape, reduced_axes(node, optional_input(inputs, 1), shape.size()));
  visit_numeric<T>(inputs[0]->dtype(), [&]<class E>(E) {
    const E* src = elements<E>(*inputs[0]);
    const auto dst = outputs[0].data<E>();
    for (size_t o = 0; o < dst.size(); ++o)
      dst[o] = function.template operator()<E>(static_cast<int64_t>(parts.reduced.size()), [&, o](int64_t i) {
        return src[parts.kept[o] + parts.reduced[i]];
      });
  });
}

/// Integer sums and products run in uint64 and wrap.
template <class E>
using Accumulator = std::conditional_t<std::is_integral_v<E>, uint64_t, E>;

template <class E, class Term>
Accumulator<E> sum_of(int64_t count, const Term& term) {
  return pairwise_sum<Accumulator<E>>(0, count,
                                      [&](int64_t i) { return static_cast<Accumulator<E>>(term(i)); });
}

template <class T>
void reduce_sum(const ir::Node& node, Inputs inputs, Outputs outputs) {
  reduce<T>(node, inputs, outputs,
            []<class E>(int64_t count, const auto& term) { return static_cast<E>(sum_of<E>(count, term)); });
}

template <class T>
void reduce_mean(const ir::Node& node, Inputs inputs, Outputs outputs) {
  reduce<T>(node, inputs, outputs, []<class E>(int64_t count, const auto& term) {
    if constexpr (std::is_integral_v<E>)
      return static_cast<E>(static_cast<int64_t>(sum_of<E>(count, term)) / count);
    else
      return sum_of<E>(count, term) / static_cast<E>(count);
  });
}

template <class T>
void reduce_prod(const ir::Node& node, Inputs inputs, Outputs outputs) {
  reduce<T>(node, inputs, outputs, []<class E>(int64_t count, const auto& term) {
    Accumulator<E> product = 1;
    for (int64_t i = 0; i < count; ++i) product *= static_cast<Accumulator<E>>(term(i));
    return static_cast<E>(product);
  });
}

/// The element that beats all others; NaN wins. Nothing gives `sign` infinity.
template <class E, class Beats, class Term>
E extreme(int64_t count, const Term& term, Beats beats, int sign) {
  if (count == 0) return static_cast<E>(sign) * std::numeric_limits<E>::infinity();
  E best = term(0);
  for (int64_t i = 1; i < count; ++i)
    if (beats(term(i), best) || term(i) != term(i)) best = term(i);
  return best;
}

template <class T>
void reduce_max(const ir::Node& node, Inputs inputs, Outputs outputs) {
  reduce<T>(node, inputs, outputs, []<class E>(int64_t count, const auto& term) {
    return extreme<E>(count, term, [](E a, E b) { return a > b; }, -1);
  });
}

template <class T>
void reduce_min(const ir::Node& node, Inputs inputs, Outputs outputs) {
  reduce<T>(node, inputs, outputs, []<class E>(int64_t count, const auto& term) {
    return extreme<E>(count, term, [](E a, E b) { return a < b; }, 1);
  });
}

}  // namespace

const Meaning k_meaning_ReduceSum{reduce_shape, reduce_sum<float>, reduce_sum<double>};
const Meaning k_meaning_ReduceProd{reduce_shape, reduce_prod<float>, reduce_prod<double>};
const Meaning k_meaning_ReduceMean{nonempty_reduce_shape, reduce_mean<float>, reduce_mean<double>};
const Meaning k_meaning_ReduceMax{nonempty_reduce_shape, reduce_max<float>, reduce_max<double>};
const Meaning k_meaning_ReduceMin{nonempty_reduce_shape, reduce_min<float>, reduce_min<double>};

}  // namespace onepass::ops

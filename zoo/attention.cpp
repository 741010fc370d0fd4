// SPDX-License-Identifier: Apache-2.0
#include "zoo/attention.h"

#include <cmath>

#include "zoo/builder_attributes.h"

namespace onepass::zoo::yolo {

namespace {

using ir::Op;

constexpr int64_t k_head_width = 64, k_key_width = k_head_width / 2;
constexpr double k_attended_share = 0.1;  // of the variance that an average by attention leaves

/// What each head's part of the first convolution holds, [1,heads,width,positions].
struct Projections {
  ValueId query, key, value;
};

/// Of the values' channels, which lie behind the queries and keys of their head.
Moments value_moments(const Moments& moments, int64_t heads) {
  Moments result;
  for (int64_t head = 0; head < heads; ++head)
    result.append(moments.slice(head * 2 * k_head_width + 2 * k_key_width, k_head_width));
  return result;
}

/// Each position's values averaged with the weights that its query and all keys give.
ValueId attended(Builder& net, const Projections& parts, const std::string& prefix) {
  const float scale = 1 / std::sqrt(static_cast<float>(k_key_width));
  const ValueId rows = transpose(net, parts.query, prefix + ".transpose", {0, 1, 3, 2});
  ValueId weights = net.node(Op::MatMul, prefix + ".matmul", {rows, parts.key});
  weights = net.node(Op::Mul, prefix + ".mul", {weights, net.scalar(prefix + ".scale", scale)});
  weights = net.node(Op::Softmax, prefix + ".softmax", {weights}, axis_attribute(-1));
  weights = transpose(net, weights, prefix + ".transpose_1", {0, 1, 3, 2});
  return net.node(Op::MatMul, prefix + ".matmul_1", {parts.value, weights});
}

/// Multi-head self-attention with a depthwise 3x3 of the values as the encoding of positions.
ValueId attention(Builder& net, ValueId x, const std::string& prefix, int64_t size) {
  const int64_t width = net.channels(x), heads = width / k_head_width, positions = size * size;
  const ValueId projected = linear_chain(net, x, prefix + ".qkv", 2 * width);
  const Moments moments = value_moments(net.moments(projected), heads);
  const ValueId by_head =
      net.reshape(projected, prefix + ".reshape", {1, heads, 2 * k_head_width, positions});
  const std::vector<ValueId> parts =
      net.split(by_head, {k_key_width, k_key_width, k_head_width}, prefix + ".split", 2);
  const ValueId mixed = attended(net, {parts[0], parts[1], parts[2]}, prefix);
  const ValueId a = net.reshape(mixed, prefix + ".reshape_1", {1, width, size, size});
  net.assume(a, moments.scaled(k_attended_share));
  const ValueId values = net.reshape(parts[2], prefix + ".reshape_2", {1, width, size, size});
  net.assume(values, moments);
  const ValueId b = linear_chain(net, values, prefix + ".pe", width, same_window(3), width);
  return linear_chain(net, net.add(a, b, prefix + ".add"), prefix + ".proj", width);
}

}  // namespace

ValueId attention_block(Builder& net, ValueId x, const std::string& prefix, int64_t size) {
  const int64_t outputs = net.channels(x), half = outputs / 2;
  const std::string inner = prefix + ".m.0";
  x = chain(net, x, prefix + ".cv1", outputs);
  const std::vector<ValueId> halves = net.split(x, {half, half}, prefix + ".split");
  ValueId y = net.add(halves[1], attention(net, halves[1], inner + ".attn", size), inner + ".add");
  const ValueId hidden = chain(net, y, inner + ".ffn.0", 2 * half);
  y = net.add(y, linear_chain(net, hidden, inner + ".ffn.1", half), inner + ".add_1");
  return chain(net, net.concat({halves[0], y}, prefix + ".concat"), prefix + ".cv2", outputs);
}

}  // namespace onepass::zoo::yolo

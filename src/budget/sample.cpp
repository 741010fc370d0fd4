// SPDX-License-Identifier: Apache-2.0
#include "budget/sample.h"

#include <algorithm>
#include <cmath>

#include "loops/interpreter.h"

namespace onepass::budget {

namespace {

using kernels::ConvSpec;
using kernels::FeatureMap;
using kernels::KernelChoice;

/// Rows and columns of outputs, and how many output channels, one tile of a kernel has.
struct TileExtents {
  int64_t rows = 1, columns = 1, channels = 1;
};

/// A tile's map in the layout of the whole one: rows of channels, or blocks.
FeatureMap map_like(const FeatureMap& whole, bool matrix, int64_t c, int64_t h, int64_t w) {
  return matrix ? kernels::matrix_map(w, c) : kernels::blocked_map(1, c, h, w, whole.block);
}

/// Cuts the outputs to a tile, or to the groups that fill one; the window reads the source around it, so that
/// there is no padding.
void cut(ConvSpec& spec, bool matrix, const TileExtents& tile) {
  spec.phases.reset();
  const int64_t h = std::min(spec.dst.h, tile.rows), w = std::min(spec.dst.w, tile.columns);
  const int64_t width = spec.dst.c / spec.groups, inputs = spec.src.c / spec.groups;
  const int64_t groups = std::min(spec.groups, (tile.channels + width - 1) / width);
  const int64_t outputs = spec.groups == 1 ? std::min(spec.dst.c, tile.channels) : groups * width;
  spec.groups = groups;
  spec.dst = map_like(spec.dst, matrix, outputs, h, w);
  spec.src = map_like(spec.src, matrix, groups * inputs,
                      (h - 1) * spec.stride_h + (spec.kernel_h - 1) * spec.dilation_h + 1,
                      (w - 1) * spec.stride_w + (spec.kernel_w - 1) * spec.dilation_w + 1);
  spec.pad_top = spec.pad_left = 0;
  spec.bias = false;
  spec.epilogue = {};
}

/// The same kernel on a map of one tile; null for kernels that are not sampled.
const ConvSpec* cut_to_tile(KernelChoice& choice, bool matrix, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  if (auto* direct = std::get_if<kernels::ConvDirectChoice>(&choice)) {
    if (direct->spec.groups != 1) return nullptr;
    cut(direct->spec, matrix, {.columns = direct->tile.pixels, .channels = lanes * direct->tile.vectors});
    direct->tile.merged_rows = 1;
    return &direct->spec;
  }
  if (auto* winograd = std::get_if<kernels::ConvWinogradChoice>(&choice)) {
    cut(winograd->spec, matrix, {winograd->tile.m, winograd->tile.m, lanes * winograd->tile.vectors});
    const FeatureMap& src = winograd->spec.src;
    const kernels::Halo halo = kernels::winograd_halo(winograd->spec, winograd->tile);
    winograd->spec.src = kernels::blocked_map(1, src.c, src.h, src.w, src.block, halo);
    return &winograd->spec;
  }
  if (auto* amx = std::get_if<kernels::ConvAmxChoice>(&choice)) {
    cut(amx->spec, matrix, {.columns = 16, .channels = lanes});
    amx->tile.rows = amx->tile.panel_slices = 1;
    return &amx->spec;
  }
  return nullptr;
}

/// Where the tile lies in the whole map.
struct Origin {
  int64_t y = 0, x = 0;  ///< of the source
};

Origin origin_of(const ConvSpec& whole, const ConvSpec& tile) {
  return {(whole.dst.h - tile.dst.h) / 2 * whole.stride_h - whole.pad_top,
          (whole.dst.w - tile.dst.w) / 2 * whole.stride_w - whole.pad_left};
}

/// Source values of the tile, [c][h][w], zeros outside the map.
std::vector<float> patch_of(const Operands& operands, const ConvSpec& whole, const ConvSpec& tile) {
  const std::span<const float> src = operands.src->data<float>();
  const Origin origin = origin_of(whole, tile);
  std::vector<float> patch;
  for (int64_t c = 0; c < tile.src.c; ++c)
    for (int64_t h = 0; h < tile.src.h; ++h)
      for (int64_t w = 0; w < tile.src.w; ++w) {
        const int64_t y = origin.y + h, x = origin.x + w;
        const bool inside = y >= 0 && y < whole.src.h && x >= 0 && x < whole.src.w;
        const int64_t at = operands.matrix ? x * whole.src.c + c : (c * whole.src.h + y) * whole.src.w + x;
        patch.push_back(inside ? src[at] : 0.0F);
      }
  return patch;
}

/// Products in one sum.
int64_t reduction_of(const ConvSpec& spec) {
  return spec.src.c / spec.groups * spec.kernel_h * spec.kernel_w;
}

/// Weights of the first channels, [k][c][kh][kw].
std::vector<float> weights_of(const Operands& operands, const ConvSpec& whole, const ConvSpec& tile) {
  const std::span<const float> all = operands.weights->data<float>();
  const int64_t reduction = reduction_of(whole);
  std::vector<float> weights(tile.dst.c * reduction);
  for (int64_t k = 0; k < tile.dst.c; ++k)
    for (int64_t r = 0; r < reduction; ++r)
      weights[k * reduction + r] = all[operands.transposed ? r * whole.dst.c + k : k * reduction + r];
  return weights;
}

int64_t index_in(const FeatureMap& map, int64_t c, int64_t y, int64_t x) {
  return map.offset + c / map.block * map.plane_stride + (y + map.halo.top) * map.row_stride +
         (x + map.halo.left) * map.block + c % map.block;
}

std::vector<float> laid_out(const std::vector<float>& patch, const FeatureMap& map) {
  std::vector<float> memory(map.elems(), 0.0F);
  size_t next = 0;
  for (int64_t c = 0; c < map.c; ++c)
    for (int64_t y = 0; y < map.h; ++y)
      for (int64_t x = 0; x < map.w; ++x) memory[index_in(map, c, y, x)] = patch[next++];
  return memory;
}

std::vector<float> interpreted(const KernelChoice& choice, std::vector<float> src, std::vector<float> weights,
                               const targets::Target& target) {
  const loops::LoopNest nest = kernels::build("sample", choice, target);
  std::vector<float> dst(kernels::dst_of(choice).elems(), 0.0F);
  const std::vector<std::span<std::byte>> memories = {std::as_writable_bytes(std::span(src)),
                                                      std::as_writable_bytes(std::span(weights)),
                                                      std::as_writable_bytes(std::span(dst))};
  loops::interpret(nest, memories, 0, nest.slices);
  return dst;
}

/// One output in double, and the sum of its squared products.
struct Sum {
  double value = 0, squares = 0;
};

/// `patch` is the channels of the output's group.
Sum exact_sum(const ConvSpec& tile, const float* patch, const float* weights, int64_t y, int64_t x) {
  Sum sum;
  for (int64_t c = 0; c < tile.src.c / tile.groups; ++c)
    for (int64_t kh = 0; kh < tile.kernel_h; ++kh)
      for (int64_t kw = 0; kw < tile.kernel_w; ++kw) {
        const int64_t row = y * tile.stride_h + kh * tile.dilation_h;
        const int64_t column = x * tile.stride_w + kw * tile.dilation_w;
        const double product =
            static_cast<double>(patch[(c * tile.src.h + row) * tile.src.w + column]) * *weights++;
        sum.value += product;
        sum.squares += product * product;
      }
  return sum;
}

}  // namespace

Operands operands_of(const ir::Graph& graph, ir::NodeId id, plan::Family family, const ir::Tensor& src) {
  const ir::Node& node = graph.node(id);
  const bool matrix = family == plan::Family::gemm;
  const bool rows_are_outputs = node.op == ir::Op::Gemm && node.attributes.get_int("transB", 0) != 0;
  return {.src = &src,
          .weights = graph.constant_input(id, 1),
          .matrix = matrix,
          .transposed = matrix && !rows_are_outputs};
}

std::optional<double> sampled_error(const KernelChoice& choice, const Operands& operands,
                                    const targets::Target& target) {
  KernelChoice small = choice;
  const ConvSpec* tile = cut_to_tile(small, operands.matrix, target);
  if (tile == nullptr) return std::nullopt;
  const ConvSpec& whole = *std::visit(
      [](const auto& c) -> const ConvSpec* {
        if constexpr (requires { c.spec; }) return &c.spec;
        return nullptr;
      },
      choice);
  const std::vector<float> patch = patch_of(operands, whole, *tile);
  const std::vector<float> weights = weights_of(operands, whole, *tile);
  const std::vector<float> dst =
      interpreted(small, laid_out(patch, tile->src), kernels::pack_weights(small, target, weights), target);
  const int64_t reduction = reduction_of(*tile);
  const int64_t group_outputs = tile->dst.c / tile->groups, group_inputs = tile->src.c / tile->groups;
  double errors = 0, squares = 0;
  for (int64_t k = 0; k < tile->dst.c; ++k)
    for (int64_t y = 0; y < tile->dst.h; ++y)
      for (int64_t x = 0; x < tile->dst.w; ++x) {
        const float* group = patch.data() + k / group_outputs * group_inputs * tile->src.h * tile->src.w;
        const Sum sum = exact_sum(*tile, group, weights.data() + k * reduction, y, x);
        const double difference = dst[index_in(tile->dst, k, y, x)] - sum.value;
        errors += difference * difference;
        squares += sum.squares;
      }
  if (squares == 0 || !std::isfinite(errors / squares)) return std::nullopt;
  return std::sqrt(errors / squares);
}

}  // namespace onepass::budget

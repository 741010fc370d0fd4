// SPDX-License-Identifier: Apache-2.0
#include "plan/join_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

#include "base/diagnostic.h"
#include "loops/interpreter.h"
#include "plan/choice.h"

namespace onepass::plan {

namespace {

using kernels::FeatureMap;
using kernels::KernelChoice;

constexpr int64_t k_rows = 2;

/// At most `most` channels, keeping what the last block lacks.
int64_t fewer(int64_t channels, int64_t most, int64_t block) {
  return channels <= most ? channels : most + channels % block;
}

bool is_matrix(const FeatureMap& map) {
  return map.h == 1 && map.block >= map.c && map.block > 1;
}

/// A map of the same kind of layout with other extents.
FeatureMap like(const FeatureMap& map, int64_t c, int64_t h, int64_t w, const kernels::Halo& halo) {
  // One row of one whole block is laid out as a matrix is: what matters is what it has to become.
  if (is_matrix(map) && map.block == map.c && h == 1 && halo.empty()) return kernels::matrix_map(w, c);
  return map.block == 1 ? kernels::plain_map(1, c, h, w, halo)
                        : kernels::blocked_map(1, c, h, w, map.block, halo);
}

void reduce_conv(kernels::ConvSpec& spec, int64_t lanes, int64_t pixels, int64_t vectors) {
  // Phases differ from other outputs in their addresses alone.
  if (spec.phases) spec.dst.c = spec.phases->map.c;
  spec.phases.reset();
  const int64_t outputs = spec.dst.c / spec.groups, inputs = spec.src.c / spec.groups;
  const int64_t least_groups = outputs % lanes == 0 ? 1 : 2;  // which share a vector
  const int64_t groups =
      spec.groups == 1 ? 1 : std::min(spec.groups, std::max(least_groups, 2 * lanes / outputs));
  const int64_t k = spec.groups == 1 ? fewer(outputs, vectors * lanes, lanes) : groups * outputs;
  const int64_t c = spec.groups == 1 ? fewer(inputs, 2 * lanes, lanes) : groups * inputs;
  const int64_t h = std::min(spec.dst.h, k_rows), w = std::min(spec.dst.w, 2 * pixels + 1);
  const int64_t src_h = std::max<int64_t>(
      1, (h - 1) * spec.stride_h + (spec.kernel_h - 1) * spec.dilation_h + 1 - spec.pad_top);
  const int64_t src_w = std::max<int64_t>(
      1, (w - 1) * spec.stride_w + (spec.kernel_w - 1) * spec.dilation_w + 1 - spec.pad_left);
  const bool covered = kernels::widest(spec.src.halo, kernels::required_halo(spec)) == spec.src.halo;
  spec.groups = groups;
  spec.dst = like(spec.dst, k, h, w, {});
  spec.src = like(spec.src, c, src_h, src_w, {});
  if (covered) spec.src = like(spec.src, c, src_h, src_w, kernels::required_halo(spec));
}

void reduce_operands(kernels::Epilogue& epilogue, const FeatureMap& dst) {
  for (kernels::EpilogueStep& step : epilogue.steps) {
    if (step.operand.kind == kernels::StepOperand::Kind::map) step.operand.map = dst;
    if (step.operand.kind == kernels::StepOperand::Kind::gate)
      step.operand.map = like(step.operand.map, dst.c, 1, 1, {});
  }
}

/// The same kernel on a map small enough to interpret.
KernelChoice reduced(KernelChoice choice, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  if (auto* direct = std::get_if<kernels::ConvDirectChoice>(&choice)) {
    direct->tile.merged_rows = 1;
    reduce_conv(direct->spec, lanes, direct->tile.pixels, direct->tile.vectors);
  } else if (auto* winograd = std::get_if<kernels::ConvWinogradChoice>(&choice)) {
    reduce_conv(winograd->spec, lanes, winograd->tile.m, winograd->tile.vectors);
    const kernels::Halo halo = kernels::winograd_halo(winograd->spec, winograd->tile);
    winograd->spec.src =
        like(winograd->spec.src, winograd->spec.src.c, winograd->spec.src.h, winograd->spec.src.w, halo);
  } else if (auto* amx = std::get_if<kernels::ConvAmxChoice>(&choice)) {
    reduce_conv(amx->spec, lanes, lanes, 2);
    amx->tile.rows = std::min(amx->tile.rows, amx->spec.dst.h);
    amx->tile.panel_slices = 1;
  } else if (auto* depthwise = std::get_if<kernels::ConvDepthwiseChoice>(&choice)) {
    reduce_conv(depthwise->spec, lanes, depthwise->tile.pixels, 1);
  } else if (auto* pool = std::get_if<kernels::PoolSpec>(&choice)) {
    pool->src = like(pool->src, fewer(pool->src.c, lanes, lanes), pool->src.h, pool->src.w, {});
    pool->dst = like(pool->dst, fewer(pool->dst.c, lanes, lanes), pool->dst.h, pool->dst.w, {});
  } else if (auto* pointwise = std::get_if<kernels::ElementwiseSpec>(&choice)) {
    const bool matrix = is_matrix(pointwise->dst) && pointwise->dst.block == pointwise->dst.c;
    const int64_t c = fewer(pointwise->dst.c, matrix ? 4 * lanes : lanes, lanes);
    pointwise->dst = like(pointwise->dst, c, std::min(pointwise->dst.h, k_rows),
                          std::min<int64_t>(pointwise->dst.w, 9), {});
    pointwise->src = pointwise->dst;
  }
  reduce_operands(*kernels::epilogue_of(choice), kernels::dst_of(choice));
  return choice;
}

using Memory = std::vector<float>;

/// Seeded values in [-1, 1) (the linear congruential generator of Numerical Recipes).
Memory seeded(int64_t elems, uint32_t seed) {
  Memory memory(elems);
  uint32_t state = seed * 2654435761U + 12345U;
  for (float& value : memory) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<double>(state) / 2147483648.0 - 1.0);
  }
  return memory;
}

/// Seeded contents; words hold two bf16 of this size.
Memory seeded(const loops::Buffer& buffer, uint32_t seed) {
  Memory memory = seeded(buffer.elems, seed);
  if (buffer.scalar == loops::Scalar::f32) return memory;
  for (float& value : memory) {
    const auto bits = std::bit_cast<uint32_t>(value);
    value = std::bit_cast<float>((bits & 0xffff0000U) | bits >> 16);
  }
  return memory;
}

struct Given {
  size_t operand;
  const Memory& values;
};

/// Runs a nest; operand i is seeded with seeds[i], unless it is given. The result is the last operand.
Memory run(const loops::LoopNest& nest, const std::vector<uint32_t>& seeds,
           const std::optional<Given>& given = std::nullopt) {
  std::vector<Memory> memories;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.scratch) continue;
    const size_t i = memories.size();
    if (given && given->operand == i) {
      memories.push_back(given->values);
    } else {
      memories.push_back(buffer.written ? Memory(buffer.elems, 0.0F) : seeded(buffer, seeds.at(i)));
    }
  }
  std::vector<std::span<std::byte>> operands;
  operands.reserve(memories.size());
  for (Memory& memory : memories) operands.push_back(std::as_writable_bytes(std::span(memory)));
  loops::interpret(nest, operands, 0, nest.slices);
  return memories.back();
}

/// The node of `step` in a kernel of its own on maps like `map`, from the graph alone.
SeparateStep separate_step(const ir::Graph& graph, const Group& group, Family family,
                           const patterns::Step& step, const FeatureMap& map) {
  const Start start = start_of(graph, step.node).value();
  const ir::TensorType& type = graph.value(graph.node(step.node).outputs.at(0)).type;
  SeparateStep separate{.spec = {map, map, epilogue_for(graph, {start.step}, family, type, {map})}};
  separate.result_operand = start.src == group.result ? 0 : 1;
  return separate;
}

}  // namespace

JoinProof compare_bitwise(const KernelChoice& joined, const KernelChoice& first, const SeparateStep& separate,
                          const targets::Target& target) {
  const loops::LoopNest joined_nest = kernels::build("joined", joined, target);
  std::vector<uint32_t> seeds(joined_nest.buffers.size());
  std::iota(seeds.begin(), seeds.end(), 1U);
  const Memory fused = run(joined_nest, seeds);
  const Memory between = run(kernels::build("first", first, target), seeds);
  const auto operands = std::count_if(joined_nest.buffers.begin(), joined_nest.buffers.end(),
                                      [](const loops::Buffer& buffer) { return !buffer.scratch; });
  const auto other_seed = static_cast<uint32_t>(operands - 1);  // of the operand before the destination
  const Memory split = run(kernels::build("second", separate.spec, target), {other_seed, other_seed, 0},
                           Given{separate.result_operand, between});
  for (size_t i = 0; i < fused.size(); ++i)
    if (std::memcmp(&fused[i], &split[i], sizeof(float)) != 0)
      return {false, fmt::format("joined {} and split {} differ at element {} in the loop interpreter",
                                 fused[i], split[i], i)};
  return {true,
          fmt::format("{} values bitwise equal, joined and split, in the loop interpreter", fused.size())};
}

JoinProof prove_join(const ir::Graph& graph, const Group& group, Family family, const patterns::Step& step,
                     const targets::Target& target, const kernels::ConvPolicy& policy) {
  Group joined = group;
  joined.steps.push_back(step);
  joined.result = graph.node(step.node).outputs.at(0);
  const KernelChoice whole = reduced(nominal_kernel(graph, joined, family, target, policy), target);
  KernelChoice first = whole;
  kernels::epilogue_of(first)->steps.pop_back();
  return compare_bitwise(whole, first, separate_step(graph, group, family, step, kernels::dst_of(whole)),
                         target);
}

JoinProof prove_kernel(const ir::Graph& graph, const Group& group, Family family, const KernelChoice& kernel,
                       const targets::Target& target) {
  for (size_t i = 0; i < group.steps.size(); ++i) {
    KernelChoice whole = kernel;
    kernels::Epilogue& epilogue = *kernels::epilogue_of(whole);
    if (epilogue.steps.at(i).operand.kind != kernels::StepOperand::Kind::map) continue;
    epilogue.steps.resize(i + 1);
    whole = reduced(std::move(whole), target);
    KernelChoice first = whole;
    kernels::epilogue_of(first)->steps.pop_back();
    Group before = group;
    before.nodes.resize(i + 1);
    before.steps.resize(i);
    before.result = graph.node(before.nodes.back()).outputs.at(0);
    const SeparateStep separate =
        separate_step(graph, before, family, group.steps[i], kernels::dst_of(whole));
    JoinProof proof = compare_bitwise(whole, first, separate, target);
    if (!proof.holds) return proof;
  }
  return {true, ""};
}

void require_joins(const ir::Graph& graph, const Group& group, Family family, const KernelChoice& kernel,
                   const targets::Target& target) {
  const JoinProof proof = prove_kernel(graph, group, family, kernel, target);
  if (proof.holds) return;
  throw Error({.code = "bad_choices",
               .message = fmt::format("the kernel '{}' does not keep the bits of a residual join: {}",
                                      to_string(tile_choice_of(kernel)), proof.text),
               .node = graph.node(group.nodes.front()).name});
}

}  // namespace onepass::plan

// SPDX-License-Identifier: Apache-2.0
#include "plan/tile_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "loops/names.h"

namespace onepass::plan {

namespace {

using kernels::ConvSpec;
using kernels::FeatureMap;
using kernels::KernelChoice;

std::string text_of(const kernels::Halo& halo) {
  return fmt::format("{},{},{},{}", halo.top, halo.left, halo.bottom, halo.right);
}

std::string text_of(const FeatureMap& map) {
  std::string text =
      fmt::format("{}[{},{},{},{}] block {}", loops::name(map.scalar), map.n, map.c, map.h, map.w, map.block);
  if (!map.halo.empty()) text += " halo " + text_of(map.halo);
  FeatureMap usual = kernels::blocked_map(map.n, map.c, map.h, map.w, map.block, map.halo);
  usual.scalar = map.scalar;
  if (!(map == usual))
    text += fmt::format(" strides {},{},{} at {}", map.batch_stride, map.plane_stride, map.row_stride,
                        map.offset);
  return text;
}

std::string text_of(const kernels::OutputPhases& p) {
  return fmt::format(" as phases {}x{} of {}x{} from {},{} of {}", p.count_h, p.count_w, p.step_h, p.step_w,
                     p.first_h, p.first_w, text_of(p.map));
}

std::string text_of(const kernels::StepOperand& operand) {
  constexpr const char* k_kinds[] = {"none", "scalar", "channels", "gate", "map"};
  const std::string kind = k_kinds[static_cast<int>(operand.kind)];
  return operand.kind == kernels::StepOperand::Kind::scalar ? fmt::format("{}", operand.value) : kind;
}

std::string text_of(const kernels::EpilogueStep& step) {
  using Kind = kernels::EpilogueStep::Kind;
  if (step.kind == Kind::affine) return "affine";
  if (step.kind == Kind::activation)
    return fmt::format("{}({},{})", ir::info(step.activation.op).name, step.activation.alpha,
                       step.activation.beta);
  return fmt::format("{}({}{})", ir::info(step.op).name, text_of(step.operand),
                     step.accumulator_left ? "" : " first");
}

template <class Tiles, class Choice>
void append(std::vector<KernelChoice>& found, const ConvSpec& spec, const Tiles& tiles, const Choice& make) {
  for (const auto& tile : tiles) found.push_back(make(spec, tile));
}

void append_winograd(std::vector<KernelChoice>& found, const ConvSpec& spec, const targets::Target& target) {
  const std::vector<kernels::WinogradTile> tiles = kernels::conv_winograd_tiles(spec, target);
  for (const kernels::WinogradTile& tile : tiles) {
    const kernels::Halo& have = spec.src.halo;
    if (tile.m <= tiles.front().m && kernels::widest(have, kernels::winograd_halo(spec, tile)) == have)
      found.emplace_back(kernels::ConvWinogradChoice{spec, tile});
  }
}

}  // namespace

const ConvSpec* conv_spec_in(const KernelChoice& choice) {
  if (const auto* direct = std::get_if<kernels::ConvDirectChoice>(&choice)) return &direct->spec;
  if (const auto* depthwise = std::get_if<kernels::ConvDepthwiseChoice>(&choice)) return &depthwise->spec;
  if (const auto* winograd = std::get_if<kernels::ConvWinogradChoice>(&choice)) return &winograd->spec;
  if (const auto* amx = std::get_if<kernels::ConvAmxChoice>(&choice)) return &amx->spec;
  return nullptr;
}

TileChoice tile_choice_of(const KernelChoice& choice) {
  TileChoice result{.family = kernels::family_name(choice), .tile = {}};
  if (const auto* direct = std::get_if<kernels::ConvDirectChoice>(&choice)) {
    const kernels::ConvTile& tile = direct->tile;
    result.tile = {{"pixels", tile.pixels},
                   {"vectors", tile.vectors},
                   {"rows_outer", tile.rows_outer ? 1 : 0},
                   {"merged_rows", tile.merged_rows}};
  } else if (const auto* depthwise = std::get_if<kernels::ConvDepthwiseChoice>(&choice)) {
    result.tile = {{"pixels", depthwise->tile.pixels}};
  } else if (const auto* winograd = std::get_if<kernels::ConvWinogradChoice>(&choice)) {
    const kernels::WinogradTile& tile = winograd->tile;
    result.tile = {{"m", tile.m}, {"tiles", tile.tiles}, {"vectors", tile.vectors}};
  } else {
    const kernels::AmxTile& tile = std::get<kernels::ConvAmxChoice>(choice).tile;
    result.tile = {{"products", tile.products},
                   {"rows", tile.rows},
                   {"panel_slices", tile.panel_slices},
                   {"streams_weights", tile.streams_weights ? 1 : 0}};
  }
  return result;
}

std::string to_string(const TileChoice& choice) {
  std::string text = choice.family;
  for (const auto& [field, value] : choice.tile) text += fmt::format(" {}={}", field, value);
  return text;
}

std::string tile_key(const ConvSpec& spec, const kernels::ConvPolicy& policy, const targets::Target& target) {
  std::vector<std::string> steps;
  for (const kernels::EpilogueStep& step : spec.epilogue.steps) steps.push_back(text_of(step));
  const std::string phases = spec.phases ? text_of(*spec.phases) : "";
  return fmt::format(
      "{}x{} stride {}x{} dilation {}x{} pad {},{} groups {}{}; {} -> {}{}; steps {}; {}, amx {}; {}",
      spec.kernel_h, spec.kernel_w, spec.stride_h, spec.stride_w, spec.dilation_h, spec.dilation_w,
      spec.pad_top, spec.pad_left, spec.groups, spec.bias ? " bias" : "", text_of(spec.src),
      text_of(spec.dst), phases, steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, " ")),
      policy.winograd ? "winograd" : "no winograd", policy.amx_products, target.name);
}

std::vector<KernelChoice> legal_kernels(const ConvSpec& spec, const targets::Target& target,
                                        const kernels::ConvPolicy& policy) {
  std::vector<KernelChoice> found;
  // The halo of every other family does not depend on the tile: one legal kernel stands for all of them.
  for (const KernelChoice& best : kernels::conv_candidates(spec, target, policy)) {
    if (std::holds_alternative<kernels::ConvDepthwiseChoice>(best))
      append(found, spec, kernels::conv_depthwise_tiles(spec, target),
             [](const auto& s, const auto& tile) { return kernels::ConvDepthwiseChoice{s, tile}; });
    if (std::holds_alternative<kernels::ConvDirectChoice>(best))
      append(found, spec, kernels::conv_direct_tiles(spec, target),
             [](const auto& s, const auto& tile) { return kernels::ConvDirectChoice{s, tile}; });
    if (std::holds_alternative<kernels::ConvAmxChoice>(best))
      append(found, spec, kernels::conv_amx_tiles(spec, policy.amx_products, target),
             [](const auto& s, const auto& tile) { return kernels::ConvAmxChoice{s, tile}; });
  }
  const bool depthwise = kernels::conv_depthwise_supports(spec, target);
  if (!depthwise && policy.winograd && kernels::conv_winograd_supports(spec, target))
    append_winograd(found, spec, target);
  return found;
}

KernelChoice kernel_for(const TileQuestion& question, const TileChoice& choice,
                        const targets::Target& target) {
  const std::vector<KernelChoice> legal =
      legal_kernels(*conv_spec_in(question.kernel), target, question.policy);
  const auto found = std::find_if(legal.begin(), legal.end(), [&](const KernelChoice& kernel) {
    return tile_choice_of(kernel) == choice;
  });
  if (found != legal.end()) return *found;
  throw Error(
      {.code = "bad_choices",
       .message = fmt::format("no kernel '{}' for the convolution '{}'", to_string(choice), question.key),
       .accepted = fmt::format("one of {} kernels, the fastest by estimate '{}'", legal.size(),
                               legal.empty() ? "" : to_string(tile_choice_of(legal.front()))),
       .hint = "write the file again with --tune"});
}

}  // namespace onepass::plan

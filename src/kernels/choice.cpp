// SPDX-License-Identifier: Apache-2.0
#include "kernels/choice.h"

#include "base/diagnostic.h"

namespace onepass::kernels {

namespace {

template <class... Lambdas>
struct Overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <class... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

template <class Choice>
constexpr bool is_conv =
    std::is_same_v<Choice, ConvDirectChoice> || std::is_same_v<Choice, ConvDepthwiseChoice> ||
    std::is_same_v<Choice, ConvWinogradChoice>;

/// Predicted time in cycles inside a network: weights that do not fit half of L2 come from memory again in
/// every run.
double cycles(const Estimate& e, const targets::Target& target) {
  const auto bytes = static_cast<double>(e.weight_bytes);
  const bool stays = e.weight_bytes <= target.l2_bytes / 2;
  const double stream_ns = bytes / (stays ? target.l2_bytes_per_ns : target.memory_bytes_per_ns);
  return std::max(e.executed_flops / target.flops_per_cycle / e.efficiency, stream_ns * target.clock_ghz);
}

/// The Winograd tile that beats direct sums on blocked maps of these extents, if any.
std::optional<WinogradTile> better_winograd(const ConvSpec& spec, const targets::Target& target,
                                            const ConvPolicy& policy) {
  constexpr double k_clear_win = 0.9;  // transforms cost more than the model's mean when caches are cold
  if (!policy.winograd || !conv_winograd_supports(spec, target)) return std::nullopt;
  const WinogradTile tile = conv_winograd_tiles(spec, target).front();
  const double direct =
      cycles(estimate_conv_direct(spec, conv_direct_tiles(spec, target).front(), target), target);
  const double winograd = cycles(estimate_conv_winograd(spec, tile, target), target);
  return winograd < k_clear_win * direct ? std::optional(tile) : std::nullopt;
}

bool covers(const Halo& have, const Halo& need) {
  return widest(have, need) == have;
}

}  // namespace

const char* family_name(const KernelChoice& choice) {
  constexpr const char* k_names[] = {"conv_direct", "conv_depthwise", "conv_winograd", "pool",
                                     "elementwise", "layout",         "upsample"};
  return k_names[choice.index()];
}

loops::LoopNest build(const std::string& name, const KernelChoice& choice, const targets::Target& target) {
  return std::visit(
      Overloaded{[&](const ConvDirectChoice& c) { return conv_direct(name, c.spec, c.tile, target); },
                 [&](const ConvDepthwiseChoice& c) { return conv_depthwise(name, c.spec, c.tile, target); },
                 [&](const ConvWinogradChoice& c) { return conv_winograd(name, c.spec, c.tile, target); },
                 [&](const PoolSpec& spec) { return pool(name, spec, target); },
                 [&](const ElementwiseSpec& spec) { return elementwise(name, spec, target); },
                 [&](const LayoutSpec& spec) { return layout(name, spec, target); },
                 [&](const UpsampleSpec& spec) { return upsample(name, spec, target); }},
      choice);
}

Estimate estimate(const KernelChoice& choice, const targets::Target& target) {
  return std::visit(
      Overloaded{
          [&](const ConvDirectChoice& c) { return estimate_conv_direct(c.spec, c.tile, target); },
          [&](const ConvDepthwiseChoice& c) { return estimate_conv_depthwise(c.spec, c.tile, target); },
          [&](const ConvWinogradChoice& c) { return estimate_conv_winograd(c.spec, c.tile, target); },
          [&](const PoolSpec& spec) { return estimate_pool(spec); },
          [&](const ElementwiseSpec& spec) { return estimate_elementwise(spec); },
          [&](const LayoutSpec& spec) { return estimate_layout(spec); },
          [&](const UpsampleSpec& spec) { return estimate_upsample(spec); }},
      choice);
}

const FeatureMap& src_of(const KernelChoice& choice) {
  return std::visit(
      [](const auto& c) -> const FeatureMap& {
        if constexpr (is_conv<std::decay_t<decltype(c)>>) {
          return c.spec.src;
        } else {
          return c.src;
        }
      },
      choice);
}

const FeatureMap& dst_of(const KernelChoice& choice) {
  return std::visit(
      [](const auto& c) -> const FeatureMap& {
        if constexpr (is_conv<std::decay_t<decltype(c)>>) {
          return c.spec.dst;
        } else {
          return c.dst;
        }
      },
      choice);
}

Epilogue* epilogue_of(KernelChoice& choice) {
  return std::visit(Overloaded{[](ConvDirectChoice& c) { return &c.spec.epilogue; },
                               [](ConvDepthwiseChoice& c) { return &c.spec.epilogue; },
                               [](ConvWinogradChoice& c) { return &c.spec.epilogue; },
                               [](PoolSpec& spec) { return &spec.epilogue; },
                               [](ElementwiseSpec& spec) { return &spec.epilogue; },
                               [](LayoutSpec&) -> Epilogue* { return nullptr; },
                               [](UpsampleSpec&) -> Epilogue* { return nullptr; }},
                    choice);
}

KernelChoice choose_conv(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy) {
  if (conv_depthwise_supports(spec, target))
    return ConvDepthwiseChoice{spec, conv_depthwise_tiles(spec, target).front()};
  const auto winograd = better_winograd(spec, target, policy);
  if (winograd && covers(spec.src.halo, winograd_halo(spec, *winograd)))
    return ConvWinogradChoice{spec, *winograd};
  require(conv_direct_supports(spec, target), "a convolution kernel supports the convolution");
  return ConvDirectChoice{spec, conv_direct_tiles(spec, target).front()};
}

Halo preferred_halo(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy) {
  const auto winograd = better_winograd(spec, target, policy);
  return winograd ? winograd_halo(spec, *winograd) : required_halo(spec);
}

std::vector<float> pack_weights(const KernelChoice& choice, const targets::Target& target,
                                std::span<const float> weights) {
  if (const auto* direct = std::get_if<ConvDirectChoice>(&choice))
    return pack_conv_direct(direct->spec, direct->tile, target, weights);
  if (const auto* winograd = std::get_if<ConvWinogradChoice>(&choice))
    return pack_conv_winograd(winograd->spec, winograd->tile, target, weights);
  return pack_conv_depthwise(std::get<ConvDepthwiseChoice>(choice).spec, target, weights);
}

}  // namespace onepass::kernels

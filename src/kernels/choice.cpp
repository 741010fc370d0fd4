// SPDX-License-Identifier: Apache-2.0
#include "kernels/choice.h"

#include <algorithm>

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
    std::is_same_v<Choice, ConvWinogradChoice> || std::is_same_v<Choice, ConvAmxChoice>;

/// Predicted time in cycles inside a network: weights that do not fit half of L2 come from memory again in
/// every run.
double cycles(const Estimate& e, const targets::Target& target) {
  const auto bytes = static_cast<double>(e.weight_bytes);
  const bool stays = e.weight_bytes <= target.l2_bytes / 2;
  const double stream_ns = bytes / (stays ? target.l2_bytes_per_ns : target.memory_bytes_per_ns);
  return std::max(e.executed_flops / target.flops_per_cycle / e.efficiency, stream_ns * target.clock_ghz);
}

/// A kernel and its predicted time.
struct Candidate {
  double cycles;
  KernelChoice choice;
};

/// Transforms and tile products cost more than the model's mean when caches are cold: they must win clearly.
constexpr double k_clear_win = 0.9;

/// Every algorithm that may compute `spec` on maps of these extents, whatever their halo; fastest first.
std::vector<Candidate> candidates(const ConvSpec& spec, const targets::Target& target,
                                  const ConvPolicy& policy) {
  std::vector<Candidate> found;
  const auto add = [&](KernelChoice choice, double factor) {
    const double predicted = cycles(estimate(choice, target), target);
    found.push_back({predicted / factor, std::move(choice)});
  };
  if (conv_depthwise_supports(spec, target))
    add(ConvDepthwiseChoice{spec, conv_depthwise_tiles(spec, target).front()}, 1);
  else if (conv_direct_supports(spec, target))
    add(ConvDirectChoice{spec, conv_direct_tiles(spec, target).front()}, 1);
  if (policy.winograd && conv_winograd_supports(spec, target))
    add(ConvWinogradChoice{spec, conv_winograd_tiles(spec, target).front()}, k_clear_win);
  if (policy.amx_products > 0 && conv_amx_supports(spec, target))
    add(ConvAmxChoice{spec, conv_amx_tiles(spec, policy.amx_products, target).front()}, k_clear_win);
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
  return found;
}

/// What a convolution kernel reads around its source.
Halo halo_of(const KernelChoice& choice) {
  if (const auto* winograd = std::get_if<ConvWinogradChoice>(&choice))
    return winograd_halo(winograd->spec, winograd->tile);
  if (std::holds_alternative<ConvAmxChoice>(choice)) return {};
  if (const auto* depthwise = std::get_if<ConvDepthwiseChoice>(&choice))
    return required_halo(depthwise->spec);
  const ConvSpec& spec = std::get<ConvDirectChoice>(choice).spec;
  const bool stages = spec.src.block == 1 && spec.groups == 1;  // brings its own padding
  return stages ? Halo{} : required_halo(spec);
}

bool covers(const Halo& have, const Halo& need) {
  return widest(have, need) == have;
}

}  // namespace

const char* family_name(const KernelChoice& choice) {
  constexpr const char* k_names[] = {"conv_direct", "conv_depthwise", "conv_winograd", "conv_amx",
                                     "pool",        "elementwise",    "layout",        "upsample",
                                     "softmax",     "resize_linear",  "transpose",     "matrix_product"};
  return k_names[choice.index()];
}

loops::LoopNest build(const std::string& name, const KernelChoice& choice, const targets::Target& target) {
  return std::visit(
      Overloaded{[&](const ConvDirectChoice& c) { return conv_direct(name, c.spec, c.tile, target); },
                 [&](const ConvDepthwiseChoice& c) { return conv_depthwise(name, c.spec, c.tile, target); },
                 [&](const ConvWinogradChoice& c) { return conv_winograd(name, c.spec, c.tile, target); },
                 [&](const ConvAmxChoice& c) { return conv_amx(name, c.spec, c.tile, target); },
                 [&](const PoolSpec& spec) { return pool(name, spec, target); },
                 [&](const ElementwiseSpec& spec) { return elementwise(name, spec, target); },
                 [&](const LayoutSpec& spec) { return layout(name, spec, target); },
                 [&](const UpsampleSpec& spec) { return upsample(name, spec, target); },
                 [&](const SoftmaxSpec& spec) { return softmax(name, spec, target); },
                 [&](const LinearResizeSpec& spec) { return resize_linear(name, spec, target); },
                 [&](const TransposeSpec& spec) { return transpose(name, spec, target); },
                 [&](const MatrixProductSpec& spec) { return matrix_product(name, spec, target); }},
      choice);
}

Estimate estimate(const KernelChoice& choice, const targets::Target& target) {
  return std::visit(
      Overloaded{
          [&](const ConvDirectChoice& c) { return estimate_conv_direct(c.spec, c.tile, target); },
          [&](const ConvDepthwiseChoice& c) { return estimate_conv_depthwise(c.spec, c.tile, target); },
          [&](const ConvWinogradChoice& c) { return estimate_conv_winograd(c.spec, c.tile, target); },
          [&](const ConvAmxChoice& c) { return estimate_conv_amx(c.spec, c.tile, target); },
          [&](const PoolSpec& spec) { return estimate_pool(spec); },
          [&](const ElementwiseSpec& spec) { return estimate_elementwise(spec); },
          [&](const LayoutSpec& spec) { return estimate_layout(spec); },
          [&](const UpsampleSpec& spec) { return estimate_upsample(spec); },
          [&](const SoftmaxSpec& spec) { return estimate_softmax(spec); },
          [&](const LinearResizeSpec& spec) { return estimate_resize_linear(spec); },
          [&](const TransposeSpec& spec) { return estimate_transpose(spec); },
          [&](const MatrixProductSpec& spec) { return estimate_matrix_product(spec, target); }},
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
          return destination(c.spec);
        } else {
          return c.dst;
        }
      },
      choice);
}

void set_src(KernelChoice& choice, const FeatureMap& map) {
  const_cast<FeatureMap&>(src_of(choice)) = map;
}

void set_dst(KernelChoice& choice, const FeatureMap& map) {
  const_cast<FeatureMap&>(dst_of(choice)) = map;
}

Epilogue* epilogue_of(KernelChoice& choice) {
  return std::visit(Overloaded{[](ConvDirectChoice& c) { return &c.spec.epilogue; },
                               [](ConvDepthwiseChoice& c) { return &c.spec.epilogue; },
                               [](ConvWinogradChoice& c) { return &c.spec.epilogue; },
                               [](ConvAmxChoice& c) { return &c.spec.epilogue; },
                               [](PoolSpec& spec) { return &spec.epilogue; },
                               [](ElementwiseSpec& spec) { return &spec.epilogue; },
                               [](LayoutSpec&) -> Epilogue* { return nullptr; },
                               [](UpsampleSpec&) -> Epilogue* { return nullptr; },
                               [](SoftmaxSpec&) -> Epilogue* { return nullptr; },
                               [](LinearResizeSpec&) -> Epilogue* { return nullptr; },
                               [](TransposeSpec&) -> Epilogue* { return nullptr; },
                               [](MatrixProductSpec& spec) { return &spec.epilogue; }},
                    choice);
}

std::vector<KernelChoice> conv_candidates(const ConvSpec& spec, const targets::Target& target,
                                          const ConvPolicy& policy) {
  std::vector<KernelChoice> choices;
  for (Candidate& candidate : candidates(spec, target, policy)) {
    if (covers(spec.src.halo, halo_of(candidate.choice))) choices.push_back(std::move(candidate.choice));
  }
  return choices;
}

KernelChoice choose_conv(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy) {
  std::vector<KernelChoice> choices = conv_candidates(spec, target, policy);
  require(!choices.empty(), "a convolution kernel supports the convolution");
  return std::move(choices.front());
}

Halo preferred_halo(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy) {
  const std::vector<Candidate> found = candidates(spec, target, policy);
  return found.empty() ? required_halo(spec) : halo_of(found.front().choice);
}

std::vector<float> pack_weights(const KernelChoice& choice, const targets::Target& target,
                                std::span<const float> weights) {
  if (const auto* direct = std::get_if<ConvDirectChoice>(&choice))
    return pack_conv_direct(direct->spec, direct->tile, target, weights);
  if (const auto* winograd = std::get_if<ConvWinogradChoice>(&choice))
    return pack_conv_winograd(winograd->spec, winograd->tile, target, weights);
  if (const auto* amx = std::get_if<ConvAmxChoice>(&choice))
    return pack_conv_amx(amx->spec, amx->tile, target, weights);
  return pack_conv_depthwise(std::get<ConvDepthwiseChoice>(choice).spec, target, weights);
}

}  // namespace onepass::kernels

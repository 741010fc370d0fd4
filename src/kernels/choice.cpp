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
constexpr bool is_conv = std::is_same_v<Choice, ConvDirectChoice> || std::is_same_v<Choice, ConvDepthwiseChoice>;

}  // namespace

const char* family_name(const KernelChoice& choice) {
  constexpr const char* k_names[] = {"conv_direct", "conv_depthwise", "pool", "elementwise", "layout", "upsample"};
  return k_names[choice.index()];
}

loops::LoopNest build(const std::string& name, const KernelChoice& choice, const targets::Target& target) {
  return std::visit(
      Overloaded{[&](const ConvDirectChoice& c) { return conv_direct(name, c.spec, c.tile, target); },
                 [&](const ConvDepthwiseChoice& c) { return conv_depthwise(name, c.spec, c.tile, target); },
                 [&](const PoolSpec& spec) { return pool(name, spec, target); },
                 [&](const ElementwiseSpec& spec) { return elementwise(name, spec, target); },
                 [&](const LayoutSpec& spec) { return layout(name, spec, target); },
                 [&](const UpsampleSpec& spec) { return upsample(name, spec, target); }},
      choice);
}

Estimate estimate(const KernelChoice& choice, const targets::Target& target) {
  return std::visit(Overloaded{[&](const ConvDirectChoice& c) { return estimate_conv_direct(c.spec, c.tile, target); },
                               [&](const ConvDepthwiseChoice& c) { return estimate_conv_depthwise(c.spec, c.tile, target); },
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
                               [](PoolSpec& spec) { return &spec.epilogue; },
                               [](ElementwiseSpec& spec) { return &spec.epilogue; },
                               [](LayoutSpec&) -> Epilogue* { return nullptr; },
                               [](UpsampleSpec&) -> Epilogue* { return nullptr; }},
                    choice);
}

KernelChoice choose_conv(const ConvSpec& spec, const targets::Target& target) {
  if (conv_depthwise_supports(spec, target))
    return ConvDepthwiseChoice{spec, conv_depthwise_tiles(spec, target).front()};
  require(conv_direct_supports(spec, target), "a convolution kernel supports the convolution");
  return ConvDirectChoice{spec, conv_direct_tiles(spec, target).front()};
}

std::vector<float> pack_weights(const KernelChoice& choice, const targets::Target& target, std::span<const float> weights) {
  if (const auto* direct = std::get_if<ConvDirectChoice>(&choice))
    return pack_conv_direct(direct->spec, direct->tile, target, weights);
  return pack_conv_depthwise(std::get<ConvDepthwiseChoice>(choice).spec, target, weights);
}

}  // namespace onepass::kernels

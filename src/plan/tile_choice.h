// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/choice.h"

namespace onepass::plan {

/// The family and tile of a convolution kernel by name, without its shapes.
struct TileChoice {
  std::string family;                   ///< "conv_direct", ...
  std::map<std::string, int64_t> tile;  ///< the fields of the family's tile
  bool operator==(const TileChoice&) const = default;
};

/// Choices to take instead of the model's, by the key of the convolution.
using TileTable = std::map<std::string, TileChoice>;

/// A convolution or matrix product that stands in a plan: what its kernel is, and under which policy another
/// may take its place.
struct TileQuestion {
  std::string key;
  kernels::KernelChoice kernel;
  kernels::ConvPolicy policy;
};

/// Null when `choice` is no convolution kernel.
const kernels::ConvSpec* conv_spec_in(const kernels::KernelChoice& choice);
TileChoice tile_choice_of(const kernels::KernelChoice& choice);
/// "conv_direct merged_rows=1 pixels=14 ...".
std::string to_string(const TileChoice& choice);

/// Shapes, layouts, steps, policy and target in words: convolutions with the same key have the same kernels.
std::string tile_key(const kernels::ConvSpec& spec, const kernels::ConvPolicy& policy,
                     const targets::Target& target);

/// Every kernel for `spec` under `policy` whose halo the source has, each family's best first. Winograd tiles
/// are no larger than the one that the error budget was taken on.
std::vector<kernels::KernelChoice> legal_kernels(const kernels::ConvSpec& spec, const targets::Target& target,
                                                 const kernels::ConvPolicy& policy);

/// The kernel that `choice` names for the question. Throws Error("bad_choices") when it is not a legal one.
kernels::KernelChoice kernel_for(const TileQuestion& question, const TileChoice& choice,
                                 const targets::Target& target);

}  // namespace onepass::plan

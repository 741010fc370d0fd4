// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/builder.h"

namespace onepass::zoo {

using Activation = ValueId (Builder::*)(ValueId x, const std::string& name);

struct SqueezeExcite {
  int64_t squeeze;  ///< channels between the two 1x1 convolutions
  Activation inner, gate;
};

/// Weighs each channel by a number computed from the means of all.
ValueId squeeze_excite(Builder& net, ValueId x, const std::string& prefix, const SqueezeExcite& shape);

}  // namespace onepass::zoo

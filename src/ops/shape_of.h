// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ops/meaning.h"

namespace onepass::ops {

/// What a Shape node yields for an input of type `type`; nullopt when that includes a data-dependent extent.
std::optional<ir::Tensor> shape_value(const ir::Node& node, const ir::TensorType& type);

}  // namespace onepass::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::verify {

/// wrong_choice for NonMaxSuppression.
std::string wrong_boxes(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                        const ir::Tensor& choice, double tolerance);

}  // namespace onepass::verify

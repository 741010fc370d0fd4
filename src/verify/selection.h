// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::verify {

/// Operators whose result is a choice among their inputs: NonMaxSuppression, TopK and ArgMax. A difference in
/// rounding may flip the choice between two that are as good.
bool is_selection(ir::Op op);
/// How many of the first inputs are compared: boxes and scores, or the scores alone.
int compared_inputs(ir::Op op);
/// Which output holds the choice.
int choice_output(ir::Op op);

/// Whether `node` may choose `choice` from `inputs` when each comparison of two scores, of a score with its
/// threshold, or of an intersection over union with its threshold may go either way within `tolerance`.
/// Empty: it may, so that a different choice is a tie. Otherwise: what is wrong with it.
std::string wrong_choice(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                         const ir::Tensor& choice, double tolerance);

/// The outputs of `node` for that choice.
std::vector<ir::Tensor> outputs_for(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                                    const ir::Tensor& choice);

}  // namespace onepass::verify

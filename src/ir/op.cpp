// SPDX-License-Identifier: Apache-2.0
#include "ir/op.h"

#include <cstddef>

namespace onepass::ir {

namespace {

constexpr OpInfo k_ops[] = {
#define ONEPASS_OP(op, kind, min_inputs, max_inputs, min_outputs, max_outputs) \
  {Op::op, #op, OpKind::kind, min_inputs, max_inputs, min_outputs, max_outputs},
#include "ir/ops.def"
#undef ONEPASS_OP
// Clip carries its bounds as inputs 1 and 2.
#define ONEPASS_ACTIVATION(op, ...) {Op::op, #op, OpKind::pointwise, 1, Op::op == Op::Clip ? 3 : 1, 1, 1},
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
};

}  // namespace

const OpInfo& info(Op op) {
  return k_ops[static_cast<size_t>(op)];
}

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& row : k_ops)
    if (name == row.name) return row.op;
  return std::nullopt;
}

}  // namespace onepass::ir

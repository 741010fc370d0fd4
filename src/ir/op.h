// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace onepass::ir {

/// Every operator of ops.def and activations.def.
enum class Op : uint8_t {
#define ONEPASS_OP(op, ...) op,
#include "ir/ops.def"
#undef ONEPASS_OP
#define ONEPASS_ACTIVATION(op, ...) op,
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
};

enum class OpKind : uint8_t { anchor, pointwise, broadcast, injective, reduction, opaque };

struct OpInfo {
  Op op;
  const char* name;  ///< ONNX operator
  OpKind kind;
  int min_inputs, max_inputs;    ///< max -1: no limit
  int min_outputs, max_outputs;  ///< max -1: no limit
};

const OpInfo& info(Op op);
inline const char* name(Op op) {
  return info(op).name;
}
std::optional<Op> op_from_name(std::string_view name);

}  // namespace onepass::ir

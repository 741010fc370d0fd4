// SPDX-License-Identifier: Apache-2.0
#include "ops/meaning.h"

#include <fmt/format.h>

#include "ops/meanings.h"

namespace onepass::ops {

namespace {

constexpr const Meaning* k_meanings[] = {
#define ONEPASS_OP(op, ...) &k_meaning_##op,
#include "ir/ops.def"
#undef ONEPASS_OP
#define ONEPASS_ACTIVATION(op, ...) &k_meaning_##op,
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
};

}  // namespace

const Meaning& meaning(ir::Op op) {
  const auto index = static_cast<size_t>(op);
  require(index < std::size(k_meanings), "the operator is one of ops.def or activations.def");
  return *k_meanings[index];
}

}  // namespace onepass::ops

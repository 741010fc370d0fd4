// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/meaning.h"

namespace onepass::ops {

// One constant per operator, defined in the file of its family: a missing one is a link error.
#define ONEPASS_OP(op, ...) extern const Meaning k_meaning_##op;
#include "ir/ops.def"
#undef ONEPASS_OP
#define ONEPASS_ACTIVATION(op, ...) extern const Meaning k_meaning_##op;
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION

}  // namespace onepass::ops

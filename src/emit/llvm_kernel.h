// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/Module.h>

#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::emit {

/// Adds the function of `nest` to `module`: registers are SSA values, unrolled loops are expanded.
void add_kernel(llvm::Module& module, const loops::LoopNest& nest, const targets::Target& target);

}  // namespace onepass::emit

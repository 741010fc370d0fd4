// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "targets/target.h"

namespace onepass::emit {

/// LLVM's description of `target`. Throws InternalError when this LLVM does not know it.
const llvm::Target& llvm_target(const targets::Target& target);

/// Strict floating point, position-independent code, a section per function.
std::unique_ptr<llvm::TargetMachine> target_machine(const targets::Target& target);

}  // namespace onepass::emit

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace onepass {

/// What one launch hands to a kernel or a plain routine. Operands are addresses in the order of the kernel's
/// buffers; `scratch` is private to the calling thread, 64-byte aligned; `params` belongs to plain routines.
struct Call {
  void* const* operands;
  void* scratch;
  const int64_t* params;
  int32_t* status;  ///< may be null; a plain routine stores an onepass_status here, nothing on success
};

/// Computes slices [slice_begin, slice_end) of a launch. Slices write disjoint memory and may run on any
/// thread in any order.
using KernelFunction = void (*)(const Call* call, int64_t slice_begin, int64_t slice_end);

/// Kernels that run in turn (base/stripes.h), and operands of each: the stack holds as many.
constexpr int k_most_stripe_members = 8;
constexpr int k_most_stripe_operands = 24;

}  // namespace onepass

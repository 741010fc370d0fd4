// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/kernel_table.h"
#include "plan/plan.h"

// Maps of early layers are larger than L2, so that a launch writes to L3 what the next one reads from there.
// Such launches become one that runs in stripes: some rows of the first, then as many of the next as these
// allow, and so on. What they hand to each other are rows in the thread's scratch, which stay in L2; the maps
// themselves never exist (Alwani et al., "Fused-layer CNN accelerators", MICRO 2016, sections III and IV).
// The kernels are the same, so are the bits of the results.
namespace onepass::plan {

/// Replaces runs of launches by one, where
///   S1  the slices of each are rows of a map of one picture
///   S2  each but the first reads as its source what another of them writes
///   S3  and nothing else of theirs
///   S4  its source and result are a large part of L2, and so is what it reads of the others
///   S5  their weights together leave room in L2
///   S6  nobody else reads what they hand to each other: no other launch, no output, no map that it lies in
///   S7  their maps do not fit L2 together, and a stripe of some rows does
void run_in_stripes(Plan& plan, KernelTable& kernels);

}  // namespace onepass::plan

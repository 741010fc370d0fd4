// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace onepass::inside {

/// True for models without tiles. Otherwise asks the operating system for leave to use tile data, which Linux
/// gives to a process that asks, and which holds for all its threads (arch_prctl(2), ARCH_REQ_XCOMP_PERM).
/// Asking again is harmless: one system call per run.
bool may_use_tiles(const char* target);

}  // namespace onepass::inside

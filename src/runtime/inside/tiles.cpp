// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/tiles.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace onepass::inside {

bool may_use_tiles(const char* target) {
  if (strstr(target, "+amx") == nullptr) return true;
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long k_request_permission = 0x1023, k_tile_data = 18;
  return syscall(SYS_arch_prctl, k_request_permission, k_tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace onepass::inside

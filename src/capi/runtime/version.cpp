// SPDX-License-Identifier: Apache-2.0
#include "onepass/runtime.h"

const char* onepass_version(void) {
  return ONEPASS_VERSION;
}

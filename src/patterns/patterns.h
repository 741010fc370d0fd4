// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/join.h"
#include "patterns/pattern.h"

namespace onepass::patterns {

/// One function for each row of catalogue.def: the pattern of that name.
#define ONEPASS_REWRITE(name) RewritePattern name();
#define ONEPASS_JOIN(name) JoinPattern name();
#include "patterns/catalogue.def"
#undef ONEPASS_REWRITE
#undef ONEPASS_JOIN

}  // namespace onepass::patterns

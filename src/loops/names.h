// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loops/nest.h"

namespace onepass::loops {

const char* name(Scalar scalar);
const char* name(Unary op);
const char* name(Binary op);
const char* name(Compare compare);  ///< "lt"
const char* sign(Compare compare);  ///< "<"
const char* name(IntOp op);

}  // namespace onepass::loops

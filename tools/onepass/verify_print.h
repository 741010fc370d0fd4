// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "verify/verify.h"

namespace onepass::tool {

void print_text(const std::string& model, const verify::Frames& frames, const verify::VerifyReport& report);
void print_json(const std::string& model, const verify::Frames& frames, const verify::VerifyReport& report);

}  // namespace onepass::tool

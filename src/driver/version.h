// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace onepass::driver {

inline constexpr const char* k_version = "0.1.0";

}  // namespace onepass::driver

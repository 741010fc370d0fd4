// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "inputs.h"

namespace onepass::tool {

/// NumPy's .npz: an uncompressed zip archive with NAME.npy for each tensor ('/' in names becomes '_').
std::string npz_bytes(const std::vector<NamedTensor>& tensors);

}  // namespace onepass::tool

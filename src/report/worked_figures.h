// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace onepass::report {

/// The figures that are quoted for what fusion saves, recomputed from their shapes: values and passes of a
/// feature map, its size in half and single precision, and the time that the saved bytes stand for at
/// `bytes_per_ns`.
std::string worked_figures(double bytes_per_ns);

}  // namespace onepass::report

// SPDX-License-Identifier: Apache-2.0
#include "ops/broadcast.h"

#include <algorithm>

namespace onepass::ops {

ir::Shape broadcast_strides(const ir::Shape& shape, const ir::Shape& dst) {
  ir::Shape strides = ir::row_major_strides(shape);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1) strides[axis] = 0;
  strides.insert(strides.begin(), dst.size() - shape.size(), 0);
  return strides;
}

Walk merged(const Walk& walk) {
  Walk result{{}, std::vector<ir::Shape>(walk.strides.size())};
  for (size_t axis = 0; axis < walk.extents.size(); ++axis) {
    if (walk.extents[axis] == 1) continue;
    const bool alike = !result.extents.empty() &&
                       std::all_of(walk.strides.begin(), walk.strides.end(), [&](const ir::Shape& strides) {
                         const size_t operand = static_cast<size_t>(&strides - walk.strides.data());
                         return result.strides[operand].back() == strides[axis] * walk.extents[axis];
                       });
    if (alike)
      result.extents.back() *= walk.extents[axis];
    else
      result.extents.push_back(walk.extents[axis]);
    for (size_t k = 0; k < walk.strides.size(); ++k) {
      if (alike)
        result.strides[k].back() = walk.strides[k][axis];
      else
        result.strides[k].push_back(walk.strides[k][axis]);
    }
  }
  if (!result.extents.empty()) return result;
  result.extents = {1};
  for (ir::Shape& strides : result.strides) strides = {1};
  return result;
}

}  // namespace onepass::ops

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "runtime/inside/routine.h"

namespace onepass::inside {

/// A window over d h w: plan/routine_call writes leading axes of extent 1 for maps with fewer axes.
struct Window {
  const int64_t *src, *kernel, *strides, *dilations, *pads, *dst;

  int64_t src_plane() const { return src[0] * src[1] * src[2]; }
  int64_t dst_plane() const { return dst[0] * dst[1] * dst[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

inline Window take_window(Params& params) {
  Window window{};
  for (const int64_t** field :
       {&window.src, &window.kernel, &window.strides, &window.dilations, &window.pads, &window.dst})
    *field = params.take(3);
  return window;
}

/// a / b rounded up, for b > 0.
inline int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

}  // namespace onepass::inside

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/conv.h"

namespace onepass::kernels::test {

/// The definition, in double; source values outside the image are zero.
inline std::vector<float> reference(const ConvSpec& p, std::span<const float> x, std::span<const float> w,
                                    std::span<const float> bias) {
  const int64_t cg = p.src.c / p.groups, kg = p.dst.c / p.groups;
  std::vector<float> y;
  for (int64_t n = 0; n < p.dst.n; ++n)
    for (int64_t k = 0; k < p.dst.c; ++k)
      for (int64_t oy = 0; oy < p.dst.h; ++oy)
        for (int64_t ox = 0; ox < p.dst.w; ++ox) {
          double sum = bias.empty() ? 0 : bias[k];
          for (int64_t c = 0; c < cg; ++c)
            for (int64_t kh = 0; kh < p.kernel_h; ++kh)
              for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
                const int64_t iy = oy * p.stride_h - p.pad_top + kh * p.dilation_h;
                const int64_t ix = ox * p.stride_w - p.pad_left + kw * p.dilation_w;
                if (iy < 0 || iy >= p.src.h || ix < 0 || ix >= p.src.w) continue;
                sum +=
                    static_cast<double>(x[((n * p.src.c + k / kg * cg + c) * p.src.h + iy) * p.src.w + ix]) *
                    w[((k * cg + c) * p.kernel_h + kh) * p.kernel_w + kw];
              }
          y.push_back(static_cast<float>(sum));
        }
  return y;
}

}  // namespace onepass::kernels::test

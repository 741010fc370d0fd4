// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/routines.h"
#include "runtime/inside/row_walk.h"

namespace onepass::inside {

namespace {

template <class E>
void where(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const RowWalk<3> walk = take_row_walk<3>(params);
  const bool* condition = src_of<bool>(call, 0);
  const E* yes = src_of<E>(call, 1);
  const E* no = src_of<E>(call, 2);
  E* dst = dst_of<E>(call, 3);
  for_each_stretch(
      walk, units(call, slice_begin, slice_end), [&](const int64_t* offsets, int64_t at, int64_t length) {
        for (int64_t i = 0; i < length; ++i)
          dst[at + i] = condition[offsets[0] + i * walk.step(0)] ? yes[offsets[1] + i * walk.step(1)]
                                                                 : no[offsets[2] + i * walk.step(2)];
      });
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_where_1(const Call* call, int64_t begin, int64_t end) {
  inside::where<uint8_t>(call, begin, end);
}
void onepass_where_4(const Call* call, int64_t begin, int64_t end) {
  inside::where<uint32_t>(call, begin, end);
}
void onepass_where_8(const Call* call, int64_t begin, int64_t end) {
  inside::where<uint64_t>(call, begin, end);
}

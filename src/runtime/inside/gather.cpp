// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

template <class Index>
void gather(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const int64_t extent = params.take();
  const int64_t index_count = params.take();
  const int64_t row_bytes = params.take();
  const char* src = src_of<char>(call, 0);
  const Index* indices = src_of<Index>(call, 1);
  char* dst = dst_of<char>(call, 2);
  const Range range = units(call, slice_begin, slice_end);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    int64_t index = indices[unit % index_count];
    if (index < 0) index += extent;
    const auto bytes = static_cast<size_t>(row_bytes);
    if (index < 0 || index >= extent) {
      report_bad_input(call);
      std::memset(dst + unit * row_bytes, 0, bytes);
      continue;
    }
    std::memcpy(dst + unit * row_bytes, src + (unit / index_count * extent + index) * row_bytes, bytes);
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_gather_i64(const Call* call, int64_t begin, int64_t end) {
  inside::gather<int64_t>(call, begin, end);
}
void onepass_gather_i32(const Call* call, int64_t begin, int64_t end) {
  inside::gather<int32_t>(call, begin, end);
}

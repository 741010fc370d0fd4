// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// A tensor cut along one axis: every one of `outer` rows of the whole is the parts' rows in order.
struct Parts {
  int64_t count;
  int64_t row_bytes;           ///< of the whole
  const int64_t* part_bytes;   ///< [count]
  const int64_t* part_starts;  ///< [count], within a row of the whole

  explicit Parts(const Call* call) {
    Params params(call);
    count = params.take();
    row_bytes = params.take();
    part_bytes = params.take(count);
    part_starts = params.take(count);
  }
};

void copy_bytes(char* dst, const char* src, int64_t bytes) {
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_concat(const Call* call, int64_t begin, int64_t end) {
  const inside::Parts parts(call);
  const inside::Range range = inside::units(call, begin, end);
  char* dst = inside::dst_of<char>(call, parts.count);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const int64_t row = unit / parts.count;
    const int64_t part = unit % parts.count;
    const int64_t bytes = parts.part_bytes[part];
    inside::copy_bytes(dst + row * parts.row_bytes + parts.part_starts[part],
                       inside::src_of<char>(call, part) + row * bytes, bytes);
  }
}

void onepass_split(const Call* call, int64_t begin, int64_t end) {
  const inside::Parts parts(call);
  const inside::Range range = inside::units(call, begin, end);
  const char* src = inside::src_of<char>(call, 0);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const int64_t row = unit / parts.count;
    const int64_t part = unit % parts.count;
    const int64_t bytes = parts.part_bytes[part];
    inside::copy_bytes(inside::dst_of<char>(call, 1 + part) + row * bytes,
                       src + row * parts.row_bytes + parts.part_starts[part], bytes);
  }
}

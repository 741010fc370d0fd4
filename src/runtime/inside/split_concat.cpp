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

/// Rows of which no more than this moves are copied part by part: several of them share a cache line.
constexpr int64_t k_short_row_bytes = 64;

/// Calls body(part, first row, end row) so that every unit of `range` is covered once; unit = row * count +
/// part.
template <class Body>
void for_each_part(const Parts& parts, Range range, Body body) {
  if (range.begin >= range.end) return;
  const int64_t count = parts.count;
  int64_t moved_bytes = 0;
  for (int64_t part = 0; part < count; ++part) moved_bytes += parts.part_bytes[part];
  if (moved_bytes <= k_short_row_bytes) {
    for (int64_t part = 0; part < count; ++part)
      body(part, (range.begin - part + count - 1) / count, (range.end - part + count - 1) / count);
    return;
  }
  int64_t row = range.begin / count;
  int64_t part = range.begin % count;
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    body(part, row, row + 1);
    if (++part < count) continue;
    part = 0;
    ++row;
  }
}

template <int Bytes>
void copy_fixed(char* dst, int64_t dst_step, const char* src, int64_t src_step, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) std::memcpy(dst + row * dst_step, src + row * src_step, Bytes);
}

/// `rows` pieces of `bytes` each; a call for a few elements would take longer than they do.
void copy_pieces(char* dst, int64_t dst_step, const char* src, int64_t src_step, int64_t bytes,
                 int64_t rows) {
  if (bytes == 4) return copy_fixed<4>(dst, dst_step, src, src_step, rows);
  if (bytes == 8) return copy_fixed<8>(dst, dst_step, src, src_step, rows);
  if (bytes == 16) return copy_fixed<16>(dst, dst_step, src, src_step, rows);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(dst + row * dst_step, src + row * src_step, static_cast<size_t>(bytes));
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_concat(const Call* call, int64_t begin, int64_t end) {
  const inside::Parts parts(call);
  char* dst = inside::dst_of<char>(call, parts.count);
  inside::for_each_part(
      parts, inside::units(call, begin, end), [&](int64_t part, int64_t first, int64_t last) {
        const int64_t bytes = parts.part_bytes[part];
        inside::copy_pieces(dst + first * parts.row_bytes + parts.part_starts[part], parts.row_bytes,
                            inside::src_of<char>(call, part) + first * bytes, bytes, bytes, last - first);
      });
}

void onepass_split(const Call* call, int64_t begin, int64_t end) {
  const inside::Parts parts(call);
  const char* src = inside::src_of<char>(call, 0);
  inside::for_each_part(parts, inside::units(call, begin, end),
                        [&](int64_t part, int64_t first, int64_t last) {
                          const int64_t bytes = parts.part_bytes[part];
                          inside::copy_pieces(inside::dst_of<char>(call, 1 + part) + first * bytes, bytes,
                                              src + first * parts.row_bytes + parts.part_starts[part],
                                              parts.row_bytes, bytes, last - first);
                        });
}

void onepass_replace_parts(const Call* call, int64_t begin, int64_t end) {
  const inside::Parts parts(call);
  const inside::Range rows = inside::units(call, begin, end);
  if (rows.begin >= rows.end) return;
  const char* src = inside::src_of<char>(call, 0);
  char* dst = inside::dst_of<char>(call, 1 + parts.count);
  const int64_t first = rows.begin * parts.row_bytes, count = rows.end - rows.begin;
  if (dst != src) std::memcpy(dst + first, src + first, static_cast<size_t>(count * parts.row_bytes));
  for (int64_t part = 0; part < parts.count; ++part) {
    const int64_t bytes = parts.part_bytes[part];
    inside::copy_pieces(dst + first + parts.part_starts[part], parts.row_bytes,
                        inside::src_of<char>(call, 1 + part) + rows.begin * bytes, bytes, bytes, count);
  }
}

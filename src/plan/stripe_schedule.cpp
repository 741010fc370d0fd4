// SPDX-License-Identifier: Apache-2.0
#include "plan/stripe_schedule.h"

#include <algorithm>
#include <numeric>

#include "base/diagnostic.h"
#include "plan/range.h"

namespace onepass::plan {

namespace {

using kernels::RowGroup;

/// Rows that some groups of a member read.
Range rows_read(const StripeRows& consumer, const StripeRows& producer, Range groups) {
  const RowGroup &first = consumer.slices.groups[groups.begin],
                 &last = consumer.slices.groups[groups.end - 1];
  return {consumer.slices.first_source_row(first, producer.dst.h),
          consumer.slices.end_source_row(last, producer.dst.h)};
}

/// Groups that hold the rows. Rows outside the map are written with its first and last one.
Range groups_of(const StripeRows& producer, Range rows) {
  const std::vector<RowGroup>& groups = producer.slices.groups;
  const int64_t begin = std::min(rows.begin, producer.dst.h - 1), end = std::max<int64_t>(rows.end, 1);
  const auto since =
      std::find_if(groups.begin(), groups.end(), [&](const RowGroup& group) { return group.end > begin; });
  const auto until =
      std::find_if(groups.begin(), groups.end(), [&](const RowGroup& group) { return group.done >= end; });
  require(since != groups.end() && until != groups.end(), "groups cover the rows of a map");
  return {since - groups.begin(), until - groups.begin() + 1};
}

/// Rows of which each whole number is cache lines, so that any of them may be the first in memory.
int64_t aligned_rows(const kernels::FeatureMap& map) {
  constexpr int64_t k_line_bytes = 64;
  return k_line_bytes / std::gcd(map.row_stride * loops::element_bytes(map.scalar), k_line_bytes);
}

void append(StripeTable& table, const StripeRows& member, Range groups) {
  const kernels::FeatureMap& map = member.dst;
  const RowGroup &first = member.slices.groups[groups.begin], &last = member.slices.groups[groups.end - 1];
  const int64_t top = first.begin == 0 ? 0 : first.begin + map.halo.top, unit = aligned_rows(map);
  const int64_t below = last.end == map.h ? map.halo.bottom : 0;
  table.since.push_back(static_cast<int32_t>(groups.begin));
  table.until.push_back(static_cast<int32_t>(groups.end));
  table.first_row.push_back(static_cast<int32_t>(top / unit * unit));
  table.end_row.push_back(static_cast<int32_t>(last.end + map.halo.top + below));
}

}  // namespace

int64_t StripeTable::most_rows() const {
  int64_t most = 0;
  for (size_t s = 0; s < first_row.size(); ++s) most = std::max<int64_t>(most, end_row[s] - first_row[s]);
  return most;
}

std::vector<StripeTable> schedule(const std::vector<StripeRows>& members,
                                  const std::vector<StripeLink>& links, int64_t step) {
  std::vector<StripeTable> tables(members.size());
  const auto final_groups = static_cast<int64_t>(members.back().slices.groups.size());
  for (int64_t begin = 0; begin < final_groups; begin += step) {
    std::vector<Range> needed(members.size());
    needed.back() = {begin, std::min(begin + step, final_groups)};
    for (size_t m = members.size() - 1; m-- > 0;) {
      Range all{static_cast<int64_t>(members[m].slices.groups.size()), 0};
      for (const StripeLink& link : links) {
        if (link.producer != static_cast<int32_t>(m)) continue;
        const Range rows = rows_read(members[link.consumer], members[m], needed[link.consumer]);
        const Range groups = groups_of(members[m], rows);
        all = {std::min(all.begin, groups.begin), std::max(all.end, groups.end)};
      }
      require(all.begin < all.end, "every member but the last has a consumer");
      needed[m] = all;
    }
    for (size_t m = 0; m < members.size(); ++m) append(tables[m], members[m], needed[m]);
  }
  return tables;
}

}  // namespace onepass::plan

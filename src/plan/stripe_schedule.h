// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/feature_map.h"
#include "kernels/row_slices.h"

namespace onepass::plan {

/// `consumer` reads as its source what `producer` writes.
struct StripeLink {
  int32_t consumer = 0, producer = 0;
};

/// One member of a schedule: where its slices lie, and the map that it writes.
struct StripeRows {
  kernels::RowSlices slices;
  kernels::FeatureMap dst;
};

/// What a member does in each stripe, as in StripeMember.
struct StripeTable {
  std::vector<int32_t> since, until, first_row, end_row;

  int64_t most_rows() const;  ///< that memory holds at a time
};

/// Cuts the groups of the last member into stripes of `step` and finds what the others must have computed for
/// each. Links lead from later members to earlier ones; every member but the last has a consumer.
std::vector<StripeTable> schedule(const std::vector<StripeRows>& members,
                                  const std::vector<StripeLink>& links, int64_t step);

}  // namespace onepass::plan

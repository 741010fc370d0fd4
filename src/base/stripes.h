// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace onepass {

/// Rows of a map that lives in the thread's scratch while stripes run, one plane of rows after another.
struct HeldMap {
  int64_t offset_bytes = 0;  ///< in scratch
  int64_t row_bytes = 0, plane_bytes = 0;
  int64_t planes = 0;  ///< 0: the result is an operand of the launch
};

struct StripeOperand {
  bool held = false;
  int32_t index = 0;  ///< of the member whose result it is, or of the operand of the launch
};

/// A kernel that computes some rows of its result in each stripe. Slice (o * groups + g) * repeat + r with
/// o < outer, r < repeat belongs to group g.
struct StripeMember {
  std::string symbol;
  int64_t outer = 1, groups = 1, repeat = 1;
  std::vector<StripeOperand> operands;
  HeldMap held;
  /// By stripe: groups [since, until) are those that it needs, rows [first_row, end_row) of the held map,
  /// counted with its halo, those that memory holds when they are computed.
  std::vector<int32_t> since, until, first_row, end_row;
};

/// Kernels that run in turn, stripe by stripe of the last one's rows: the slices of one launch. A stripe
/// needs no other; behind the one before it, on the same thread, it keeps the rows that both need.
struct Stripes {
  std::vector<StripeMember> members;  ///< k_most_stripe_members at most, in execution order
  int64_t held_bytes = 0;             ///< of scratch; the members' own scratch lies behind
};

}  // namespace onepass

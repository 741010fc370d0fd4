// SPDX-License-Identifier: Apache-2.0
//
// Kernels in turn, stripe by stripe (base/stripes.h). Held maps lie in scratch: a kernel is given the address
// that the first row of the whole map would have, so that the rows of the stripe lie where memory is.
#include <cstring>

#include "artefact/format.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

using artefact::HeldMapRecord;
using artefact::StripeMemberRecord;
using artefact::StripesRecord;

char* held_memory(const Call* call, const HeldMapRecord& map) {
  return static_cast<char*>(call->scratch) + map.offset_bytes;
}

/// Rows that the stripe before has computed and this one needs move to the front.
void keep_rows(const Call* call, const StripeMemberRecord& member, int64_t stripe) {
  const HeldMapRecord& map = member.held;
  const int64_t moved = member.first_row[stripe] - member.first_row[stripe - 1];
  const int64_t kept = member.end_row[stripe - 1] - member.first_row[stripe];
  if (moved == 0 || kept <= 0) return;
  char* plane = held_memory(call, map);
  for (int64_t p = 0; p < map.planes; ++p, plane += map.plane_bytes)
    std::memmove(plane, plane + moved * map.row_bytes, static_cast<size_t>(kept * map.row_bytes));
}

void* address(const Call* call, const StripesRecord& stripes, int32_t operand, int64_t stripe) {
  if (operand >= 0) return call->operands[operand];
  const StripeMemberRecord& producer = stripes.members[~operand];
  return held_memory(call, producer.held) - producer.first_row[stripe] * producer.held.row_bytes;
}

/// Groups of `member` that the stripe needs; `goes_on`: without those of the stripe before.
void run_groups(const Call* call, const StripesRecord& stripes, const StripeMemberRecord& member,
                int64_t stripe, bool goes_on) {
  const int64_t until = member.until[stripe];
  int64_t since = member.since[stripe];
  if (goes_on && member.until[stripe - 1] > since) since = member.until[stripe - 1];
  if (since >= until) return;
  void* operands[k_most_stripe_operands];
  for (int64_t i = 0; i < member.operand_count; ++i)
    operands[i] = address(call, stripes, member.operands[i], stripe);
  const Call inner{.operands = operands,
                   .scratch = static_cast<char*>(call->scratch) + stripes.held_bytes,
                   .params = nullptr,
                   .status = call->status};
  for (int64_t o = 0; o < member.outer; ++o)
    member.function(&inner, (o * member.groups + since) * member.repeat,
                    (o * member.groups + until) * member.repeat);
}

}  // namespace

}  // namespace onepass::inside

void onepass_stripes(const onepass::Call* call, int64_t begin, int64_t end) {
  using namespace onepass::inside;
  const auto& stripes = *reinterpret_cast<const onepass::artefact::StripesRecord*>(call->params);
  for (int64_t stripe = begin; stripe < end; ++stripe)
    for (int64_t m = 0; m < stripes.member_count; ++m) {
      const auto& member = stripes.members[m];
      if (stripe > begin && member.held.planes > 0) keep_rows(call, member, stripe);
      run_groups(call, stripes, member, stripe, stripe > begin);
    }
}

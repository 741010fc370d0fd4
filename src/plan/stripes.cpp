// SPDX-License-Identifier: Apache-2.0
#include "plan/stripes.h"

#include <algorithm>

#include "base/kernel_abi.h"
#include "plan/cost.h"
#include "plan/stripe_schedule.h"

namespace onepass::plan {

namespace {

// Shares of L2: what a launch's maps and what it reads of the others must fill (S4), what all weights may
// (S5), what all maps must exceed and one stripe may fill (S7). Longer runs than k_most_members lose more by
// the rows that each member must be ahead of the next than their maps cost.
constexpr double k_large_maps = 0.5, k_large_link = 0.4, k_most_weights = 0.25, k_fits = 0.75, k_stripe = 0.5;
constexpr size_t k_most_members = 4;
constexpr int64_t k_least_rows = 4;  ///< of a stripe
/// Threads share stripes: few of them, or an odd number, would leave cores idle.
constexpr int64_t k_least_stripes = 4, k_even_stripes = 2;
static_assert(k_most_members <= k_most_stripe_members);

/// Launches [first, first + members.size()) that may become one.
struct Run {
  int32_t first = 0;
  std::vector<const Launch*> members;
  std::vector<StripeLink> links;
  int64_t weight_bytes = 0;
};

int32_t result_of(const Launch& launch) {
  return launch.writes.front();
}

/// The member whose result `launch` reads as its source; nothing when S2 or S3 do not hold.
std::optional<int32_t> producer_of(const Run& run, const Launch& launch) {
  std::optional<int32_t> found;
  for (size_t operand = 0; operand < launch.reads.size(); ++operand)
    for (size_t m = 0; m < run.members.size(); ++m) {
      if (result_of(*run.members[m]) != launch.reads[operand]) continue;
      if (operand > 0) return std::nullopt;
      found = static_cast<int32_t>(m);
    }
  return found;
}

bool is_large(const Plan& plan, const Launch& launch, bool first) {
  const int64_t src = plan.buffers[launch.reads.front()].size_bytes,
                dst = plan.buffers[result_of(launch)].size_bytes;
  const auto l2 = static_cast<double>(plan.target->l2_bytes);
  return static_cast<double>(src + dst) >= k_large_maps * l2 &&
         (first || static_cast<double>(src) >= k_large_link * l2);
}

/// Adds `launch` to the run if S1 to S5 hold.
bool extend(const Plan& plan, Run& run, const Launch& launch) {
  if (!launch.choice || !launch.members.empty() || launch.operands.size() > k_most_stripe_operands)
    return false;
  if (!kernels::row_slices(*launch.choice, *plan.target)) return false;
  if (!is_large(plan, launch, run.members.empty())) return false;
  const int64_t weight_bytes = run.weight_bytes + launch.estimate.weight_bytes;
  if (static_cast<double>(weight_bytes) > k_most_weights * static_cast<double>(plan.target->l2_bytes))
    return false;
  const auto producer = producer_of(run, launch);
  if (!run.members.empty() && !producer) return false;
  if (producer) run.links.push_back({static_cast<int32_t>(run.members.size()), *producer});
  run.members.push_back(&launch);
  run.weight_bytes = weight_bytes;
  return true;
}

/// S6 for the result of member `m` of a run of the first `count` members.
bool stays_inside(const Plan& plan, const Run& run, size_t m, size_t count) {
  const int32_t buffer = result_of(*run.members[m]);
  const Buffer& b = plan.buffers[buffer];
  if (b.space != BufferSpace::arena || !b.map || b.inside >= 0 || b.map->offset != 0) return false;
  const auto is_part = [&](const Buffer& other) {
    return other.inside == buffer ||
           std::any_of(other.parts.begin(), other.parts.end(),
                       [&](const BufferPart& part) { return part.buffer == buffer; });
  };
  if (std::any_of(plan.buffers.begin(), plan.buffers.end(), is_part)) return false;
  for (int32_t l = 0; l < static_cast<int32_t>(plan.launches.size()); ++l) {
    const Launch& launch = plan.launches[l];
    const bool reads = std::count(launch.reads.begin(), launch.reads.end(), buffer) > 0;
    const bool writes = std::count(launch.writes.begin(), launch.writes.end(), buffer) > 0;
    const bool member = l >= run.first && l < run.first + static_cast<int32_t>(count);
    if ((reads && !member) || (writes && l != run.first + static_cast<int32_t>(m))) return false;
  }
  return true;
}

void shorten(Run& run, size_t count) {
  while (run.members.size() > count) {
    run.weight_bytes -= run.members.back()->estimate.weight_bytes;
    run.members.pop_back();
  }
  std::erase_if(run.links,
                [&](const StripeLink& link) { return link.consumer >= static_cast<int32_t>(count); });
}

/// The longest run of `most` members from `first` on for which S1 to S6 hold.
Run run_from(const Plan& plan, int32_t first, size_t most) {
  Run run{.first = first, .members = {}, .links = {}, .weight_bytes = 0};
  for (auto l = static_cast<size_t>(first); l < plan.launches.size() && run.members.size() < most; ++l)
    if (!extend(plan, run, plan.launches[l])) break;
  for (bool shortened = true; shortened;) {
    shortened = false;
    for (size_t m = 0; m + 1 < run.members.size() && !shortened; ++m) {
      if (stays_inside(plan, run, m, run.members.size())) continue;
      shorten(run, m + 1);
      shortened = true;
    }
  }
  return run;
}

/// A run with everything that its launch is made of.
struct Striped {
  std::vector<kernels::KernelChoice> kernels;
  std::vector<StripeTable> tables;
  int64_t held_bytes = 0;
};

int64_t map_bytes(const kernels::FeatureMap& map) {
  return map.blocks() * map.plane_stride * loops::element_bytes(map.scalar);
}

/// The kernels with groups of rows that fit stripes of so many rows of the last one, and what each does.
Striped cut(const Plan& plan, const Run& run, int64_t final_rows) {
  Striped result;
  const int64_t last_h = kernels::dst_of(*run.members.back()->choice).h;
  std::vector<StripeRows> rows;
  for (const Launch* member : run.members) {
    const int64_t h = kernels::dst_of(*member->choice).h;
    const int64_t own_rows = std::max<int64_t>(1, final_rows * h / last_h);
    result.kernels.push_back(kernels::with_rows(*member->choice, own_rows, *plan.target));
    rows.push_back({kernels::row_slices(result.kernels.back(), *plan.target).value(),
                    kernels::dst_of(result.kernels.back())});
  }
  const kernels::RowSlices& last = rows.back().slices;
  const int64_t group_rows =
      (last_h + static_cast<int64_t>(last.groups.size()) - 1) / static_cast<int64_t>(last.groups.size());
  result.tables = schedule(rows, run.links, std::max<int64_t>(1, final_rows / group_rows));
  for (size_t m = 0; m + 1 < rows.size(); ++m)
    result.held_bytes += map_bytes(held_map(rows[m].dst, result.tables[m].most_rows()));
  return result;
}

/// Bytes that one stripe touches.
double stripe_bytes(const Plan& plan, const Run& run, const Striped& striped) {
  int64_t outer_bytes = plan.buffers[result_of(*run.members.back())].size_bytes;
  for (const Launch* member : run.members)
    for (const int32_t read : member->reads) {
      const bool held = std::any_of(run.members.begin(), run.members.end(),
                                    [&](const Launch* other) { return result_of(*other) == read; });
      if (!held && plan.buffers[read].space != BufferSpace::weights)
        outer_bytes += plan.buffers[read].size_bytes;
    }
  const auto stripes = static_cast<double>(striped.tables.back().since.size());
  return static_cast<double>(striped.held_bytes + run.weight_bytes) +
         static_cast<double>(outer_bytes) / stripes;
}

/// S7: the largest stripes that stay in L2.
std::optional<Striped> cut_to_fit(const Plan& plan, const Run& run) {
  if (run.members.size() < 2) return std::nullopt;
  const auto l2 = static_cast<double>(plan.target->l2_bytes);
  int64_t all_bytes = plan.buffers[run.members.front()->reads.front()].size_bytes;
  for (const Launch* member : run.members) all_bytes += plan.buffers[result_of(*member)].size_bytes;
  if (static_cast<double>(all_bytes) <= k_fits * l2) return std::nullopt;
  const int64_t rows = kernels::dst_of(*run.members.back()->choice).h;
  for (int64_t stripes = k_least_stripes; rows / stripes >= k_least_rows; stripes += k_even_stripes) {
    Striped striped = cut(plan, run, (rows + stripes - 1) / stripes);
    if (stripe_bytes(plan, run, striped) <= k_stripe * l2) return striped;
  }
  return std::nullopt;
}

/// Replaces the maps that members hand to each other by held ones.
void hold_maps(const Run& run, Striped& striped) {
  for (size_t m = 0; m + 1 < run.members.size(); ++m) {
    const kernels::FeatureMap map =
        held_map(kernels::dst_of(striped.kernels[m]), striped.tables[m].most_rows());
    kernels::set_dst(striped.kernels[m], map);
    for (const StripeLink& link : run.links)
      if (link.producer == static_cast<int32_t>(m)) kernels::set_src(striped.kernels[link.consumer], map);
  }
}

/// The number of `buffer` among the operands of the launch; adds it.
int32_t operand_number(Launch& launch, int32_t buffer, bool written) {
  const auto found = std::find(launch.operands.begin(), launch.operands.end(), buffer);
  if (found != launch.operands.end()) return static_cast<int32_t>(found - launch.operands.begin());
  launch.operands.push_back(buffer);
  (written ? launch.writes : launch.reads).push_back(buffer);
  return static_cast<int32_t>(launch.operands.size()) - 1;
}

StripeMember member_of(const Run& run, size_t m, Striped& striped, Launch& launch, const targets::Target& t) {
  const Launch& own = *run.members[m];
  const kernels::RowSlices slices = kernels::row_slices(striped.kernels[m], t).value();
  StripeMember member{.symbol = launch.members[m].symbol,
                      .outer = slices.outer,
                      .groups = static_cast<int64_t>(slices.groups.size()),
                      .repeat = slices.repeat,
                      .operands = {},
                      .held = {},
                      .since = striped.tables[m].since,
                      .until = striped.tables[m].until,
                      .first_row = striped.tables[m].first_row,
                      .end_row = striped.tables[m].end_row};
  for (const int32_t buffer : own.operands) {
    const auto producer = std::find_if(run.members.begin(), run.members.end() - 1,
                                       [&](const Launch* other) { return result_of(*other) == buffer; });
    if (producer != run.members.end() - 1)
      member.operands.push_back({true, static_cast<int32_t>(producer - run.members.begin())});
    else
      member.operands.push_back({false, operand_number(launch, buffer, buffer == result_of(own))});
  }
  if (m + 1 == run.members.size()) return member;
  const kernels::FeatureMap& map = kernels::dst_of(striped.kernels[m]);
  const int64_t element_bytes = loops::element_bytes(map.scalar);
  member.held = {.offset_bytes = launch.stripes.held_bytes,
                 .row_bytes = map.row_stride * element_bytes,
                 .plane_bytes = map.plane_stride * element_bytes,
                 .planes = map.blocks()};
  launch.stripes.held_bytes += (map_bytes(map) + 63) / 64 * 64;
  return member;
}

/// Work adds up; of the maps, only those that others see are read and written.
kernels::Estimate estimate_of(const Plan& plan, const Launch& launch) {
  kernels::Estimate sum{.bytes_read = 0};
  double at_peak = 0;
  for (const Launch& member : launch.members) {
    const kernels::Estimate& e = member.estimate;
    sum.flops += e.flops;
    sum.executed_flops += e.executed_flops;
    sum.pointwise_flops += e.pointwise_flops;
    sum.weight_bytes += e.weight_bytes;
    sum.l2_bytes += e.l2_bytes + e.bytes_read;
    at_peak += e.executed_flops / std::max(0.01, e.efficiency);
  }
  for (const int32_t buffer : launch.reads)
    if (plan.buffers[buffer].space != BufferSpace::weights) sum.bytes_read += plan.buffers[buffer].size_bytes;
  sum.bytes_written = plan.buffers[result_of(launch)].size_bytes;
  sum.efficiency = sum.executed_flops / std::max(1.0, at_peak);
  return sum;
}

Launch launch_of(Plan& plan, KernelTable& table, const Run& run, Striped striped) {
  const targets::Target& target = *plan.target;
  hold_maps(run, striped);
  Launch launch{.symbol = "onepass_stripes", .family = "stripes", .group = run.members.back()->group};
  int64_t scratch_bytes = 0;
  for (size_t m = 0; m < run.members.size(); ++m) {
    const KernelTable::Entry& kernel = table.entry(striped.kernels[m], target);
    scratch_bytes = std::max(scratch_bytes, kernel.scratch_bytes);
    Launch member = *run.members[m];
    member.symbol = kernel.symbol;
    member.choice = striped.kernels[m];
    launch.name += (m == 0 ? "" : " + ") + member.name;
    launch.members.push_back(std::move(member));
  }
  for (size_t m = 0; m < run.members.size(); ++m)
    launch.stripes.members.push_back(member_of(run, m, striped, launch, target));
  launch.slices = static_cast<int64_t>(striped.tables.back().since.size());
  launch.estimate = estimate_of(plan, launch);
  launch.predicted_ns = predict_ns(launch.estimate, target);
  plan.scratch_bytes = std::max(plan.scratch_bytes, launch.stripes.held_bytes + scratch_bytes);
  return launch;
}

}  // namespace

void run_in_stripes(Plan& plan, KernelTable& kernels) {
  for (int32_t first = 0; first < static_cast<int32_t>(plan.launches.size()); ++first) {
    Run run = run_from(plan, first, k_most_members);
    std::optional<Striped> striped = cut_to_fit(plan, run);
    while (!striped && run.members.size() > 2) {
      run = run_from(plan, first, run.members.size() - 1);
      striped = cut_to_fit(plan, run);
    }
    if (!striped) continue;
    Launch launch = launch_of(plan, kernels, run, std::move(*striped));
    const auto at = plan.launches.begin() + first;
    plan.launches.erase(at + 1, at + static_cast<int64_t>(run.members.size()));
    plan.launches[first] = std::move(launch);
  }
}

}  // namespace onepass::plan

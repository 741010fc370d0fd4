// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/memory.h"

namespace onepass::plan {

namespace {

/// What the arena holds, byte range by byte range: start -> (end, buffer whose contents lie there).
class Arena {
 public:
  void write(int64_t begin, int64_t end, int32_t buffer) {
    forget(begin, end);
    ranges_[begin] = {end, buffer};
  }

  bool holds(int64_t begin, int64_t end, int32_t buffer) const {
    const auto found = ranges_.find(begin);
    return found != ranges_.end() && found->second.first == end && found->second.second == buffer;
  }

 private:
  /// A range that is partly overwritten holds nothing any more.
  void forget(int64_t begin, int64_t end) {
    for (auto range = ranges_.begin(); range != ranges_.end();)
      range = range->first < end && begin < range->second.first ? ranges_.erase(range) : std::next(range);
  }

  std::map<int64_t, std::pair<int64_t, int32_t>> ranges_;
};

[[noreturn]] void fault(const Launch& launch, const Buffer& buffer, const char* what) {
  throw InternalError(
      fmt::format("memory plan: launch '{}': buffer '{}' {}", launch.name, buffer.name, what));
}

void check_bounds(const Plan& plan, const Launch& launch, const Buffer& buffer) {
  const bool sized =
      buffer.size_bytes >= 0 &&
      (buffer.space == BufferSpace::input || buffer.space == BufferSpace::output || buffer.offset_bytes >= 0);
  if (!sized) fault(launch, buffer, "has no place");
  if (buffer.space == BufferSpace::arena && buffer.offset_bytes + buffer.size_bytes > plan.arena_bytes)
    fault(launch, buffer, "leaves the arena");
  if (buffer.space == BufferSpace::weights &&
      buffer.offset_bytes + buffer.size_bytes > static_cast<int64_t>(plan.weights.size()))
    fault(launch, buffer, "leaves the weights");
}

/// The launch may write `dst` over `read`: it says so itself, and reads that operand in one role.
bool takes_over(const Launch& launch, const Plan& plan, const Buffer& dst, int32_t read) {
  const auto& allowed = launch.may_take_over;
  return dst.shares == read && dst.offset_bytes == plan.buffers[read].offset_bytes &&
         std::count(allowed.begin(), allowed.end(), read) > 0 &&
         std::count(launch.reads.begin(), launch.reads.end(), read) == 1;
}

/// Destinations of one launch lie apart from each other and, unless the launch may take them over, from what
/// it reads.
void check_launch_overlap(const Plan& plan, const Launch& launch) {
  const auto overlap = [](const Buffer& a, const Buffer& b) {
    return a.space == BufferSpace::arena && b.space == BufferSpace::arena &&
           a.offset_bytes < b.offset_bytes + b.size_bytes && b.offset_bytes < a.offset_bytes + a.size_bytes;
  };
  for (size_t w = 0; w < launch.writes.size(); ++w) {
    const Buffer& dst = plan.buffers[launch.writes[w]];
    for (size_t other = w + 1; other < launch.writes.size(); ++other)
      if (overlap(dst, plan.buffers[launch.writes[other]]))
        fault(launch, dst, "overlaps another destination");
    for (int32_t read : launch.reads) {
      if (read == launch.writes[w] || !overlap(dst, plan.buffers[read])) continue;
      if (!takes_over(launch, plan, dst, read)) fault(launch, dst, "overlaps what the launch reads");
    }
  }
}

}  // namespace

void check_memory(const Plan& plan) {
  Arena arena;
  std::vector<bool> written(plan.buffers.size(), false);
  for (const Launch& launch : plan.launches) {
    for (int32_t read : launch.reads) {
      const Buffer& buffer = plan.buffers[read];
      check_bounds(plan, launch, buffer);
      if (buffer.space == BufferSpace::output && !written[read])
        fault(launch, buffer, "is read before it is written");
      if (buffer.space == BufferSpace::arena &&
          !arena.holds(buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes, read))
        fault(launch, buffer, "is read but does not hold its value");
    }
    check_launch_overlap(plan, launch);
    for (int32_t write : launch.writes) {
      const Buffer& buffer = plan.buffers[write];
      check_bounds(plan, launch, buffer);
      if (buffer.space == BufferSpace::input || buffer.space == BufferSpace::weights)
        fault(launch, buffer, "is written");
      if (buffer.space == BufferSpace::arena)
        arena.write(buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes, write);
      written[write] = true;
    }
  }
  for (const Count& count : plan.counts) {
    const Buffer& slot = plan.buffers[count.buffer];
    if (!arena.holds(slot.offset_bytes, slot.offset_bytes + slot.size_bytes, count.buffer))
      throw InternalError(
          fmt::format("memory plan: buffer '{}', the count of output {}, does not survive the run", slot.name,
                      count.output));
  }
}

}  // namespace onepass::plan

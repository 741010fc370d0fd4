// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan/memory.h"

namespace onepass::plan {

namespace {

/// What the arena, or an output, holds, byte range by byte range: start -> (end, whose contents lie there,
/// from which of its bytes on). Contents are those of buffers that launches write.
class Arena {
 public:
  void write(int64_t begin, int64_t end, int32_t buffer) {
    forget(begin, end);
    if (begin < end) ranges_[begin] = {end, buffer, 0};
  }

  /// Bytes [begin, end) hold those of `buffer` from `from` on.
  bool holds(int64_t begin, int64_t end, int32_t buffer, int64_t from) const {
    auto found = ranges_.upper_bound(begin);
    if (found == ranges_.begin()) return begin == end;
    for (--found; begin < end; ++found) {
      if (found == ranges_.end() || found->first > begin || found->second.end <= begin) return false;
      const Range& range = found->second;
      if (range.buffer != buffer || range.from + (begin - found->first) != from) return false;
      from += range.end - begin;
      begin = range.end;
    }
    return true;
  }

 private:
  struct Range {
    int64_t end;
    int32_t buffer;
    int64_t from;
  };

  /// What is overwritten in part keeps the rest.
  void forget(int64_t begin, int64_t end) {
    auto range = ranges_.lower_bound(begin);
    if (range != ranges_.begin()) --range;
    while (range != ranges_.end() && range->first < end) {
      const auto [first, old] = *range;
      if (old.end <= begin) {
        ++range;
        continue;
      }
      range = ranges_.erase(range);
      if (first < begin) ranges_[first] = {begin, old.buffer, old.from};
      if (end < old.end) ranges_[end] = {old.end, old.buffer, old.from + (end - first)};
    }
  }

  std::map<int64_t, Range> ranges_;
};

/// The arena and the outputs.
class Memory {
 public:
  /// Null for what launches do not write.
  Arena* of(const Buffer& buffer) {
    if (buffer.space == BufferSpace::arena) return &arena_;
    return buffer.space == BufferSpace::output ? &outputs_[buffer.index] : nullptr;
  }

 private:
  Arena arena_;
  std::map<int32_t, Arena> outputs_;
};

/// Where a buffer of the arena or an output starts in it.
int64_t start_of(const Buffer& buffer) {
  return buffer.space == BufferSpace::output && buffer.inside < 0 ? 0 : buffer.offset_bytes;
}

bool same_memory(const Buffer& a, const Buffer& b) {
  if (a.space != b.space) return false;
  return a.space == BufferSpace::arena || (a.space == BufferSpace::output && a.index == b.index);
}

[[noreturn]] void fault(const Launch& launch, const Buffer& buffer, const char* what) {
  throw InternalError(
      fmt::format("memory plan: launch '{}': buffer '{}' {}", launch.name, buffer.name, what));
}

void check_bounds(const Plan& plan, const Launch& launch, const Buffer& buffer) {
  const bool sized = buffer.size_bytes >= 0 &&
                     (buffer.space == BufferSpace::input ||
                      (buffer.space == BufferSpace::output && buffer.inside < 0) || buffer.offset_bytes >= 0);
  if (!sized) fault(launch, buffer, "has no place");
  if (buffer.space == BufferSpace::arena && buffer.offset_bytes + buffer.size_bytes > plan.arena_bytes)
    fault(launch, buffer, "leaves the arena");
  if (buffer.space == BufferSpace::weights &&
      buffer.offset_bytes + buffer.size_bytes > static_cast<int64_t>(plan.weights.size()))
    fault(launch, buffer, "leaves the weights");
}

/// Planes of a part lie as those of what it is part of, and it starts with one of them.
bool same_planes(const Buffer& whole, const Buffer& part, const BufferPart& at) {
  if (!whole.map || !part.map) return true;
  const kernels::FeatureMap &a = *whole.map, &b = *part.map;
  const int64_t plane_bytes = a.plane_stride * loops::element_bytes(a.scalar);
  return a.n == 1 && b.n == 1 && a.h == b.h && a.w == b.w && a.block == b.block && a.scalar == b.scalar &&
         a.halo == b.halo && a.row_stride == b.row_stride && a.plane_stride == b.plane_stride &&
         at.at_bytes % plane_bytes == 0 && at.from_bytes % plane_bytes == 0;
}

/// A buffer that is made of others is covered by them without a gap; one that lies inside another stays
/// there.
void check_parts(const Plan& plan, const Launch& launch, const Buffer& buffer) {
  if (buffer.inside >= 0) {
    const Buffer& outer = plan.buffers.at(buffer.inside);
    const bool within = same_memory(buffer, outer) && outer.inside < 0 && start_of(outer) >= 0 &&
                        buffer.offset_bytes >= start_of(outer) &&
                        buffer.offset_bytes + buffer.size_bytes <= start_of(outer) + outer.size_bytes;
    if (!within) fault(launch, buffer, "leaves the buffer that it lies in");
  }
  int64_t covered = 0;
  for (const BufferPart& part : buffer.parts) {
    const Buffer& from = plan.buffers.at(part.buffer);
    const bool fits = part.at_bytes == covered && part.from_bytes >= 0 && part.size_bytes > 0 &&
                      part.from_bytes + part.size_bytes <= from.size_bytes;
    if (!fits) fault(launch, buffer, "is not covered by its parts");
    if (!same_planes(buffer, from, part)) fault(launch, buffer, "has a part that lies otherwise");
    covered += part.size_bytes;
  }
  if (!buffer.parts.empty() && covered != buffer.size_bytes)
    fault(launch, buffer, "is not covered by its parts");
}

/// Bytes [from, from + size) of a buffer, as they should lie at `place`.
struct Expected {
  int32_t buffer;
  int64_t from_bytes, size_bytes, place_bytes;
};

/// What launches wrote as `wanted`, or as its parts and theirs, lies where it is read.
void check_contents(const Plan& plan, const Launch& launch, const Arena& arena, const Expected& wanted) {
  std::vector<Expected> open = {wanted};
  for (size_t steps = 0; !open.empty(); ++steps) {
    const Expected e = open.back();
    open.pop_back();
    const Buffer& buffer = plan.buffers[e.buffer];
    check_parts(plan, launch, buffer);
    const int64_t end_bytes = e.from_bytes + e.size_bytes;
    for (const BufferPart& part : buffer.parts) {
      const int64_t first = std::max(e.from_bytes, part.at_bytes),
                    last = std::min(end_bytes, part.at_bytes + part.size_bytes);
      if (first < last)
        open.push_back({part.buffer, part.from_bytes + first - part.at_bytes, last - first,
                        e.place_bytes + first - e.from_bytes});
    }
    const bool written_here =
        arena.holds(e.place_bytes, e.place_bytes + e.size_bytes, e.buffer, e.from_bytes);
    if (buffer.parts.empty() && !written_here)
      fault(launch, plan.buffers[wanted.buffer], "is read but does not hold its value");
    // No part is visited twice on the way to what was written, unless a buffer is part of itself.
    if (steps > plan.buffers.size() * plan.buffers.size())
      fault(launch, plan.buffers[wanted.buffer], "is part of itself");
  }
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
    return same_memory(a, b) && start_of(a) < start_of(b) + b.size_bytes &&
           start_of(b) < start_of(a) + a.size_bytes;
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
  Memory memory;
  const auto check_held = [&](const Launch& reader, int32_t read) {
    const Buffer& buffer = plan.buffers[read];
    check_bounds(plan, reader, buffer);
    if (const Arena* held = memory.of(buffer))
      check_contents(plan, reader, *held, {read, 0, buffer.size_bytes, start_of(buffer)});
  };
  for (const Launch& launch : plan.launches) {
    for (int32_t read : launch.reads) check_held(launch, read);
    check_launch_overlap(plan, launch);
    for (int32_t write : launch.writes) {
      const Buffer& buffer = plan.buffers[write];
      check_bounds(plan, launch, buffer);
      Arena* const to = memory.of(buffer);
      if (to == nullptr) fault(launch, buffer, "is written");
      check_parts(plan, launch, buffer);
      if (!buffer.parts.empty()) fault(launch, buffer, "is written, but made of others");
      to->write(start_of(buffer), start_of(buffer) + buffer.size_bytes, write);
    }
  }
  for (const Count& count : plan.counts) {
    const Buffer& slot = plan.buffers[count.buffer];
    if (!memory.of(slot)->holds(slot.offset_bytes, slot.offset_bytes + slot.size_bytes, count.buffer, 0))
      throw InternalError(
          fmt::format("memory plan: buffer '{}', the count of output {}, does not survive the run", slot.name,
                      count.output));
  }
  for (int32_t output : plan.outputs) check_held({.name = "the end of the run"}, output);
}

}  // namespace onepass::plan

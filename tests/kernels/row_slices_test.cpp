// SPDX-License-Identifier: Apache-2.0
//
// The groups of slices that row_slices declares: with the source rows that they need, and no others, they
// leave the rows that they declare, and touch no others.
#include "kernels/row_slices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/support.h"
#include "loops/interpreter.h"

namespace onepass::kernels::test {
namespace {

std::vector<float> random_weights(const KernelChoice& choice, const targets::Target& target) {
  const ConvSpec* spec = nullptr;
  std::visit(
      [&](const auto& c) {
        if constexpr (requires { c.spec; }) spec = &c.spec;
      },
      choice);
  if (spec == nullptr) return {};
  const int64_t count = spec->dst.c * spec->src.c / spec->groups * spec->kernel_h * spec->kernel_w;
  return pack_weights(choice, target, random_values(count, 5));
}

/// Runs the groups [begin, end) on `src` and returns dst, NaN where nothing was written.
std::vector<float> run_groups(const KernelChoice& choice, const targets::Target& target,
                              std::vector<float> src, int64_t begin, int64_t end) {
  const RowSlices slices = row_slices(choice, target).value();
  const loops::LoopNest nest = build("kernel", choice, target);
  std::vector<float> weights = random_weights(choice, target), dst = empty_map(dst_of(choice));
  std::vector<std::span<std::byte>> operands = {std::as_writable_bytes(std::span(src))};
  if (!weights.empty()) operands.push_back(std::as_writable_bytes(std::span(weights)));
  operands.push_back(std::as_writable_bytes(std::span(dst)));
  const auto groups = static_cast<int64_t>(slices.groups.size());
  EXPECT_EQ(slices.outer * groups * slices.repeat, nest.slices);
  for (int64_t o = 0; o < slices.outer; ++o)
    loops::interpret(nest, operands, (o * groups + begin) * slices.repeat,
                     (o * groups + end) * slices.repeat);
  return dst;
}

/// `memory` with NaN in all rows of the map but [begin, end) and its halo.
std::vector<float> only_rows(std::vector<float> memory, const FeatureMap& map, int64_t begin, int64_t end) {
  for (int64_t block = 0; block < map.blocks(); ++block)
    for (int64_t y = 0; y < map.h; ++y) {
      if (y >= begin && y < end) continue;
      const int64_t row = map.offset + block * map.plane_stride + (y + map.halo.top) * map.row_stride;
      std::fill_n(memory.begin() + row, map.row_stride, NAN);
    }
  return memory;
}

void expect_rows(const FeatureMap& map, const std::vector<float>& actual, const std::vector<float>& expected,
                 int64_t begin, int64_t end, const std::string& where) {
  const std::vector<float> a = from_map(map, actual), e = from_map(map, expected);
  for (int64_t c = 0; c < map.c; ++c)
    for (int64_t y = begin; y < end; ++y)
      for (int64_t x = 0; x < map.w; ++x) {
        const int64_t i = (c * map.h + y) * map.w + x;
        ASSERT_EQ(a[i], e[i]) << where << " c " << c << " y " << y << " x " << x;
      }
}

void check(const std::string& label, const KernelChoice& choice, const targets::Target& target) {
  const auto slices = row_slices(choice, target);
  ASSERT_TRUE(slices) << label;
  const FeatureMap &src_map = src_of(choice), &dst_map = dst_of(choice);
  const std::vector<float> src = to_map(src_map, random_values(src_map.values(), 9));
  const auto count = static_cast<int64_t>(slices->groups.size());
  const std::vector<float> whole = run_groups(choice, target, src, 0, count);
  for (int64_t g = 0; g < count; ++g) {
    const std::string where = label + " group " + std::to_string(g);
    const RowGroup& group = slices->groups[g];
    const int64_t first = slices->first_source_row(group, src_map.h),
                  end = slices->end_source_row(group, src_map.h);
    const std::vector<float> before = run_groups(choice, target, src, 0, g + 1);
    expect_rows(dst_map, before, whole, 0, group.done, where);
    const std::vector<float> alone =
        run_groups(choice, target, only_rows(src, src_map, first, end), g, g + 1);
    const bool shares_rows = (g > 0 && slices->groups[g - 1].end > group.begin) ||
                             (g + 1 < count && slices->groups[g + 1].begin < group.end);
    if (!shares_rows) expect_rows(dst_map, alone, whole, group.begin, group.end, where);
    const std::vector<float> values = from_map(dst_map, alone);
    for (int64_t i = 0; i < dst_map.values(); ++i) {
      const int64_t y = i / dst_map.w % dst_map.h;
      if (y < group.begin || y >= group.end)
        ASSERT_TRUE(std::isnan(values[i])) << where << " wrote row " << y;
    }
  }
  EXPECT_EQ(slices->groups.back().done, dst_map.h) << label;
}

ConvSpec conv(const targets::Target& t, int64_t channels, int64_t outputs, int64_t kernel, int64_t stride,
              int64_t groups = 1) {
  const int64_t h = 13, w = 10, pad = kernel / 2, lanes = t.vector_lanes;
  ConvSpec spec{.kernel_h = kernel,
                .kernel_w = kernel,
                .stride_h = stride,
                .stride_w = stride,
                .pad_top = pad,
                .pad_left = pad,
                .groups = groups};
  spec.src = blocked_map(1, channels, h, w, lanes, {pad, pad, pad + 3, pad + 3});
  spec.dst = blocked_map(1, outputs, (h + 2 * pad - kernel) / stride + 1, (w + 2 * pad - kernel) / stride + 1,
                         lanes);
  return spec;
}

class RowSlicesOf : public testing::TestWithParam<const char*> {};

TEST_P(RowSlicesOf, Convolutions) {
  const targets::Target& t = targets::find(GetParam());
  for (const int64_t stride : {1, 2})
    for (const int64_t kernel : {1, 3}) {
      const ConvSpec spec = conv(t, 24, 40, kernel, stride);
      for (const KernelChoice& choice : conv_candidates(spec, t))
        check(std::string(family_name(choice)) + " " + std::to_string(kernel) + "/" + std::to_string(stride),
              choice, t);
    }
  ConvTile tile = conv_direct_tiles(conv(t, 24, 40, 3, 1), t).front();
  for (const bool rows_outer : {true, false}) {
    tile.rows_outer = rows_outer;
    check("rows_outer", ConvDirectChoice{conv(t, 24, 40, 3, 1), tile}, t);
  }
}

TEST_P(RowSlicesOf, DepthwiseAndGroups) {
  const targets::Target& t = targets::find(GetParam());
  for (const int64_t stride : {1, 2}) {
    check("depthwise", conv_candidates(conv(t, 24, 24, 3, stride, 24), t).front(), t);
    check("ragged", conv_candidates(conv(t, 30, 30, 3, stride, 5), t).front(), t);
  }
}

TEST_P(RowSlicesOf, SmallerGroupsOfTheSameWeights) {
  const targets::Target& t = targets::find(GetParam());
  const ConvSpec spec = [&] {
    ConvSpec s = conv(t, 24, 40, 1, 1);
    s.src = blocked_map(1, 24, 12, 10, t.vector_lanes);
    s.dst = blocked_map(1, 40, 12, 10, t.vector_lanes);
    return s;
  }();
  for (const KernelChoice& choice : conv_candidates(spec, t)) {
    const KernelChoice smaller = with_rows(choice, 2, t);
    check(family_name(smaller), smaller, t);
    EXPECT_GE(row_slices(smaller, t)->groups.size(), 6u) << family_name(smaller);
    EXPECT_EQ(random_weights(smaller, t), random_weights(choice, t)) << family_name(smaller);
  }
}

TEST_P(RowSlicesOf, PoolsAndUpsampling) {
  const targets::Target& t = targets::find(GetParam());
  const int64_t lanes = t.vector_lanes, w = 512;
  PoolSpec pool{.src = blocked_map(1, 8, 21, w, lanes),
                .dst = blocked_map(1, 8, 11, w / 2, lanes),
                .kernel_h = 3,
                .kernel_w = 3,
                .stride_h = 2,
                .stride_w = 2,
                .pad_top = 1,
                .pad_left = 1,
                .pad_bottom = 1,
                .pad_right = 1};
  check("pool", pool, t);
  check("upsample", UpsampleSpec{blocked_map(1, 8, 7, w, lanes), blocked_map(1, 8, 21, w * 2, lanes), 3, 2},
        t);
}

INSTANTIATE_TEST_SUITE_P(Classes, RowSlicesOf, testing::Values("x86-64-v3", "x86-64-v4", "x86-64-v4+amx"),
                         [](const auto& each) {
                           std::string name = each.param;
                           for (char& c : name)
                             if (std::isalnum(c) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace onepass::kernels::test

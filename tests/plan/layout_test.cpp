// SPDX-License-Identifier: Apache-2.0
#include "plan/layout.h"

#include <gtest/gtest.h>

#include "plan/grouping.h"
#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::Form;
using plan::Plan;

ir::TensorType f32(ir::Shape dims) {
  return {ir::DType::f32, std::move(dims)};
}

TEST(Layout, BlockedIsPlainForOnePixelOfWholeBlocks) {
  EXPECT_TRUE(plan::blocked_is_plain(f32({1, 16, 1, 1}), plan_target()));
  EXPECT_TRUE(plan::blocked_is_plain(f32({2, 8, 1, 1}), plan_target()));
  EXPECT_TRUE(plan::blocked_is_plain(f32({2, 8}), plan_target()));
  EXPECT_FALSE(plan::blocked_is_plain(f32({1, 12, 1, 1}), plan_target()));
  EXPECT_FALSE(plan::blocked_is_plain(f32({1, 8, 2, 1}), plan_target()));
  EXPECT_FALSE(plan::blocked_is_plain({ir::DType::i64, {1, 8, 1, 1}}, plan_target()));
}

TEST(Layout, EachFamilyWritesItsNativeForm) {
  const ir::Graph graph = typed_graph(R"(
    x = input f32[1,8,6,6]
    w = constant f32[8,8,3,3] random(seed=1)
    v = constant f32[16,4] random(seed=2)
    k = constant f32[8,1,1] random(seed=3)
    scalar = constant f32[] {2.0}
    s = constant i64[1] {0}
    e = constant i64[1] {16}
    a = constant i64[1] {1}
    conv = Conv(x, w)
    pool = MaxPool(conv) {kernel_shape=[2,2]}
    flat = Flatten(pool)
    cut = Slice(flat, s, e, a)
    gemm = MatMul(cut, v)
    near = Relu(pool)
    alone = Relu(x)
    channels = Mul(x, k)
    row = Mul(gemm, scalar)
    output row
    output near
    output alone
    output channels
)");
  const plan::Grouping grouping = plan::group_nodes(graph, plan_target(), {.joins = false});
  const std::vector<Form> forms = plan::native_forms(graph, grouping.groups, plan_target());
  const auto form = [&](const char* name) { return forms[value_named(graph, name).index]; };
  EXPECT_EQ(form("conv"), Form::blocked);
  EXPECT_EQ(form("pool"), Form::blocked);
  EXPECT_EQ(form("near"), Form::blocked) << "its source has blocks";
  EXPECT_EQ(form("alone"), Form::plain) << "nothing near it has blocks";
  EXPECT_EQ(form("channels"), Form::blocked) << "one value per channel";
  EXPECT_EQ(form("gemm"), Form::plain);
  EXPECT_EQ(form("row"), Form::plain);
  EXPECT_EQ(form("cut"), Form::plain);
}

TEST(Layout, AHaloIsTheWidestThatAReaderNeeds) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,9,9]
    w = constant f32[8,8,1,1] random(seed=1)
    v3 = constant f32[8,8,3,3] random(seed=2)
    v5 = constant f32[8,8,5,5] random(seed=3)
    a = Conv(x, w)
    b = Conv(a, v3) {pads=[1,0,1,1]}
    c = Conv(a, v5) {pads=[0,2,2,0]}
    d = MaxPool(a) {kernel_shape=[3,3], pads=[1,1,1,1]}
    output b
    output c
    output d
)");
  const kernels::Halo halo = buffer_named(plan, "a blocked").map->halo;
  EXPECT_GE(halo.top, 1);
  EXPECT_GE(halo.left, 2);
  EXPECT_GE(halo.bottom, 2);
  EXPECT_GE(halo.right, 1);
  EXPECT_LT(halo.top, 3);
  EXPECT_LT(halo.left, 3);
}

TEST(Layout, APoolNeedsNoHalo) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,9,9]
    w = constant f32[8,8,1,1] random(seed=1)
    a = Conv(x, w)
    d = MaxPool(a) {kernel_shape=[3,3], pads=[1,1,1,1]}
    output d
)");
  EXPECT_TRUE(buffer_named(plan, "a blocked").map->halo.empty());
}

TEST(Layout, AFirstConvolutionReadsTheInputAsItIs) {
  const Plan plan = plan_of(R"(
    x = input f32[1,3,9,9]
    w = constant f32[8,3,3,3] random(seed=1)
    y = Conv(x, w) {pads=[1,1,1,1]}
    z = Conv(x, w)
    output y
    output z
)");
  EXPECT_EQ(plan.launches[launch_named(plan, "y")].reads.front(), 0) << "it stages its padding itself";
  EXPECT_EQ(plan.launches[launch_named(plan, "z")].reads.front(), 0);
}

TEST(Layout, AConversionIsMadeOncePerForm) {
  const Plan plan = plan_of(R"(
    x = input f32[1,8,9,9]
    w = constant f32[8,8,3,3] random(seed=1)
    v = constant f32[8,8,1,1] random(seed=2)
    y = Conv(x, w)
    z = Conv(x, v)
    p = MaxPool(x) {kernel_shape=[2,2]}
    output y
    output z
    output p
)");
  int64_t conversions = 0;
  for (const plan::Launch& launch : plan.launches) conversions += launch.name == "layout of 'x' to blocked";
  EXPECT_EQ(conversions, 1);
}

TEST(Layout, AHeadBehindAGlobalPoolNeedsNoConversion) {
  const char* const statements = R"(
    x = input f32[1,CHANNELS,5,5]
    w = constant f32[CHANNELS,10] random(seed=1)
    g = GlobalAveragePool(x)
    f = Flatten(g)
    y = MatMul(f, w)
    output y
)";
  const auto conversions = [&](const std::string& channels) {
    std::string text = statements;
    for (size_t at = text.find("CHANNELS"); at != std::string::npos; at = text.find("CHANNELS"))
      text.replace(at, 8, channels);
    return launches_of(plan_of(text), "layout");
  };
  EXPECT_EQ(conversions("16"), 1) << "the input alone";
  EXPECT_EQ(conversions("12"), 2) << "the input, and the tail of the last block";
}

}  // namespace
}  // namespace onepass::test

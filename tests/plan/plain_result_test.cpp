// SPDX-License-Identifier: Apache-2.0
//
// Which convolutions write plain maps, or rows of channels.
#include "plan/plain_result.h"

#include <gtest/gtest.h>

#include "plan/channel_rows.h"
#include "plan/grouping.h"
#include "plan/support.h"
#include "plan/transpose_axes.h"

namespace onepass::test {
namespace {

using plan::Form;
using plan::Plan;

constexpr const char* k_conv =
    "x = input f32[1,16,6,7]\n"
    "w = constant f32[24,16,1,1] random(seed=1)\n"
    "v = constant f32[24,24,1,1] random(seed=2)\n"
    "c = Conv(x, w)\n";

Form form_of(const std::string& statements, const std::string& value, const plan::PlanOptions& options = {}) {
  const ir::Graph graph = typed_graph(k_conv + statements);
  const plan::Grouping grouping = plan::group_nodes(graph, plan_target(), options);
  return plan::native_forms(graph, grouping.groups, plan_target(), options)[value_named(graph, value).index];
}

TEST(PlainResult, AnOutputAndWhatReadsPlain) {
  EXPECT_EQ(form_of("output c", "c"), Form::plain);
  EXPECT_EQ(form_of("y = Softmax(c) {axis=1}\noutput y", "c"), Form::plain);
  EXPECT_EQ(form_of("y = Flatten(c)\noutput y\noutput c", "c"), Form::plain);
  EXPECT_EQ(form_of("y = Sigmoid(c)\noutput y", "c", {.joins = false}), Form::plain);
  EXPECT_EQ(form_of("y = Sigmoid(c)\noutput y", "y", {.joins = false}), Form::plain);
}

TEST(PlainResult, BlocksForWhoReadsBlocks) {
  EXPECT_EQ(form_of("y = Conv(c, v)\noutput y", "c"), Form::blocked);
  EXPECT_EQ(form_of("y = Conv(c, v)\noutput y\noutput c", "c"), Form::blocked);
  EXPECT_EQ(form_of("y = MaxPool(c) {kernel_shape=[2,2]}\noutput y", "c"), Form::blocked);
  EXPECT_EQ(form_of("s = Sigmoid(c)\ny = Conv(s, v)\noutput y", "c", {.joins = false}), Form::blocked);
  EXPECT_EQ(form_of("d = Conv(x, w)\ny = Add(c, d)\noutput y", "c", {.joins = false}), Form::blocked);
}

TEST(PlainResult, BlocksBehindAResidualSum) {
  EXPECT_EQ(form_of("d = Conv(c, v)\ny = Add(d, c)\noutput y", "y"), Form::blocked);
}

TEST(PlainResult, NoLaunchConverts) {
  const Plan plan = plan_of(std::string(k_conv) + "y = Conv(c, v)\noutput y");
  EXPECT_EQ(launches_of(plan, "layout"), 1) << "of the input";
  EXPECT_EQ(destination(plan, "y").space, plan::BufferSpace::output);
}

TEST(PlainResult, RowsForATransposeAlone) {
  const std::string turned = "y = Transpose(c) {perm=[0,2,3,1]}\noutput y";
  EXPECT_EQ(form_of(turned, "c"), Form::rows);
  EXPECT_EQ(form_of(turned, "c", {.joins = false}), Form::plain) << "one kernel for each node";
  EXPECT_EQ(form_of(turned + "\noutput c", "c"), Form::plain);
  EXPECT_EQ(form_of(turned + "\nz = Relu(c)\noutput z", "c"), Form::plain);
  EXPECT_EQ(form_of("y = Transpose(c) {perm=[0,3,2,1]}\noutput y", "c"), Form::plain);
  EXPECT_EQ(form_of("y = Transpose(c) {perm=[0,1,3,2]}\noutput y", "c"), Form::plain);
}

TEST(PlainResult, RowsOfAPartOfTheChannels) {
  const auto heads = [](int64_t count, int64_t channels) {
    return "k = constant i64[5] {1," + std::to_string(count) + "," + std::to_string(channels) +
           ",6,7}\nr = Reshape(c, k)\ny = Transpose(r) {perm=[0,1,3,4,2]}\noutput y";
  };
  EXPECT_EQ(form_of(heads(2, 12), "c"), Form::rows);
  EXPECT_EQ(form_of(heads(8, 3), "c"), Form::plain) << "a vector would be in several rows";
  EXPECT_EQ(form_of(heads(2, 12) + "\noutput r", "c"), Form::plain);
}

TEST(PlainResult, ATransposeThatIsDoneHasNoLaunch) {
  const Plan plan = plan_of(std::string(k_conv) + R"(
    k = constant i64[5] {1,2,12,6,7}
    r = Reshape(c, k)
    y = Transpose(r) {perm=[0,1,3,4,2]}
    output y
)");
  EXPECT_EQ(launches_of(plan, "transpose"), 0);
  const plan::Buffer& rows = destination(plan, "c + y");
  EXPECT_EQ(rows.space, plan::BufferSpace::output);
  EXPECT_EQ(rows.size_bytes, 24 * 6 * 7 * 4);
  ASSERT_TRUE(rows.map.has_value());
  EXPECT_EQ(rows.map->block, 12);
  EXPECT_EQ(rows.map->plane_stride, 12 * 6 * 7);
}

std::string axes_of(const std::string& type, const std::string& permutation) {
  const ir::Graph graph =
      typed_graph("x = input " + type + "\ny = Transpose(x) {perm=[" + permutation + "]}\noutput y");
  const auto spec = plan::transpose_spec_of(graph, node_named(graph, "y"));
  if (!spec) return "none";
  const kernels::FeatureMap& src = spec->src;
  return std::to_string(src.n) + " " + std::to_string(src.c) + " " + std::to_string(src.h) + " " +
         std::to_string(src.w);
}

TEST(TransposeAxes, RowsAndColumnsOfMatrices) {
  EXPECT_EQ(axes_of("f32[4,5]", "1,0"), "1 4 5 1");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "0,2,3,1"), "2 3 20 1");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "0,3,1,2"), "2 12 5 1");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "0,2,1,3"), "2 3 4 5");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "1,0,2,3"), "1 2 3 20");
  EXPECT_EQ(axes_of("f32[2,1,4,5]", "3,1,0,2"), "1 8 5 1");
  EXPECT_EQ(axes_of("f32[1,3,85,8,8]", "0,1,3,4,2"), "3 85 64 1");
}

TEST(TransposeAxes, OtherPermutationsAndTypes) {
  EXPECT_EQ(axes_of("f32[2,3,4]", "2,1,0"), "none");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "0,3,2,1"), "none");
  EXPECT_EQ(axes_of("f32[2,3,4,5]", "1,0,3,2"), "none");
  EXPECT_EQ(axes_of("i64[2,3]", "1,0"), "none");
  EXPECT_EQ(axes_of("f32[2,3,4]", "0,1,2"), "none") << "a view";
}

}  // namespace
}  // namespace onepass::test

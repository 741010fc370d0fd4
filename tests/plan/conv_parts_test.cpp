// SPDX-License-Identifier: Apache-2.0
#include "plan/conv_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/family.h"
#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::Family;

Family family_of_y(const std::string& statements) {
  const ir::Graph graph = typed_graph(statements);
  return plan::family_of(graph, node_named(graph, "y"), plan_target());
}

std::string transposed(const std::string& attributes, const std::string& weights = "f32[16,16,4,4]") {
  return "x = input f32[1,16,8,8]\n"
         "w = constant " +
         weights + " random(seed=1)\ny = ConvTranspose(x, w) {" + attributes + "}\noutput y";
}

TEST(ConvParts, FamilyOfATransposedConvolution) {
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], pads=[1,1,1,1]")), Family::conv);
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], output_shape=[17,16]")), Family::conv);
  EXPECT_EQ(family_of_y(transposed("auto_pad=\"SAME_UPPER\", strides=[2,2]")), Family::conv);
  EXPECT_EQ(family_of_y(transposed("dilations=[2,2]")), Family::conv);
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], dilations=[2,2]")), Family::routine);
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], group=2", "f32[16,8,4,4]")), Family::routine);
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], group=16", "f32[16,1,4,4]")), Family::conv);
  EXPECT_EQ(family_of_y(transposed("strides=[2,2], pads=[4,0,0,0]")), Family::routine);
  EXPECT_EQ(family_of_y("x = input f32[1,4,3,3,3]\nw = constant f32[4,4,2,2,2] random(seed=1)\n"
                        "y = ConvTranspose(x, w)\noutput y"),
            Family::routine);
  EXPECT_EQ(family_of_y("x = input f32[1,4,3,3]\nw = input f32[4,4,2,2]\ny = ConvTranspose(x, w)\noutput y"),
            Family::routine);
}

TEST(ConvParts, EveryOutputIsOfOnePart) {
  for (const char* attributes : {"strides=[2,2], pads=[1,1,1,1]", "strides=[2,2], output_shape=[17,16]",
                                 "strides=[2,3], pads=[0,1,1,0]", "strides=[4,3]"}) {
    const ir::Graph graph = typed_graph(transposed(attributes));
    const ir::Shape& dims = graph.value(value_named(graph, "y")).type.dims;
    std::vector<int> written(dims[2] * dims[3], 0);
    for (const kernels::ConvSpec& part : plan::conv_parts(graph, node_named(graph, "y"))) {
      const kernels::OutputPhases& p = part.phases.value();
      for (int64_t y = 0; y < part.dst.h * p.count_h; ++y)
        for (int64_t x = 0; x < part.dst.w * p.count_w; ++x) {
          const int64_t row = y / p.count_h * p.step_h + p.first_h + y % p.count_h;
          const int64_t column = x / p.count_w * p.step_w + p.first_w + x % p.count_w;
          ++written.at(row * dims[3] + column);
        }
    }
    EXPECT_TRUE(std::all_of(written.begin(), written.end(), [](int count) { return count == 1; }))
        << attributes;
  }
}

TEST(ConvParts, PartsOfOneResultAreLaunchesOfOneGroup) {
  const plan::Plan plan = plan_of(
      "x = input f32[1,16,8,8]\nr = input f32[1,16,16,16]\n"
      "v = constant f32[16,16,1,1] random(seed=2)\nw = constant f32[16,16,4,4] random(seed=1)\n"
      "s = Conv(r, v)\nc = ConvTranspose(x, w) {strides=[2,2], pads=[1,1,1,1]}\n"
      "a = Add(c, s)\ny = Relu(a)\noutput y");
  int64_t parts = 0;
  for (const plan::Launch& launch : plan.launches) {
    if (launch.group < 0 || plan.groups[launch.group].nodes.size() != 3) continue;
    ++parts;
    EXPECT_TRUE(launch.may_take_over.empty()) << "every part reads the operand";
    EXPECT_EQ(plan.buffers[launch.writes.front()].first_launch + 4,
              plan.buffers[launch.writes.front()].last_launch)
        << "four parts and the conversion to the output";
  }
  EXPECT_EQ(parts, 4);
}

std::string resized(const std::string& attributes, const std::string& type = "f32[1,16,5,6]") {
  return "x = input " + type + "\ns = constant f32[4] {1, 1, 2, 1.5}\n" + "y = Resize(x, _, s) {" +
         attributes + "}\noutput y";
}

TEST(ConvParts, FamilyOfAResize) {
  for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
    EXPECT_EQ(family_of_y(resized("mode=\"linear\", coordinate_transformation_mode=\"" +
                                  std::string(coordinates) + "\"")),
              Family::upsample)
        << coordinates;
  EXPECT_EQ(family_of_y(resized("mode=\"cubic\"")), Family::routine);
  EXPECT_EQ(family_of_y(resized("mode=\"linear\", exclude_outside=1")), Family::routine);
  EXPECT_EQ(family_of_y(resized("mode=\"linear\", coordinate_transformation_mode=\"half_pixel_symmetric\"")),
            Family::routine);
  EXPECT_EQ(family_of_y(resized("mode=\"linear\"", "f32[1,1,5,6]")), Family::routine) << "lanes in vain";
}

TEST(ConvParts, FamilyOfGroups) {
  const auto groups = [](int64_t width, int64_t count) {
    const std::string channels = std::to_string(width * count), own = std::to_string(width);
    return family_of_y("x = input f32[1," + channels + ",5,6]\nw = constant f32[" + channels + "," + own +
                       ",3,3] random(seed=1)\ny = Conv(x, w) {group=" + std::to_string(count) +
                       "}\noutput y");
  };
  for (const int64_t width : {1, 4, 8, 12, 16, 20, 24, 40, 56})
    EXPECT_EQ(groups(width, 4), Family::conv) << width;
}

}  // namespace
}  // namespace onepass::test

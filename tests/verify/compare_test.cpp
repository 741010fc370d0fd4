// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/parser.h"

namespace onepass::verify::test {
namespace {

constexpr float k_inf = std::numeric_limits<float>::infinity();
const float k_nan = std::nanf("");

ir::Tensor floats(const std::vector<float>& values) {
  return ir::Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(Error, IsRelativeToTheLargestReferenceAboveOne) {
  EXPECT_NEAR(error(floats({0.5F, 0.25F}), floats({0.5F, 0.5F})), 0.25, 1e-7);
  EXPECT_NEAR(error(floats({10, 0.25F}), floats({10, 0.5F})), 0.025, 1e-7);
}

TEST(Error, ComparesFloatWithDouble) {
  const ir::Tensor referee = ir::Tensor::of<double>({1}, std::vector<double>{0.1});
  EXPECT_NEAR(error(floats({0.1F}), referee), 1.5e-9, 1e-9);
}

TEST(Error, NonFiniteValuesMustMatch) {
  EXPECT_EQ(error(floats({k_nan, k_inf, -k_inf}), floats({k_nan, k_inf, -k_inf})), 0);
  for (const auto& [a, b] :
       {std::pair{k_nan, 1.0F}, {1.0F, k_nan}, {k_inf, -k_inf}, {k_inf, 1.0F}, {1.0F, k_inf}, {k_nan, k_inf}})
    EXPECT_EQ(error(floats({a}), floats({b})), k_inf) << a << " " << b;
}

TEST(Error, AnInfiniteReferenceIsNoScale) {
  EXPECT_NEAR(error(floats({k_inf, 0.5F}), floats({k_inf, 0.75F})), 0.25, 1e-7);
}

TEST(Error, ShapesAndIntegersMustBeEqual) {
  EXPECT_EQ(error(floats({1, 2}), floats({1})), k_inf);
  const auto ints = [](int64_t v) { return ir::Tensor::of_ints(std::vector<int64_t>{v}); };
  EXPECT_EQ(error(ints(3), ints(3)), 0);
  EXPECT_EQ(error(ints(3), ints(4)), k_inf);
  EXPECT_EQ(error(ints(1), floats({1})), k_inf);
}

TEST(Error, EverySegmentHasItsScale) {
  const Segments segments{{0, 0, 1, 1}, 2};
  EXPECT_NEAR(error(floats({640, 0, 0.5F, 0}), floats({640, 0, 0.25F, 0}), segments), 0.25, 1e-7);
  EXPECT_LT(error(floats({640, 0, 0.5F, 0}), floats({640, 0, 0.25F, 0})), 1e-3);
}

TEST(Parity, IsNearTheReferenceOrNearerToTheReferee) {
  EXPECT_TRUE(holds({.reference = 1e-5, .referee = 1, .own = 1}, 1e-5));
  EXPECT_TRUE(holds({.reference = 2e-5, .referee = 0.9e-5, .own = 1.1e-5}, 1e-5));
  EXPECT_FALSE(holds({.reference = 2e-5, .referee = 1.1e-5, .own = 1.2e-5}, 1e-5));
  EXPECT_FALSE(holds({.reference = 2e-5, .referee = 0.9e-5, .own = 0.8e-5}, 1e-5));
  EXPECT_FALSE(holds({.reference = k_nan, .referee = k_nan, .own = 0}, 1e-5));
  EXPECT_TRUE(holds_at_own_accuracy({.reference = 5e-5, .referee = 3.9e-5, .own = 1e-6}, 2e-5));
  EXPECT_FALSE(holds_at_own_accuracy({.reference = 5e-5, .referee = 4.1e-5, .own = 2e-5}, 2e-5));
  EXPECT_FALSE(holds_at_own_accuracy({.reference = 5e-5, .referee = 4.1e-5, .own = 2e-5}, k_nan));
  EXPECT_FALSE(holds_at_own_accuracy({.reference = k_nan, .referee = k_nan, .own = 2e-5}, 2e-5));
}

TEST(Segments, FollowNodesThatOnlyMoveElements) {
  const ir::Graph graph = ir::parse(R"(graph g {
    a = input f32[1,1,2]
    b = input f32[1,2,2]
    s = constant i64[2] {3, 2}
    c: f32[1,3,2] = Concat(a, b) {axis=1}
    r: f32[3,2] = Reshape(c, s)
    t: f32[2,3] = Transpose(r) {perm=[1,0]}
    y: f32[2,3] = Relu(t)
    output t
    output y
  })");
  const Segments moved = segments_of(graph, graph.outputs()[0].value);
  EXPECT_EQ(moved.count, 2);
  EXPECT_THAT(moved.of_element, ::testing::ElementsAre(0, 1, 1, 0, 1, 1));
  EXPECT_TRUE(segments_of(graph, graph.outputs()[1].value).of_element.empty());
}

TEST(Segments, NestedConcatsAndSlices) {
  const ir::Graph graph = ir::parse(R"(graph g {
    a = input f32[1]
    b = input f32[1]
    d = input f32[1]
    z = constant i64[1] {0}
    one = constant i64[1] {1}
    three = constant i64[1] {3}
    c: f32[2] = Concat(a, b) {axis=0}
    e: f32[3] = Concat(c, d) {axis=0}
    y: f32[2] = Slice(e, one, three, z)
    output y
  })");
  const Segments segments = segments_of(graph, graph.outputs()[0].value);
  EXPECT_EQ(segments.count, 3);
  EXPECT_THAT(segments.of_element, ::testing::ElementsAre(1, 2));
}

}  // namespace
}  // namespace onepass::verify::test

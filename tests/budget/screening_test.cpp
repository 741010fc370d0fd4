// SPDX-License-Identifier: Apache-2.0
#include "budget/screening.h"

#include <gtest/gtest.h>

#include "budget/support.h"
#include "ir/random_tensor.h"

namespace onepass::test {
namespace {

/// An error at the output grows with the square of the input.
ir::Graph squares() {
  return budget_graph(R"(
    x = input f32[1,4,6,6]
    w = constant f32[4,4,1,1] random(seed=1, lo=-0.5, hi=0.5)
    c = Conv(x, w)
    y = Mul(c, c)
    output y
)");
}

/// Frames of noise in [-size, size), `size` by `sizes`.
std::vector<std::vector<ir::Tensor>> frames_of(const ir::Graph& graph, const std::vector<double>& sizes) {
  const ir::TensorType& type = graph.value(graph.inputs().at(0)).type;
  std::vector<std::vector<ir::Tensor>> frames;
  for (double size : sizes)
    frames.push_back({ir::random_tensor(type.dtype, type.dims, frames.size() + 1, -size, size)});
  return frames;
}

TEST(Screening, KeepsFewFramesAsTheyAre) {
  const ir::Graph graph = squares();
  const budget::Screening result =
      budget::screen(graph, frames_of(graph, {1, 9, 1}), {node_of(graph, "c")}, {.most = 4});
  EXPECT_EQ(result.frames, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(result.beyond, 1);
}

TEST(Screening, FindsTheMostSensitiveFrames) {
  const ir::Graph graph = squares();
  const budget::Screening result = budget::screen(graph, frames_of(graph, {0.1, 0.1, 0.5, 0.1, 4, 0.1, 0.1}),
                                                  {node_of(graph, "c")}, {.most = 2});
  EXPECT_EQ(result.frames, (std::vector<size_t>{4, 2}));
}

TEST(Screening, ExpectsMoreThanItSawWhereFramesDiffer) {
  const ir::Graph graph = squares();
  const auto beyond = [&](const std::vector<double>& sizes) {
    return budget::screen(graph, frames_of(graph, sizes), {node_of(graph, "c")}, {.most = 2}).beyond;
  };
  EXPECT_LT(beyond({0.5, 0.5, 0.5, 0.5, 0.5, 0.5}), 2);
  EXPECT_GT(beyond({0.1, 0.3, 1, 3, 0.2, 2}), 4);
}

TEST(Screening, LooksAtFramesAtEqualDistancesWhenItMayNotLookAtAll) {
  const ir::Graph graph = squares();
  // Too little work is allowed for more than two frames: the first and the middle one.
  const budget::Screening result = budget::screen(graph, frames_of(graph, {0.1, 9, 9, 0.2, 9, 9}),
                                                  {node_of(graph, "c")}, {.most = 2, .flops = 1});
  EXPECT_EQ(result.frames, (std::vector<size_t>{3, 0}));
}

TEST(Screening, DoesNotDependOnThreads) {
  const ir::Graph graph = squares();
  const auto frames = frames_of(graph, {0.3, 0.1, 0.5, 0.7, 0.2});
  const budget::Screening one =
      budget::screen(graph, frames, {node_of(graph, "c")}, {.most = 3, .threads = 1});
  const budget::Screening two =
      budget::screen(graph, frames, {node_of(graph, "c")}, {.most = 3, .threads = 2});
  EXPECT_EQ(one.frames, two.frames);
  EXPECT_EQ(one.beyond, two.beyond);
}

}  // namespace
}  // namespace onepass::test

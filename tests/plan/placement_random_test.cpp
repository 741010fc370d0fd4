// SPDX-License-Identifier: Apache-2.0
//
// Random networks of Concat, Split and Slice over the channels, run in the loop interpreter with the arena
// full of NaN and compared with the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ops/interpreter.h"
#include "plan/placement_support.h"
#include "plan/plan_runner.h"

namespace onepass::test {
namespace {

/// The weights are not scaled, so that sums cancel; what lies wrong is wrong by far more.
constexpr double k_tolerance = 1e-3;

struct Map {
  std::string name;
  int64_t channels = 0;
};

/// Statements over maps of 5x4 pixels whose channels are multiples of 16.
class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  std::string text() {
    text_ =
        "x = input f32[1,32,5,4]\nw = constant f32[32,32,3,3] random(seed=99)\n"
        "m = Conv(x, w) {pads=[1,1,1,1]}\n";
    maps_ = {{"m", 32}};
    for (int step = 0; step < 9; ++step) append();
    text_ += fmt::format("y = Sigmoid({})\noutput y\n", maps_.back().name);
    for (int output = 0; output < 2; ++output)
      text_ += fmt::format("output o{} = {}\n", output, maps_[below(maps_.size() - 1) + 1].name);
    return text_;
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  const Map& any() { return maps_[maps_.size() - 1 - std::min(maps_.size() - 1, below(5))]; }
  std::string fresh() { return fmt::format("v{}", next_++); }

  void append() {
    switch (below(6)) {
      case 0:
      case 1:
        return conv(below(2) == 0 ? 1 : 3);
      case 2:
        text_ += fmt::format("v{} = Relu({})\n", next_, maps_.back().name);
        return maps_.push_back({fresh(), maps_.back().channels});
      case 3:
        return split();
      default:
        return concat();
    }
  }

  void conv(int kernel) {
    const Map src = any();
    const int64_t channels = 16 * static_cast<int64_t>(1 + below(2));
    text_ += fmt::format("w{} = constant f32[{},{},{},{}] random(seed={})\n", next_, channels, src.channels,
                         kernel, kernel, next_ + 1);
    text_ += fmt::format("v{0} = Conv({1}, w{0}) {{pads=[{2},{2},{2},{2}]}}\n", next_, src.name, kernel / 2);
    maps_.push_back({fresh(), channels});
  }

  void split() {
    const Map src = any();
    if (src.channels < 32) return conv(1);
    const int64_t first = 16 * static_cast<int64_t>(1 + below(static_cast<size_t>(src.channels / 16 - 1)));
    const std::string a = fresh(), b = fresh();
    text_ += fmt::format("s{0} = constant i64[2] {{{1},{2}}}\n{0}, {3} = Split({4}, s{0}) {{axis=1}}\n", a,
                         first, src.channels - first, b, src.name);
    maps_.push_back({a, first});
    maps_.push_back({b, src.channels - first});
  }

  void concat() {
    std::string operands;
    int64_t channels = 0;
    for (size_t count = 2 + below(3); count > 0; --count) {
      const Map operand = any();
      operands += (operands.empty() ? "" : ", ") + operand.name;
      channels += operand.channels;
    }
    if (channels > 160) return conv(1);
    text_ += fmt::format("v{} = Concat({}) {{axis=1}}\n", next_, operands);
    maps_.push_back({fresh(), channels});
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<Map> maps_;
  int next_ = 0;
};

class RandomPlacement : public testing::TestWithParam<const char*> {};

TEST_P(RandomPlacement, GivesTheReferencesResults) {
  int64_t shared = 0, placed = 0, copied = 0, compared = 0;
  for (uint32_t seed = 1; seed <= 120; ++seed) {
    const std::string text = Writer(seed).text();
    const ir::Graph graph = typed_graph(text);
    const std::vector<ir::Tensor> inputs = noise_for(graph);
    const plan::Plan plan =
        plan::make_plan(graph, targets::find(GetParam()), {.conv = kernels::ConvPolicy::exact()});
    for (const plan::Buffer& buffer : plan.buffers) shared += buffer.inside >= 0 ? 1 : 0;
    for (const plan::Decision& decision : plan.placements) ++(decision.fused ? placed : copied);
    if (!runs_here(plan)) continue;  // maps that stayed plain
    ++compared;
    const std::vector<ir::Tensor> actual = run_plan(graph, plan, inputs),
                                  expected = ops::interpret(graph, inputs);
    for (size_t o = 0; o < actual.size(); ++o) expect_near(actual[o], expected[o], k_tolerance, text);
  }
  EXPECT_GT(shared, 300);
  EXPECT_GT(placed, 100);
  EXPECT_GT(copied, 30);
  EXPECT_GT(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Lanes, RandomPlacement, testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace onepass::test

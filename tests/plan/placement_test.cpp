// SPDX-License-Identifier: Apache-2.0
//
// concat_slices: which maps lie inside others, and the same bits as with copies when the plan is run in the
// loop interpreter with the arena full of NaN, for 8 and for 16 lanes.
#include <gtest/gtest.h>

#include <cstring>

#include "ops/interpreter.h"
#include "plan/memory.h"
#include "plan/placement_support.h"
#include "plan/plan_runner.h"

namespace onepass::test {
namespace {

using plan::Buffer;
using plan::Plan;

const char* const k_two_convs = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    y = Conv(c, v)
    output y
)";

TEST(ConcatSlices, OperandsAreWrittenIntoTheirSlices) {
  for (const char* target : k_placement_targets) {
    const Plan plan = placed_plan(k_two_convs, target);
    EXPECT_EQ(copies(plan), 0);
    EXPECT_EQ(distance(plan, "a blocked", "c blocked"), 0);
    const int64_t blocks = 32 / targets::find(target).vector_lanes;
    EXPECT_EQ(distance(plan, "b blocked", "c blocked"), blocks * block_bytes(plan, "c blocked"));
    EXPECT_EQ(plan.launches[launch_named(plan, "y")].reads.size(), 2U);
    ASSERT_EQ(plan.placements.size(), 1U);
    EXPECT_TRUE(plan.placements[0].fused);
    EXPECT_EQ(plan.placements[0].reason, "2 of 2 slices lie in place");
  }
  expect_same_results(k_placement_weights + std::string(k_two_convs));
}

TEST(ConcatSlices, WithoutThemEveryOperandIsCopied) {
  const Plan plan = placed_plan(k_two_convs, "x86-64-v3", {.concat_slices = false});
  EXPECT_EQ(copies(plan), 2);
  EXPECT_TRUE(plan.placements.empty());
  for (const Buffer& buffer : plan.buffers) EXPECT_EQ(buffer.inside, -1);
}

TEST(ConcatSlices, EverySharerHasTheWidestHalo) {
  const char* const statements = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    t = Conv(a, w3) {pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    y = Conv(c, v)
    z = Conv(b, w1)
    output y
    output z
    output t
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(distance(plan, "b blocked", "c blocked"), 4 * block_bytes(plan, "c blocked"));
  const kernels::Halo halo = buffer_named(plan, "b blocked").map->halo;
  EXPECT_GE(halo.top, 1);
  EXPECT_GE(halo.right, 1);
  expect_same_results(k_placement_weights + std::string(statements));
}

const char* const k_dense = R"(
    u1 = constant f32[16,32,3,3] random(seed=11)
    u2 = constant f32[16,48,3,3] random(seed=12)
    u3 = constant f32[16,64,3,3] random(seed=13)
    u4 = constant f32[16,80,1,1] random(seed=14)
    x0 = Conv(x, w1)
    x1 = Conv(x0, u1) {pads=[1,1,1,1]}
    c1 = Concat(x0, x1) {axis=1}
    r1 = Relu(c1)
    x2 = Conv(r1, u2) {pads=[1,1,1,1]}
    c2 = Concat(x0, x1, x2) {axis=1}
    r2 = Relu(c2)
    x3 = Conv(r2, u3) {pads=[1,1,1,1]}
    c3 = Concat(x0, x1, x2, x3) {axis=1}
    y = Conv(c3, u4)
    output y
)";

TEST(ConcatSlices, ASmallerConcatIsTheStartOfALargerOne) {
  const Plan plan = placed_plan(k_dense);
  EXPECT_EQ(copies(plan), 0);
  for (const char* start : {"x0 blocked", "c1 blocked", "c2 blocked"})
    EXPECT_EQ(distance(plan, start, "c3 blocked"), 0) << start;
  EXPECT_EQ(distance(plan, "x3 blocked", "c3 blocked"), 8 * block_bytes(plan, "c3 blocked"));
  expect_same_results(k_placement_weights + std::string(k_dense));
}

TEST(ConcatSlices, AConcatOfAConcatIsPlacedThroughout) {
  const char* const statements = R"(
    u = constant f32[16,96,1,1] random(seed=11)
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    i = Concat(a, b) {axis=1}
    d = MaxPool(x) {kernel_shape=[3,3], pads=[1,1,1,1]}
    c = Concat(d, i) {axis=1}
    y = Conv(c, u)
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(distance(plan, "i blocked", "c blocked"), distance(plan, "a blocked", "c blocked"));
  expect_same_results(k_placement_weights + std::string(statements));
}

const char* const k_c2f = R"(
    s = constant i64[2] {16,16}
    u3 = constant f32[16,16,3,3] random(seed=11)
    u1 = constant f32[32,64,1,1] random(seed=12)
    e = Conv(x, w1)
    p, q = Split(e, s) {axis=1}
    m = Conv(q, u3) {pads=[1,1,1,1]}
    k = Add(m, q)
    n = Conv(k, u3) {pads=[1,1,1,1]}
    c = Concat(p, q, k, n) {axis=1}
    y = Conv(c, u1)
    output y
)";

TEST(ConcatSlices, TheOperandOfASplitLiesWhereItsHalvesAreJoinedAgain) {
  for (const char* target : k_placement_targets) {
    const Plan plan = placed_plan(k_c2f, target);
    EXPECT_EQ(copies(plan), 0);
    EXPECT_EQ(distance(plan, "e blocked", "c blocked"), 0);
    EXPECT_EQ(distance(plan, "p blocked", "c blocked"), 0);
    EXPECT_EQ(2 * distance(plan, "q blocked", "e blocked"), buffer_named(plan, "e blocked").size_bytes);
    EXPECT_EQ(plan.placements.size(), 2U);
  }
  expect_same_results(k_placement_weights + std::string(k_c2f));
}

TEST(ConcatSlices, HalvesAreReadWhereTheyLie) {
  const char* const statements = R"(
    s = constant i64[2] {16,16}
    u = constant f32[16,16,3,3] random(seed=11)
    e = Conv(x, w1)
    p, q = Split(e, s) {axis=1}
    y = Conv(p, u) {pads=[1,1,1,1]}
    z = Sigmoid(q)
    output y
    output z
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(launches_of(plan, "routine"), 0);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, ASliceOfChannelsIsReadWhereItLies) {
  const char* const statements = R"(
    from = constant i64[1] {16}
    to = constant i64[1] {32}
    axis = constant i64[1] {1}
    u = constant f32[16,16,3,3] random(seed=11)
    e = Conv(x, w1)
    q = Slice(e, from, to, axis)
    y = Conv(q, u) {pads=[1,1,1,1]}
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(launches_of(plan, "routine"), 0);
  EXPECT_EQ(2 * distance(plan, "q blocked", "e blocked"), buffer_named(plan, "e blocked").size_bytes);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, TheLastSliceMayEndInsideABlock) {
  const char* const statements = R"(
    u = constant f32[19,32,3,3] random(seed=11)
    o = constant f32[16,51,3,3] random(seed=12)
    a = Conv(x, w1)
    b = Conv(x, u) {pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    r = Sigmoid(c)
    y = Conv(r, o) {pads=[1,1,1,1]}
    output y
)";
  EXPECT_EQ(copies(placed_plan(statements)), 0);
  expect_same_results(k_placement_weights + std::string(statements));
}

/// Direct, depthwise, Winograd and transposed convolution, pools, elementwise, both ways to resize,
/// conversion of an input: under a halo.
TEST(ConcatSlices, EveryFamilyWritesItsSliceAndItsHalo) {
  const char* const statements = R"(
    x = input f32[1,32,12,12]
    h = input f32[1,32,12,12]
    w1 = constant f32[32,32,1,1] random(seed=1)
    w3 = constant f32[32,32,3,3] random(seed=2)
    d3 = constant f32[32,1,3,3] random(seed=3)
    o = constant f32[16,288,3,3] random(seed=4)
    up = constant f32[32,32,2,2] random(seed=5)
    scales = constant f32[4] {1,1,2,2}
    none = constant f32[0] {}
    direct = Conv(x, w1)
    winograd = Conv(x, w3) {pads=[1,1,1,1]}
    depthwise = Conv(x, d3) {pads=[1,1,1,1], group=32}
    pool = MaxPool(x) {kernel_shape=[3,3], pads=[1,1,1,1]}
    shared = Sigmoid(direct)
    half = MaxPool(x) {kernel_shape=[2,2], strides=[2,2]}
    near = Resize(half, none, scales) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"}
    phases = ConvTranspose(half, up) {strides=[2,2]}
    linear = Resize(half, none, scales) {mode="linear"}
    c = Concat(direct, winograd, depthwise, pool, shared, near, h, phases, linear) {axis=1}
    y = Conv(c, o) {pads=[1,1,1,1]}
    output y
)";
  const ir::Graph graph = typed_graph(statements);
  const std::vector<ir::Tensor> inputs = noise_for(graph), reference = ops::interpret(graph, inputs);
  for (const char* target : k_placement_targets) {
    const Plan plan = plan::make_plan(graph, targets::find(target), {});
    EXPECT_EQ(copies(plan), 0);
    EXPECT_FALSE(buffer_named(plan, "c blocked").map->halo.empty());
    expect_near(run_plan(graph, plan, inputs)[0], reference[0], 1e-5, target);
  }
}

TEST(ConcatSlices, AConcatThatIsAnOutputIsBuiltOnceAndConverted) {
  const char* const statements = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    output c
    output b
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, OnePixelThatIsAnOutputIsCopiedOut) {
  const char* const statements = R"(
    g = GlobalAveragePool(x)
    a = Conv(g, w1)
    b = Sigmoid(a)
    c = Concat(a, b) {axis=1}
    output c
    output a
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(destination(plan, "output 'c'").space, plan::BufferSpace::output);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, APlacedMapIsNeitherTakenOverNorTakesOver) {
  const Plan plan = placed_plan(R"(
    a = Conv(x, w1)
    r = Conv(x, w1)
    t = Conv(r, w1)
    b = Add(t, r)
    c = Concat(a, b) {axis=1}
    y = Conv(c, v)
    output y
)");
  EXPECT_EQ(copies(plan), 0);
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.inside >= 0) EXPECT_EQ(buffer.shares, -1) << buffer.name;
    if (buffer.shares >= 0) EXPECT_EQ(plan.buffers[buffer.shares].inside, -1) << buffer.name;
  }
}

TEST(ConcatSlices, TheSharedBufferLivesFromTheFirstWriteToTheLastRead) {
  const Plan plan = placed_plan(k_two_convs);
  const Buffer& shared = buffer_named(plan, "slices of 'c'");
  EXPECT_EQ(shared.first_launch, launch_named(plan, "a"));
  EXPECT_EQ(shared.last_launch, launch_named(plan, "y"));
}

TEST(ConcatSlices, ASliceThatIsMovedIsFoundByTheChecker) {
  const Plan sound = placed_plan(k_c2f);
  int moved = 0;
  for (size_t b = 0; b < sound.buffers.size(); ++b) {
    if (sound.buffers[b].inside < 0 || sound.buffers[b].first_launch < 0) continue;
    for (const int64_t planes : {-1, 1}) {
      Plan broken = sound;
      broken.buffers[b].offset_bytes += planes * block_bytes(sound, sound.buffers[b].name);
      EXPECT_THROW(plan::check_memory(broken), InternalError) << sound.buffers[b].name;
      ++moved;
    }
  }
  EXPECT_GE(moved, 10);
}

TEST(ConcatSlices, SlicesOfBf16MapsLieHalfAsFar) {
  const ir::Graph graph = typed_graph(k_placement_weights + std::string(k_two_convs));
  plan::PlanOptions options{.conv = kernels::ConvPolicy::exact(), .storage = loops::Scalar::bf16};
  const Plan placed = plan::make_plan(graph, plan_target(), options);
  EXPECT_EQ(2 * distance(placed, "b blocked", "c blocked"), 4 * block_bytes(placed, "c blocked"));
  options.concat_slices = false;
  const std::vector<ir::Tensor> inputs = noise_for(graph);
  const ir::Tensor in_place = run_plan(graph, placed, inputs)[0],
                   copied = run_plan(graph, plan::make_plan(graph, plan_target(), options), inputs)[0];
  EXPECT_EQ(std::memcmp(in_place.bytes(), copied.bytes(), static_cast<size_t>(copied.size_bytes())), 0);
}

}  // namespace
}  // namespace onepass::test

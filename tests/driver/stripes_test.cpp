// SPDX-License-Identifier: Apache-2.0
//
// Launches in stripes give the bits that the same launches give one by one: whole artefacts, executed.
#include <gtest/gtest.h>

#include <algorithm>

#include "execute.h"
#include "ir/parser.h"

namespace onepass::test {
namespace {

/// Strides, even and odd extents, channels that fill no vector, a window wider than a stripe, a pool, an
/// upsampling; the first map is read again at the end.
constexpr const char* k_network = R"(graph g {
  x = input f32[1,3,161,50]
  w0 = constant f32[24,3,3,3] random(seed=1)
  w1 = constant f32[24,1,3,3] random(seed=2)
  w2 = constant f32[40,24,1,1] random(seed=3)
  w3 = constant f32[40,1,5,5] random(seed=4)
  w4 = constant f32[32,40,1,1] random(seed=5)
  w5 = constant f32[32,32,3,3] random(seed=6)
  w6 = constant f32[16,32,3,3] random(seed=7)
  a = Conv(x, w0) {pads=[1,1,1,1]}
  b = Relu(a)
  c = Conv(b, w1) {pads=[1,1,1,1], group=24}
  d = Relu(c)
  e = Conv(d, w2)
  f = Conv(e, w3) {pads=[2,2,2,2], group=40, strides=[2,2]}
  h = Relu(f)
  i = Conv(h, w4)
  j = MaxPool(i) {kernel_shape=[3,3], pads=[1,1,1,1]}
  k = Conv(j, w5) {pads=[1,1,1,1]}
  l = Relu(k)
  m = Add(l, j)
  n = Conv(m, w6) {pads=[1,1,1,1]}
  output n
})";

/// Blocks of tiles that end inside rows, resized maps.
constexpr const char* k_dense_network = R"(graph g {
  x = input f32[1,16,60,90]
  w1 = constant f32[16,16,3,3] random(seed=1)
  w2 = constant f32[16,16,3,3] random(seed=2)
  w3 = constant f32[32,16,1,1] random(seed=3)
  scales = constant f32[4] {1, 1, 2, 2}
  a = Conv(x, w1) {pads=[1,1,1,1]}
  b = Relu(a)
  c = Conv(b, w2) {pads=[1,1,1,1]}
  d = Conv(c, w3)
  e = Relu(d)
  f = Resize(e, _, scales) {mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"}
  h = MaxPool(f) {kernel_shape=[2,2], strides=[2,2]}
  output h
})";

/// A class whose caches hold a few rows.
std::shared_ptr<targets::Target> small_caches(const char* name, int64_t l2_bytes) {
  auto target = std::make_shared<targets::Target>(targets::find(name));
  target->l2_bytes = l2_bytes;
  return target;
}

driver::Program program_of(const driver::Network& network, const std::shared_ptr<targets::Target>& target,
                           bool stripes) {
  const driver::CompileOptions options{.exact = true};
  driver::Program program = driver::plan_network(network, options);
  program.target = target;
  program.plan = plan::make_plan(program.graph, *target, {.stripes = stripes});
  return program;
}

int64_t members(const plan::Plan& plan) {
  int64_t count = 0;
  for (const plan::Launch& launch : plan.launches) count += static_cast<int64_t>(launch.members.size());
  return count;
}

void expect_same_bits(const char* text, const std::shared_ptr<targets::Target>& target,
                      int64_t least_members) {
  const driver::Network network = driver::network_of(ir::parse(text));
  const driver::Program striped = program_of(network, target, true),
                        plain = program_of(network, target, false);
  EXPECT_GE(members(striped.plan), least_members);
  EXPECT_EQ(members(plain.plan), 0);
  EXPECT_LE(striped.plan.arena_bytes, plain.plan.arena_bytes);
  if (!targets::host_executes(*target)) return;
  const auto inputs = random_inputs(network.model.graph, 3);
  const driver::CompileOptions options{.exact = true};
  const auto expected = run_guarded(plain, driver::load_program(network, plain, options), inputs);
  const runtime::LoadedModel model = driver::load_program(network, striped, options);
  for (const int threads : {1, 2, 3, 8})
    EXPECT_TRUE(same_bits(run_guarded(striped, model, inputs, threads).at(0), expected.at(0)))
        << threads << " threads";
}

class Stripes : public testing::TestWithParam<const char*> {};

TEST_P(Stripes, GiveTheBitsOfLaunchesOneByOne) {
  expect_same_bits(k_network, small_caches(GetParam(), 320 << 10), 5);
}

TEST_P(Stripes, GiveTheBitsOfTilesAndResizedMaps) {
  expect_same_bits(k_dense_network, small_caches(GetParam(), 640 << 10), 3);
}

INSTANTIATE_TEST_SUITE_P(Classes, Stripes, testing::Values("x86-64-v3", "x86-64-v4", "x86-64-v4+amx"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace onepass::test

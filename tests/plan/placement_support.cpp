// SPDX-License-Identifier: Apache-2.0
#include "plan/placement_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/interpreter.h"
#include "plan/plan_runner.h"

namespace onepass::test {

using plan::Buffer;
using plan::Plan;

const char* const k_placement_weights = R"(
    x = input f32[1,32,9,9]
    w1 = constant f32[32,32,1,1] random(seed=1)
    w3 = constant f32[32,32,3,3] random(seed=2)
    v = constant f32[16,64,1,1] random(seed=3)
    v3 = constant f32[16,64,3,3] random(seed=4)
)";

Plan placed_plan(const std::string& statements, const char* target, const plan::PlanOptions& options) {
  return plan::make_plan(typed_graph(k_placement_weights + statements), targets::find(target), options);
}

std::vector<ir::Tensor> noise_for(const ir::Graph& graph) {
  std::vector<ir::Tensor> inputs;
  uint32_t state = 12345;
  for (const ir::ValueId id : graph.inputs()) {
    ir::Tensor values(ir::DType::f32, graph.value(id).type.dims);
    for (float& value : values.data<float>()) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<double>(state) / 2147483648.0 - 1.0);
    }
    inputs.push_back(values);
  }
  return inputs;
}

void expect_near(const ir::Tensor& actual, const ir::Tensor& expected, double tolerance,
                 const std::string& where) {
  const std::vector<double> a = actual.to_doubles(), b = expected.to_doubles();
  ASSERT_EQ(a.size(), b.size()) << where;
  double scale = 1;
  for (const double value : b) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance * scale) << where << " " << i;
}

void expect_same_results(const std::string& statements) {
  const ir::Graph graph = typed_graph(statements);
  const std::vector<ir::Tensor> inputs = noise_for(graph), reference = ops::interpret(graph, inputs);
  for (const char* target : k_placement_targets) {
    plan::PlanOptions options{.conv = kernels::ConvPolicy::exact()};
    const auto placed = run_plan(graph, plan::make_plan(graph, targets::find(target), options), inputs);
    options.concat_slices = false;
    const Plan with_copies = plan::make_plan(graph, targets::find(target), options);
    ASSERT_EQ(placed.size(), reference.size());
    for (size_t o = 0; o < placed.size(); ++o) expect_near(placed[o], reference[o], 1e-5, target);
    if (!runs_here(with_copies)) continue;
    const auto copied = run_plan(graph, with_copies, inputs);
    for (size_t o = 0; o < placed.size(); ++o) {
      EXPECT_EQ(
          std::memcmp(placed[o].bytes(), copied[o].bytes(), static_cast<size_t>(placed[o].size_bytes())), 0)
          << target << ", output " << o;
    }
  }
}

int64_t distance(const Plan& plan, const std::string& inner, const std::string& outer) {
  const Buffer &a = buffer_named(plan, inner), &b = buffer_named(plan, outer);
  EXPECT_GE(a.inside, 0) << inner;
  EXPECT_EQ(a.inside, b.inside) << inner << ", " << outer;
  EXPECT_EQ(a.map->halo, b.map->halo);
  EXPECT_EQ(a.map->plane_stride, b.map->plane_stride);
  return a.offset_bytes - b.offset_bytes;
}

int64_t block_bytes(const Plan& plan, const std::string& buffer) {
  return buffer_named(plan, buffer).map->plane_stride * 4;
}

int64_t refused(const Plan& plan, const std::string& condition) {
  return std::count_if(plan.placements.begin(), plan.placements.end(),
                       [&](const auto& d) { return !d.fused && d.condition == condition; });
}

int64_t copies(const Plan& plan) {
  return std::count_if(plan.launches.begin(), plan.launches.end(), [&](const plan::Launch& launch) {
    return launch.family == "layout" && launch.name.find(" [") != std::string::npos;
  });
}

}  // namespace onepass::test

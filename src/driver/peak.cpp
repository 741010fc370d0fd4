// SPDX-License-Identifier: Apache-2.0
#include "driver/peak.h"

#include <algorithm>
#include <chrono>

#include "base/diagnostic.h"
#include "driver/kernel_library.h"
#include "loops/builder.h"

namespace onepass::driver {

namespace {

constexpr int64_t k_steps = 4096;

int chains(const targets::Target& target) {
  return target.vector_registers - 4;
}

loops::LoopNest fma_nest(const targets::Target& target) {
  loops::Builder b("onepass_fma_peak");
  const int lanes = target.vector_lanes;
  const loops::BufferId src = b.input("src", 2), dst = b.output("dst", chains(target) * lanes);
  const loops::RegisterId acc = b.registers("acc", {loops::Scalar::f32, lanes}, chains(target));
  const loops::RegisterId factors = b.registers("factors", {loops::Scalar::f32, lanes}, 2);
  b.slices(1);
  for (int i = 0; i < 2; ++i) b.assign(factors, i, b.broadcast(src, i, lanes));
  b.unrolled("i", chains(target), [&](loops::Affine i) { b.assign(acc, i, loops::constant(0, lanes)); });
  b.loop("step", 0, k_steps, 1, [&](loops::Affine) {
    b.unrolled("i", chains(target), [&](loops::Affine i) {
      b.assign(acc, i, loops::fma(b.read(acc, i), b.read(factors, 0), b.read(factors, 1)));
    });
  });
  b.unrolled("i", chains(target), [&](loops::Affine i) { b.store(dst, i * lanes, b.read(acc, i)); });
  return b.finish();
}

}  // namespace

double measure_fma_peak_gflops(const targets::Target& target, double milliseconds) {
  if (!targets::host_executes(target))
    throw Error(
        {.code = "foreign_target", .message = std::string("this host does not execute ") + target.name});
  const KernelLibrary library({fma_nest(target)}, target);
  std::vector<float> src = {0.5F, 0.25F}, dst(chains(target) * target.vector_lanes);
  void* operands[] = {src.data(), dst.data()};
  const Call call{operands, nullptr, nullptr, nullptr};
  const double flops = 2.0 * static_cast<double>(chains(target)) * target.vector_lanes * k_steps;
  using Clock = std::chrono::steady_clock;
  double best = 0;
  const Clock::time_point end =
      Clock::now() + std::chrono::microseconds(static_cast<int64_t>(milliseconds * 1e3));
  while (Clock::now() < end) {
    const Clock::time_point start = Clock::now();
    library.function(0)(&call, 0, 1);
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    best = std::max(best, flops / ns);
  }
  return best;
}

}  // namespace onepass::driver

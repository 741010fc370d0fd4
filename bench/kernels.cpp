// SPDX-License-Identifier: Apache-2.0
//
// Convolution kernels alone: each algorithm and its first tiles, as a share of the FMA peak measured in the
// same run. With --rotate the weights come from a pool of 100 MB, as inside a network; without, they stay in
// cache.
#include <fmt/format.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "driver/kernel_library.h"
#include "driver/peak.h"
#include "kernels/choice.h"

namespace {

using namespace onepass;

struct Shape {
  std::string label;
  int64_t c, k, h, w, kernel, stride, groups;
  int64_t transposed_pad = -1;  ///< 0 and more: of a transposed convolution
};

const std::vector<Shape>& standard_shapes() {
  static const std::vector<Shape> shapes = {{"1x1 64->256 56x56", 64, 256, 56, 56, 1, 1, 1},
                                            {"1x1 256->64 56x56", 256, 64, 56, 56, 1, 1, 1},
                                            {"1x1 512->128 28x28", 512, 128, 28, 28, 1, 1, 1},
                                            {"1x1 1024->256 14x14", 1024, 256, 14, 14, 1, 1, 1},
                                            {"1x1 2048->512 7x7", 2048, 512, 7, 7, 1, 1, 1},
                                            {"1x1 512->2048 7x7", 512, 2048, 7, 7, 1, 1, 1},
                                            {"1x1 1024->2048 7x7", 1024, 2048, 7, 7, 1, 1, 1},
                                            {"1x1 320->1280 7x7", 320, 1280, 7, 7, 1, 1, 1},
                                            {"1x1 960->320 7x7", 960, 320, 7, 7, 1, 1, 1},
                                            {"3x3 64->64 56x56", 64, 64, 56, 56, 3, 1, 1},
                                            {"3x3 128->128 28x28", 128, 128, 28, 28, 3, 1, 1},
                                            {"3x3 256->256 14x14", 256, 256, 14, 14, 3, 1, 1},
                                            {"3x3 512->512 7x7", 512, 512, 7, 7, 3, 1, 1},
                                            {"3x3 32->32 160x160", 32, 32, 160, 160, 3, 1, 1},
                                            {"3x3 80->80 80x80", 80, 80, 80, 80, 3, 1, 1},
                                            {"3x3 s2 128->128 56x56", 128, 128, 56, 56, 3, 2, 1},
                                            {"3x3 s2 16->32 160x160", 16, 32, 160, 160, 3, 2, 1},
                                            {"7x7 s2 3->64 224x224", 3, 64, 224, 224, 7, 2, 1},
                                            {"3x3 s2 3->32 224x224", 3, 32, 224, 224, 3, 2, 1},
                                            {"dw 3x3 96 112x112", 96, 96, 112, 112, 3, 1, 96},
                                            {"dw 3x3 192 28x28", 192, 192, 28, 28, 3, 1, 192},
                                            {"dw 3x3 s2 144 56x56", 144, 144, 56, 56, 3, 2, 144},
                                            {"dw 5x5 240 14x14", 240, 240, 14, 14, 5, 1, 240},
                                            {"dw 7x7 96 56x56", 96, 96, 56, 56, 7, 1, 96},
                                            {"grouped 4 128 56x56", 128, 128, 56, 56, 3, 1, 32},
                                            {"grouped 8 128 56x56", 128, 128, 56, 56, 3, 1, 16},
                                            {"grouped 8 104 28x28", 104, 104, 28, 28, 3, 1, 13},
                                            {"grouped 8 s2 208 28x28", 208, 208, 28, 28, 3, 2, 26},
                                            {"grouped 8 440 7x7", 440, 440, 7, 7, 3, 1, 55},
                                            {"grouped 16 256 28x28", 256, 256, 28, 28, 3, 1, 16},
                                            {"grouped 32 512 14x14", 512, 512, 14, 14, 3, 1, 16},
                                            {"grouped 24 240 28x28", 240, 240, 28, 28, 3, 1, 10},
                                            {"grouped 40 240 14x14", 240, 240, 14, 14, 3, 1, 6},
                                            {"tr 2x2 s2 64->64 80x80", 64, 64, 80, 80, 2, 2, 1, 0},
                                            {"tr 4x4 s2 64->32 64x64", 64, 32, 64, 64, 4, 2, 1, 1}};
  return shapes;
}

/// The first convolution of a transposed one: all of it, or a set of its phases.
kernels::ConvSpec transposed_spec_of(const Shape& s, const targets::Target& target) {
  const auto extent = [&](int64_t in) { return (in - 1) * s.stride + s.kernel - 2 * s.transposed_pad; };
  const kernels::TransposedConv whole{.src = kernels::plain_map(1, s.c, s.h, s.w),
                                      .dst = kernels::plain_map(1, s.k, extent(s.h), extent(s.w)),
                                      .kernel_h = s.kernel,
                                      .kernel_w = s.kernel,
                                      .stride_h = s.stride,
                                      .stride_w = s.stride,
                                      .pad_top = s.transposed_pad,
                                      .pad_left = s.transposed_pad,
                                      .bias = true};
  kernels::ConvSpec spec = kernels::convolutions_of(whole).front();
  kernels::set_destination(spec,
                           kernels::blocked_map(1, s.k, extent(s.h), extent(s.w), target.vector_lanes, {}));
  spec.src = kernels::blocked_map(1, s.c, s.h, s.w, target.vector_lanes, kernels::required_halo(spec));
  return spec;
}

kernels::ConvSpec spec_of(const Shape& s, const targets::Target& target) {
  if (s.transposed_pad >= 0) return transposed_spec_of(s, target);
  const int64_t pad = s.kernel / 2, oh = (s.h - 1) / s.stride + 1, ow = (s.w - 1) / s.stride + 1;
  kernels::ConvSpec spec{
      .kernel_h = s.kernel, .kernel_w = s.kernel, .stride_h = s.stride, .stride_w = s.stride};
  spec.pad_top = spec.pad_left = pad;
  spec.groups = s.groups;
  spec.bias = true;
  spec.epilogue.steps = {
      {.kind = kernels::EpilogueStep::Kind::activation, .activation = {ir::Op::Relu, 0, 0}}};
  spec.dst = kernels::blocked_map(1, s.k, oh, ow, target.vector_lanes, {});
  spec.src = kernels::plain_map(1, s.c, s.h, s.w);
  const kernels::Halo halo = kernels::required_halo(spec);
  spec.src = s.c < target.vector_lanes ? kernels::plain_map(1, s.c, s.h, s.w, halo)
                                       : kernels::blocked_map(1, s.c, s.h, s.w, target.vector_lanes, halo);
  return spec;
}

struct Candidate {
  std::string label;
  kernels::KernelChoice choice;
};

std::vector<Candidate> candidates(const kernels::ConvSpec& spec, const targets::Target& target, size_t most) {
  std::vector<Candidate> result;
  if (kernels::conv_depthwise_supports(spec, target))
    for (const auto& tile : kernels::conv_depthwise_tiles(spec, target))
      result.push_back({fmt::format("depthwise {}", tile.pixels), kernels::ConvDepthwiseChoice{spec, tile}});
  if (kernels::conv_amx_supports(spec, target))
    for (const int products : {6, 3, 1}) {
      const auto tiles = kernels::conv_amx_tiles(spec, products, target);
      for (size_t i = 0; i < std::min(most, tiles.size()); ++i)
        result.push_back({fmt::format("amx{} rows {} by {}", products, tiles[i].rows, tiles[i].panel_slices),
                          kernels::ConvAmxChoice{spec, tiles[i]}});
    }
  const auto direct = kernels::conv_direct_supports(spec, target) ? kernels::conv_direct_tiles(spec, target)
                                                                  : std::vector<kernels::ConvTile>{};
  for (size_t i = 0; i < std::min(most, direct.size()); ++i)
    result.push_back({fmt::format("direct {}x{} merge {}", direct[i].pixels,
                                  direct[i].vectors * target.vector_lanes, direct[i].merged_rows),
                      kernels::ConvDirectChoice{spec, direct[i]}});
  if (!kernels::conv_winograd_supports(spec, target)) return result;
  for (const auto& tile : kernels::conv_winograd_tiles(spec, target)) {
    kernels::ConvSpec with_halo = spec;
    with_halo.src = kernels::blocked_map(1, spec.src.c, spec.src.h, spec.src.w, target.vector_lanes,
                                         kernels::winograd_halo(spec, tile));
    result.push_back({fmt::format("winograd F{} {} tiles", tile.m, tile.tiles),
                      kernels::ConvWinogradChoice{with_halo, tile}});
  }
  return result;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float[], Free>;

/// In large pages, as the runtime keeps weights and maps.
Memory allocate(int64_t elems) {
  constexpr size_t k_page = 2 << 20;
  const size_t bytes = (static_cast<size_t>(elems + 16) * 4 + k_page - 1) / k_page * k_page;
  Memory memory(static_cast<float*>(std::aligned_alloc(k_page, bytes)));
  madvise(memory.get(), bytes, MADV_HUGEPAGE);
  std::fill_n(memory.get(), elems, 0.25F);
  return memory;
}

/// One kernel with its memory; run() computes the whole launch.
class Subject {
 public:
  Subject(const loops::LoopNest& nest, KernelFunction function, bool rotate)
      : function_(function), slices_(nest.slices) {
    constexpr int64_t k_pool_elems = (100 << 20) / 4;
    for (const loops::Buffer& buffer : nest.buffers) {
      if (buffer.scratch) continue;
      const bool weights = operands_.size() == 1;
      stride_ = weights ? buffer.elems : stride_;
      copies_ = weights && rotate ? std::max<int64_t>(1, k_pool_elems / buffer.elems) : weights ? 1 : copies_;
      memories_.push_back(allocate(weights ? buffer.elems * copies_ : buffer.elems));
      operands_.push_back(memories_.back().get());
    }
    scratch_ = allocate(loops::scratch_bytes(nest) / 4 + 16);
    weights_ = memories_[1].get();
  }

  double run_ns() {
    turn_ = (turn_ + 1) % copies_;
    operands_[1] = weights_ + turn_ * stride_;
    int32_t status = 0;
    const Call call{operands_.data(), scratch_.get(), nullptr, &status};
    const auto start = std::chrono::steady_clock::now();
    function_(&call, 0, slices_);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  KernelFunction function_;
  int64_t slices_, copies_ = 1, stride_ = 0, turn_ = 0;
  std::vector<Memory> memories_;
  std::vector<void*> operands_;
  Memory scratch_;
  float* weights_ = nullptr;
};

void measure(const Shape& shape, const targets::Target& target, bool rotate, size_t most) {
  constexpr int k_rounds = 25;
  constexpr double k_warm_ns = 3e6;
  const kernels::ConvSpec spec = spec_of(shape, target);
  const std::vector<Candidate> all = candidates(spec, target, most);
  std::vector<loops::LoopNest> nests;
  for (const Candidate& candidate : all)
    nests.push_back(kernels::build("kernel" + std::to_string(nests.size()), candidate.choice, target));
  const driver::KernelLibrary library(nests, target);
  std::vector<Subject> subjects;
  for (size_t i = 0; i < nests.size(); ++i) subjects.emplace_back(nests[i], library.function(i), rotate);
  std::vector<std::vector<double>> times(nests.size());
  std::vector<double> peaks;
  for (int round = 0; round < k_rounds; ++round) {
    peaks.push_back(driver::measure_fma_peak_gflops(target, 2));
    for (size_t i = 0; i < subjects.size(); ++i) {
      // A core reaches its rate for wide vectors and tiles only after some milliseconds of them.
      for (double warm_ns = 0; warm_ns < k_warm_ns;) warm_ns += subjects[i].run_ns();
      times[i].push_back(subjects[i].run_ns());
    }
  }
  const auto middle = [](std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const kernels::Estimate e = kernels::estimate(all[i].choice, target);
    const double ns = middle(times[i]);
    fmt::print("{:<24}{:<26}{:>10.1f} us{:>9.1f} GF/s{:>7.2f} of peak{:>8.2f} predicted\n", shape.label,
               all[i].label, ns / 1e3, e.flops / ns, e.flops / ns / middle(peaks),
               e.flops / (e.executed_flops / e.efficiency));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Convolution kernels as a share of the FMA peak");
  std::string target_name = "native", only;
  bool rotate = false;
  size_t most = 3;
  app.add_option("--target", target_name, "CPU class");
  app.add_option("--only", only, "shapes whose label contains this");
  app.add_option("--tiles", most, "direct tiles to try");
  app.add_flag("--rotate", rotate, "weights from a pool of 100 MB");
  CLI11_PARSE(app, argc, argv);
  const targets::Target& target = targets::find(target_name);
  fmt::print("{}: FMA peak {:.1f} GF/s, one thread\n", target.name,
             driver::measure_fma_peak_gflops(target, 100));
  for (const Shape& shape : standard_shapes())
    if (shape.label.find(only) != std::string::npos) measure(shape, target, rotate, most);
}

// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_runner.h"

#include <algorithm>
#include <cstring>

#include "base/diagnostic.h"
#include "loops/interpreter.h"

namespace onepass::test {
namespace {

using plan::BufferSpace;

constexpr std::byte k_nan_byte{0xFF};

class Runner {
 public:
  Runner(const ir::Graph& graph, const plan::Plan& plan, const std::vector<ir::Tensor>& inputs)
      : plan_(plan),
        arena_(static_cast<size_t>(plan.arena_bytes), k_nan_byte),
        weights_(plan.weights),
        inputs_(inputs) {
    for (const ir::GraphOutput& output : graph.outputs()) {
      const ir::TensorType& type = graph.value(output.value).type;
      outputs_.emplace_back(type.dtype, type.dims);
      std::memset(outputs_.back().bytes(), 0xFF, static_cast<size_t>(outputs_.back().size_bytes()));
    }
  }

  std::vector<ir::Tensor> run() {
    for (const plan::Launch& launch : plan_.launches) run(launch);
    return std::move(outputs_);
  }

 private:
  std::span<std::byte> memory(int32_t buffer) {
    const plan::Buffer& b = plan_.buffers[buffer];
    const auto offset = static_cast<size_t>(std::max<int64_t>(0, b.offset_bytes)),
               size = static_cast<size_t>(b.size_bytes);
    switch (b.space) {
      case BufferSpace::arena:
        return std::span(arena_).subspan(offset, size);
      case BufferSpace::weights:
        return std::span(weights_).subspan(offset, size);
      case BufferSpace::input:
        return {inputs_.at(b.index).bytes(), size};
      case BufferSpace::output:
        return std::span(static_cast<std::byte*>(outputs_.at(b.index).bytes()), b.size_bytes + offset)
            .subspan(b.inside < 0 ? 0 : offset, size);
    }
    throw InternalError("a buffer lies somewhere");
  }

  void run(const plan::Launch& launch) {
    std::vector<std::span<std::byte>> operands;
    for (const int32_t buffer : launch.operands) operands.push_back(memory(buffer));
    if (launch.family == "routine") {
      require(launch.symbol == "onepass_copy_1" && operands.size() == 2, "the routine is a plain copy");
      std::memcpy(operands[1].data(), operands[0].data(), operands[1].size());
      return;
    }
    const auto nest =
        std::find_if(plan_.kernels.begin(), plan_.kernels.end(),
                     [&](const loops::LoopNest& kernel) { return kernel.name == launch.symbol; });
    require(nest != plan_.kernels.end(), "a launch names a kernel");
    check_sizes(*nest, operands);
    loops::interpret(*nest, operands, 0, launch.slices);
  }

  /// A kernel declares no more than what lies behind the start of its operand.
  static void check_sizes(const loops::LoopNest& nest, const std::vector<std::span<std::byte>>& operands) {
    size_t next = 0;
    for (const loops::Buffer& buffer : nest.buffers) {
      if (buffer.scratch) continue;
      const auto declared = static_cast<size_t>(buffer.elems * loops::element_bytes(buffer.scalar));
      require(declared <= operands.at(next++).size(), "a kernel declares no more than its operand holds");
    }
  }

  const plan::Plan& plan_;
  std::vector<std::byte> arena_, weights_;
  std::vector<ir::Tensor> inputs_, outputs_;
};

}  // namespace

bool runs_here(const plan::Plan& plan) {
  return std::all_of(plan.launches.begin(), plan.launches.end(), [](const plan::Launch& launch) {
    return launch.family != "routine" || launch.symbol == "onepass_copy_1";
  });
}

std::vector<ir::Tensor> run_plan(const ir::Graph& graph, const plan::Plan& plan,
                                 const std::vector<ir::Tensor>& inputs) {
  return Runner(graph, plan, inputs).run();
}

}  // namespace onepass::test

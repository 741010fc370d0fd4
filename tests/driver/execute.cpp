// SPDX-License-Identifier: Apache-2.0
#include "driver/execute.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace onepass::test {

std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, uint32_t seed) {
  std::vector<ir::Tensor> inputs;
  uint32_t state = seed * 2654435761U + 1;
  for (ir::ValueId id : graph.inputs()) {
    const ir::TensorType& type = graph.value(id).type;
    ir::Tensor values(ir::DType::f32, type.dims);
    for (float& value : values.data<float>()) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<double>(state) / 2147483648.0 - 1.0);
      if (type.dtype != ir::DType::f32) value = static_cast<float>(state >> 31);
    }
    inputs.push_back(values.cast(type.dtype));
  }
  return inputs;
}

std::vector<ir::Tensor> run_guarded(const driver::Program& program, const runtime::LoadedModel& model,
                                    const std::vector<ir::Tensor>& inputs, int threads) {
  runtime::Session session(model, threads, true);
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(session.input(static_cast<int>(i)), inputs[i].bytes(),
                static_cast<size_t>(inputs[i].size_bytes()));
  session.run();
  std::vector<ir::Tensor> outputs;
  for (size_t o = 0; o < program.graph.outputs().size(); ++o) {
    const ir::TensorType& type = program.graph.value(program.graph.outputs()[o].value).type;
    ir::Tensor output(type.dtype, session.output_dims(static_cast<int>(o)));
    std::memcpy(output.bytes(), session.output(static_cast<int>(o)),
                static_cast<size_t>(output.size_bytes()));
    outputs.push_back(output);
  }
  return outputs;
}

double error(const ir::Tensor& actual, const ir::Tensor& expected) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  if (actual.shape() != expected.shape() || actual.dtype() != expected.dtype()) return k_infinity;
  const std::vector<double> a = actual.to_doubles(), b = expected.to_doubles();
  double difference = 0, scale = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      if (std::isnan(a[i]) != std::isnan(b[i]) || (!std::isnan(a[i]) && a[i] != b[i])) return k_infinity;
      continue;
    }
    difference = std::max(difference, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  const bool floating = actual.dtype() == ir::DType::f32 || actual.dtype() == ir::DType::f64;
  return floating ? difference / scale : difference == 0 ? 0 : k_infinity;
}

bool same_bits(const ir::Tensor& a, const ir::Tensor& b) {
  return a.type() == b.type() && std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(a.size_bytes())) == 0;
}

}  // namespace onepass::test

// SPDX-License-Identifier: Apache-2.0
#include "property/properties.h"

#include <fmt/format.h>

#include "base/files.h"
#include "driver/execute.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "onnx/writer.h"
#include "ops/interpreter.h"
#include "targets/target.h"

namespace onepass::test {

namespace {

using driver::CompileOptions;
using driver::Fusion;
using Tensors = std::vector<ir::Tensor>;

constexpr double k_tolerance = 1e-5;
constexpr uint32_t k_input_seed = 7;

struct Subject {
  driver::Network network;
  Tensors inputs, reference, referee;
};

Subject subject_of(const std::string& text) {
  Subject s{.network = driver::network_of(ir::parse(text))};
  const ir::Graph& graph = s.network.model.graph;
  s.inputs = random_inputs(graph, k_input_seed);
  s.reference = ops::interpret(graph, s.inputs);
  s.referee = ops::interpret(graph, s.inputs, {.precision = ops::Precision::f64});
  return s;
}

ir::Tensor in_double(const ir::Tensor& tensor) {
  return tensor.dtype() == ir::DType::f32 ? tensor.cast(ir::DType::f64) : tensor;
}

std::string compare(const Subject& s, const Tensors& actual, const std::string& what) {
  for (size_t o = 0; o < s.reference.size(); ++o) {
    const double direct = error(actual[o], s.reference[o]);
    if (direct <= k_tolerance) continue;
    const double exact = error(in_double(actual[o]), s.referee[o]),
                 reference = error(in_double(s.reference[o]), s.referee[o]);
    if (exact <= k_tolerance && exact <= reference) continue;
    return fmt::format(
        "parity {}: output {} is {:.2g} from the reference and {:.2g} from the referee, the reference {:.2g}",
        what, o, direct, exact, reference);
  }
  return "";
}

/// What `check` says; an exception is an answer too.
template <class Check>
std::string guarded(const Check& check) {
  try {
    return check();
  } catch (const Error& error) {
    return std::string("refused ") + error.what();
  } catch (const InternalError& error) {
    return std::string("internal ") + error.what();
  }
}

std::string parity_of(const Subject& s, const CompileOptions& options, const std::string& what) {
  const driver::Program program = driver::plan_network(s.network, options);
  ir::verify(program.graph);
  const runtime::LoadedModel model = driver::load_program(s.network, program, options);
  return compare(s, run_guarded(program, model, s.inputs), what);
}

}  // namespace

std::string parity(const std::string& text) {
  return guarded([&]() -> std::string {
    const Subject s = subject_of(text);
    for (const auto& [fusion, name] :
         {std::pair{Fusion::off, "unfused"}, {Fusion::folded, "folded"}, {Fusion::on, "fused"}}) {
      const std::string fault = parity_of(s, {.fusion = fusion}, name);
      if (!fault.empty()) return fault;
    }
    return "";
  });
}

std::string parity_of_other_targets(const std::string& text) {
  return guarded([&]() -> std::string {
    const Subject s = subject_of(text);
    for (const targets::Target& target : targets::all()) {
      if (!targets::host_executes(target) || &target == &targets::find("native")) continue;
      const std::string fault = parity_of(s, {.target = target.name}, target.name);
      if (!fault.empty()) return fault;
    }
    return "";
  });
}

std::string threads_agree(const std::string& text) {
  return guarded([&]() -> std::string {
    const Subject s = subject_of(text);
    const driver::Program program = driver::plan_network(s.network, {});
    const runtime::LoadedModel model = driver::load_program(s.network, program, {});
    const Tensors one = run_guarded(program, model, s.inputs, 1);
    for (const int threads : {2, 3}) {
      const Tensors many = run_guarded(program, model, s.inputs, threads);
      for (size_t o = 0; o < one.size(); ++o)
        if (!same_bits(one[o], many[o]))
          return fmt::format("threads {}: output {} has other bits", threads, o);
    }
    return "";
  });
}

std::string text_round_trip(const std::string& text) {
  return guarded([&]() -> std::string {
    const driver::Network network = driver::network_of(ir::parse(text));
    for (const ir::Graph& graph : {network.model.graph, driver::plan_network(network, {}).graph}) {
      const std::string printed = ir::print(graph);
      if (ir::print(ir::parse(printed)) != printed) return "text changes on its way through the parser";
    }
    return "";
  });
}

std::string same_artefact_bytes(const std::string& text) {
  return guarded([&]() -> std::string {
    const TemporaryFolder folder;
    std::vector<std::byte> files[2];
    for (std::vector<std::byte>& file : files) {
      const driver::Network network = driver::network_of(ir::parse(text));
      driver::write_artefact(network, driver::plan_network(network, {}), {}, folder.file("model.so"));
      file = read_file(folder.file("model.so"));
    }
    return files[0] == files[1] ? "" : "bytes differ between two compilations";
  });
}

std::string onnx_round_trip(const std::string& text) {
  return guarded([&]() -> std::string {
    const Subject s = subject_of(text);
    const TemporaryFolder folder;
    onnx::write_model(driver::plan_network(s.network, {.fusion = Fusion::folded}).graph,
                      folder.file("folded.onnx"));
    const driver::Network network = driver::read_network(folder.file("folded.onnx"), {});
    ir::verify(network.model.graph);
    return compare(s, ops::interpret(network.model.graph, s.inputs), "folded.onnx");
  });
}

}  // namespace onepass::test

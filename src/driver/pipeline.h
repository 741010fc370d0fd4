// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "budget/budget.h"
#include "onnx/reader.h"
#include "patterns/catalogue.h"
#include "plan/plan.h"
#include "runtime/loaded_model.h"

namespace onepass::driver {

/// How much is fused; each is compiled from the same kernel generators.
enum class Fusion {
  off,     ///< one kernel per node: the honest baseline
  folded,  ///< rewrites only
  on,      ///< the product
};

struct CompileOptions {
  std::string target = "native";
  Fusion fusion = Fusion::on;
  patterns::ResidualMode residual = patterns::ResidualMode::proven;
  onnx::ReadOptions read;
  patterns::RewriteOptions rewrite;
  bool exact = false;  ///< direct sums alone: no algorithm whose error is not that of a sum in order
  /// Otherwise the error budget at the network's outputs, as verify measures it.
  double tolerance = budget::k_default_tolerance;
  /// Of seeded noise, which stands for pictures; none: budget::Options' and the sidecar's.
  std::optional<std::pair<double, double>> budget_range;
  std::string preprocessing;               ///< how pictures become inputs; empty: MODEL.json beside the model
  std::vector<std::string> budget_frames;  ///< pictures to take the budget on; none: seeded noise
  std::string object_cache;   ///< folder of kernel objects (object_cache.h); empty: none. Never changes bytes
  std::string machine;        ///< a machine description (machine_file.h); empty: the target's nominal figures
  std::string sensitivities;  ///< a file that keeps what the budget measured; empty: none
  std::string choices;        ///< kernels that tune() found faster (tune.h); empty: the cost model's
};

/// A model as read: typed, before any pass. What the reference interprets.
struct Network {
  std::string path;
  onnx::Model model;
  uint64_t hash = 0;  ///< of the file
};

/// A network after passes and planning, for one target.
struct Program {
  ir::Graph graph;
  patterns::Journal journal;
  std::shared_ptr<const targets::Target> target;  ///< what the plan refers to
  budget::Report budget;                          ///< tolerance 0 when the options ask for exact sums
  plan::Plan plan;
};

/// A network after the rewrites alone: plain operators.
struct Folded {
  ir::Graph graph;
  patterns::Journal journal;
};

/// The stages in order; docs/architecture.md says why each stands where it does.
Network read_network(const std::string& path, const CompileOptions& options);
/// A network from a graph that was built or parsed rather than read; types it.
Network network_of(ir::Graph graph);
Folded fold_network(const Network& network, const CompileOptions& options);
Program plan_network(const Network& network, const CompileOptions& options);
/// model.so at `path`. Same network, options and target: same bytes.
void write_artefact(const Network& network, const Program& program, const CompileOptions& options,
                    const std::string& path);
/// The C header that goes with it.
std::string artefact_header(const Program& program, const std::string& model_name);

/// Compiles and loads in this process: the same bytes as write_artefact, from a temporary file.
runtime::LoadedModel load_program(const Network& network, const Program& program,
                                  const CompileOptions& options);

}  // namespace onepass::driver

// SPDX-License-Identifier: Apache-2.0
//
// Every stage from an ONNX file to a model.so, in order.
#include "driver/pipeline.h"

#include "artefact/description.h"
#include "base/files.h"
#include "driver/budget.h"
#include "driver/describe.h"
#include "driver/machine_file.h"
#include "driver/object_cache.h"
#include "driver/tune.h"
#include "emit/emit.h"
#include "passes/infer_shapes.h"
#include "passes/pipeline.h"
#include "patterns/batchnorm.h"
#include "runtime/exports.h"
#include "runtime/inside_archive.h"
#include "targets/target.h"

namespace onepass::driver {

Network read_network(const std::string& path, const CompileOptions& options) {
  Network network{.path = path, .model = onnx::read_model(path, options.read)};
  network.hash = hash_file(path);
  // Types first: every later stage, and the reference, works on static shapes.
  passes::infer_shapes(network.model.graph);
  return network;
}

Network network_of(ir::Graph graph) {
  Network network{.path = graph.name, .model = {.graph = std::move(graph)}};
  passes::infer_shapes(network.model.graph);
  return network;
}

namespace {

/// Rewrites speak of the BatchNormalizations that they fold; this of the others that use running statistics.
void warn_about_unfolded_statistics(const ir::Graph& graph, patterns::Journal& journal) {
  for (const ir::NodeId id : graph.topological_order()) {
    if (graph.node(id).op != ir::Op::BatchNormalization ||
        patterns::batchnorm_failure(graph, id, {"", "", ""}))
      continue;
    patterns::warn_about_statistics(graph, id, journal);
  }
}

}  // namespace

Folded fold_network(const Network& network, const CompileOptions& options) {
  Folded folded{.graph = network.model.graph};
  folded.journal.warnings = network.model.warnings;
  passes::run_passes(folded.graph, folded.journal,
                     {.rewrites = options.fusion != Fusion::off, .rewrite = options.rewrite});
  warn_about_unfolded_statistics(folded.graph, folded.journal);
  return folded;
}

Program plan_network(const Network& network, const CompileOptions& options) {
  const std::shared_ptr<const targets::Target> owned_target = target_of(options);
  const targets::Target& target = *owned_target;
  // Rewrites come before grouping, so that no fold crosses an activation that a kernel has absorbed.
  Folded folded = fold_network(network, options);
  Program program{.graph = std::move(folded.graph), .journal = std::move(folded.journal)};
  program.target = owned_target;
  plan::PlanOptions plan_options{.joins = options.fusion == Fusion::on,
                                 .concat_slices = options.fusion == Fusion::on,
                                 .stripes = options.fusion == Fusion::on,
                                 .join = {.residual = options.residual}};
  if (options.exact) {
    plan_options.conv = kernels::ConvPolicy::exact();
  } else {
    budget::Assignment assignment = assign_budget(network, program.graph, target, options);
    if (assignment.report.bf16_maps) plan_options.storage = loops::Scalar::bf16;
    program.budget = std::move(assignment.report);
    plan_options.conv_by_value = std::move(assignment.policies);
  }
  if (!options.choices.empty()) plan_options.tiles = read_choices(options.choices);
  program.plan = plan::make_plan(program.graph, target, plan_options);
  return program;
}

namespace {

/// An object for each kernel, from the cache where it holds them.
std::vector<emit::Object> kernel_objects(const plan::Plan& plan, const CompileOptions& options) {
  constexpr int k_jobs = 2;
  if (options.object_cache.empty()) return emit::compile_objects(plan.kernels, *plan.target, k_jobs);
  const ObjectCache cache(options.object_cache);
  const emit::ObjectStore store = cache.store();
  std::vector<emit::Object> objects = emit::compile_objects(plan.kernels, *plan.target, k_jobs, &store);
  cache.trim();
  return objects;
}

}  // namespace

void write_artefact(const Network& network, const Program& program, const CompileOptions& options,
                    const std::string& path) {
  const targets::Target& target = *program.plan.target;
  const TemporaryFolder folder;
  write_file(folder.file("weights.bin"), program.plan.weights);
  write_file(folder.file("inside.a"), runtime::inside_archive());
  const artefact::Description description = describe(network, program, options);
  const std::string data = artefact::data_assembly(description, folder.file("weights.bin"));
  emit::assemble_to_file(data, target, folder.file("data.o"));
  emit::LinkInput link{.object_paths = {folder.file("data.o")}, .soname = "model.so"};
  for (const char* symbol : runtime::k_exported_symbols) link.exported.emplace_back(symbol);
  const std::vector<emit::Object> objects = kernel_objects(program.plan, options);
  for (size_t i = 0; i < objects.size(); ++i) {
    link.object_paths.push_back(folder.file("kernels" + std::to_string(i) + ".o"));
    write_file(link.object_paths.back(), objects[i]);
  }
  link.object_paths.push_back(folder.file("inside.a"));
  emit::link_shared(link, target, path);
}

std::string artefact_header(const Program& program, const std::string& model_name) {
  return artefact::c_header(describe_interface(program), model_name);
}

runtime::LoadedModel load_program(const Network& network, const Program& program,
                                  const CompileOptions& options) {
  const TemporaryFolder folder;
  write_artefact(network, program, options, folder.file("model.so"));
  // The mapping outlives the file.
  return runtime::LoadedModel(folder.file("model.so"));
}

}  // namespace onepass::driver

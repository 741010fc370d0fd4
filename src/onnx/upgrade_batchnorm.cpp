// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

using ir::Op;
using ir::ValueId;

constexpr double k_default_epsilon = 1e-5;
constexpr const char* k_export_hint =
    "export in inference mode: model.eval() before torch.onnx.export, without training=TrainingMode.TRAINING "
    "(TrainingMode.EVAL is the default); or pass --bn=assume-eval to use the stored running statistics";

void check_parameters(const SourceNode& node) {
  constexpr const char* k_names[] = {"X", "scale", "B", "mean", "var"};
  std::vector<std::string> missing;
  for (size_t i = 0; i < std::size(k_names); ++i)
    if (!node.has_input(i)) missing.push_back(k_names[i]);
  if (missing.empty()) return;
  throw refuse(
      node, {.code = "missing_batchnorm_input",
             .message = fmt::format("BatchNormalization lacks its input {}", fmt::join(missing, " and ")),
             .accepted = "X, scale, B, mean and var",
             .hint = "a layer with track_running_stats=False keeps no mean and var; export one that does"});
}

bool is_training(const SourceNode& node) {
  if (node.opset >= 14) return node.attributes.get_int("training_mode", 0) != 0;
  return std::count_if(node.outputs.begin(), node.outputs.end(),
                       [](const auto& name) { return !name.empty(); }) > 1;
}

/// The name of a statistics output that something reads; "" when there is none.
std::string statistics_reader(const Importer& importer, const SourceNode& node) {
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (!node.outputs[i].empty() && importer.is_read(node.outputs[i])) return node.outputs[i];
  return {};
}

void read_as_inference(Importer& importer, SourceNode& node) {
  const char* sign = node.opset >= 14 ? "training_mode is 1"
                                      : "it has more than one output, which before opset 14 means training";
  if (importer.options().batch_norm != BatchNormMode::assume_eval)
    throw refuse(node,
                 {.code = "training_mode_batchnorm",
                  .message = fmt::format(
                      "BatchNormalization is in training mode ({}): it normalises with the statistics of "
                      "each batch, and folding would freeze those of one batch into the weights",
                      sign),
                  .accepted = "BatchNormalization in inference mode",
                  .hint = k_export_hint});
  if (const std::string used = statistics_reader(importer, node); !used.empty())
    throw refuse(node,
                 {.code = "training_mode_batchnorm",
                  .message = fmt::format(
                      "BatchNormalization is in training mode and its statistics output '{}' is used", used),
                  .accepted = "BatchNormalization in inference mode",
                  .hint = k_export_hint});
  Diagnostic warning =
      refuse(node,
             {.severity = Severity::warning,
              .code = "batchnorm_assumed_eval",
              .message = fmt::format("BatchNormalization in training mode ({}) is read as inference with its "
                                     "stored statistics, as --bn=assume-eval asks",
                                     sign)})
          .diagnostics()
          .front();
  importer.warnings.push_back(std::move(warning));
}

/// spatial=0 before opset 9: scale, B, mean and var hold one number per element of [C,H,W].
void emit_per_element(Importer& importer, SourceNode& node) {
  const float epsilon = static_cast<float>(node.attributes.get_float("epsilon", k_default_epsilon));
  const ValueId epsilon_value = importer.add_constant(node, "epsilon", ir::Tensor::scalar(epsilon));
  const ValueId centered = importer.emit_step(node, Op::Sub, {node.inputs[0], node.inputs[3]});
  const ValueId shifted = importer.emit_step(node, Op::Add, {node.inputs[4], epsilon_value});
  const ValueId deviation = importer.emit_step(node, Op::Sqrt, {shifted});
  const ValueId normal = importer.emit_step(node, Op::Div, {centered, deviation});
  const ValueId scaled = importer.emit_step(node, Op::Mul, {normal, node.inputs[1]});
  node.op = "Add";
  node.inputs = {scaled, node.inputs[2]};
  node.attributes = {};
  importer.emit(node);
}

}  // namespace

void upgrade_batch_normalization(Importer& importer, SourceNode& node) {
  check_parameters(node);
  expect_inputs(node, 5);
  const size_t max_outputs = node.opset >= 14 ? 3 : 5;
  if (node.outputs.size() > max_outputs)
    throw refuse(node, {.code = "output_count",
                        .message = fmt::format("the node has {} outputs", node.outputs.size()),
                        .accepted = fmt::format("at most {} at opset {}", max_outputs, node.opset)});
  if (is_training(node)) read_as_inference(importer, node);
  if (const std::string used = statistics_reader(importer, node); !used.empty())
    throw refuse(node,
                 {.code = "batchnorm_statistics",
                  .message = fmt::format("output '{}' exists in training mode alone, but is used", used),
                  .accepted = "the first output"});
  node.outputs.resize(1);
  const bool per_element = node.attributes.get_int("spatial", 1) == 0 && importer.rank(node.inputs[0]) != 2;
  node.attributes.erase("spatial");
  node.attributes.erase("training_mode");
  if (per_element) return emit_per_element(importer, node);
  importer.emit(node);
}

}  // namespace onepass::onnx

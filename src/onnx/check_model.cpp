// SPDX-License-Identifier: Apache-2.0
#include "onnx/check_model.h"

#include <fmt/format.h>

#include <vector>

#include "base/diagnostic.h"
#include "onnx/schema.h"

namespace onepass::onnx {

namespace {

constexpr int64_t k_newest_ir_version = 14;  // of the release that brought k_newest_opset
constexpr size_t k_max_reported = 200;

bool is_standard(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

Error refused_opset(int64_t opset) {
  return Error({.code = "unsupported_opset",
                .message = fmt::format("the model uses opset {}", opset),
                .accepted = fmt::format("opset {} to {}", k_oldest_opset, k_newest_opset),
                .hint = opset < k_oldest_opset
                            ? "convert it with onnx.version_converter, or export it anew"
                            : "export with a lower opset_version, or use a newer onepass"});
}

int find_opset(const pb::ModelProto& model) {
  int64_t opset = 0;
  for (const auto& import : model.opset_import()) {
    if (!is_standard(import.domain())) continue;
    if (opset != 0 && opset != import.version())
      throw Error(
          {.code = "unsupported_opset",
           .message = fmt::format("the model imports opsets {} and {} at once", opset, import.version()),
           .accepted = "one opset of the standard operators"});
    opset = import.version();
    if (opset < k_oldest_opset || opset > k_newest_opset) throw refused_opset(opset);
  }
  if (opset == 0)
    throw Error({.code = "missing_opset",
                 .message = "the model imports no opset of the standard operators",
                 .accepted = fmt::format("an opset_import for domain \"\", version {} to {}", k_oldest_opset,
                                         k_newest_opset),
                 .hint = "a file that was cut short loses its opset too: compare its size"});
  return static_cast<int>(opset);
}

void check_features(const pb::ModelProto& model) {
  if (model.ir_version() < 1 || model.ir_version() > k_newest_ir_version)
    throw Error({.code = "unsupported_ir_version",
                 .message = fmt::format("the file has IR version {}", model.ir_version()),
                 .accepted = fmt::format("IR version 1 to {}", k_newest_ir_version)});
  if (model.functions_size() > 0)
    throw Error({.code = "unsupported_function",
                 .message = fmt::format("the model defines its own function '{}'", model.functions(0).name()),
                 .accepted = "standard operators",
                 .hint = "inline functions with onnx.inliner.inline_local_functions"});
  if (model.graph().sparse_initializer_size() > 0)
    throw Error({.code = "unsupported_sparse_tensor",
                 .message = fmt::format("initializer '{}' is sparse",
                                        model.graph().sparse_initializer(0).values().name()),
                 .accepted = "dense initializers"});
}

std::string operator_hint(const OpsetRange& opsets, int opset) {
  if (opsets.first == 0) return {};
  return opset < opsets.first ? fmt::format("the standard has this operator from opset {}", opsets.first)
                              : fmt::format("the standard removed this operator after opset {}", opsets.last);
}

/// Fills `diagnostic` when the node is not one of ours.
bool is_unsupported(const pb::NodeProto& node, int opset, Diagnostic& diagnostic) {
  diagnostic.node = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  diagnostic.op = node.op_type();
  diagnostic.opset = opset;
  if (!is_standard(node.domain())) {
    diagnostic.code = "unsupported_domain";
    diagnostic.message = fmt::format("operator '{}' belongs to domain '{}', not to the ONNX standard",
                                     node.op_type(), node.domain());
    diagnostic.accepted = "domain ai.onnx";
    diagnostic.hint =
        "give onepass the model as the framework exported it, before another runtime optimised it";
    return true;
  }
  const OpsetRange opsets = operator_opsets(node.op_type());
  if (opsets.first != 0 && opsets.first <= opset && opset <= opsets.last) return false;
  diagnostic.code = "unsupported_operator";
  diagnostic.message = fmt::format("operator '{}' is not supported at opset {}", node.op_type(), opset);
  diagnostic.hint = operator_hint(opsets, opset);
  return true;
}

void check_operators(const pb::GraphProto& graph, int opset) {
  std::vector<Diagnostic> refusals;
  size_t count = 0;
  for (const pb::NodeProto& node : graph.node()) {
    Diagnostic diagnostic;
    if (is_unsupported(node, opset, diagnostic) && ++count <= k_max_reported)
      refusals.push_back(std::move(diagnostic));
  }
  if (count > refusals.size())
    refusals.push_back({.code = "unsupported_operator",
                        .message = fmt::format("and {} more nodes", count - refusals.size())});
  if (!refusals.empty()) throw Error(std::move(refusals));
}

}  // namespace

int check_model(const pb::ModelProto& model) {
  check_features(model);
  const int opset = find_opset(model);
  check_operators(model.graph(), opset);
  return opset;
}

}  // namespace onepass::onnx

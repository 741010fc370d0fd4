// SPDX-License-Identifier: Apache-2.0
#include "onnx/schema.h"

#include <fmt/format.h>

#include <utility>

#include "base/diagnostic.h"
#include "ir/op.h"

namespace onepass::onnx {

namespace {

constexpr int k_newest = k_newest_opset;

enum class AttributeType : uint8_t { integer, real, text, integers, reals, tensor, other };
enum class Presence : uint8_t { optional, required };

struct AttributeRow {
  std::string_view op, name;
  AttributeType type;
  int first, last;
  Presence presence;
};

constexpr AttributeRow k_attributes[] = {
#define ONEPASS_ATTRIBUTE(op, attribute, type, first, last, presence) \
  {#op, #attribute, AttributeType::type, first, last, Presence::presence},
#include "onnx/attributes.def"
#undef ONEPASS_ATTRIBUTE
};

struct VersionRow {
  std::string_view op;
  OpsetRange opsets;
};

constexpr VersionRow k_versions[] = {
#define ONEPASS_VERSION(op, first, last) {#op, {first, last}},
#include "onnx/versions.def"
#undef ONEPASS_VERSION
};

/// Inputs that users give as attributes.
constexpr std::pair<std::string_view, int> k_selection_inputs[] = {
    {"max_output_boxes_per_class", 2}, {"iou_threshold", 3}, {"score_threshold", 4}};

Error refused(const pb::NodeProto& node, int opset, Diagnostic diagnostic) {
  diagnostic.node = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
  diagnostic.op = node.op_type();
  diagnostic.opset = opset;
  return Error(std::move(diagnostic));
}

const AttributeRow* find_row(std::string_view op, std::string_view name, int opset) {
  const AttributeRow* other = nullptr;
  for (const AttributeRow& row : k_attributes) {
    if (row.op != op || row.name != name) continue;
    if (row.first <= opset && opset <= row.last) return &row;
    other = &row;
  }
  return other;
}

std::string accepted_names(std::string_view op, int opset) {
  std::string names;
  for (const AttributeRow& row : k_attributes)
    if (row.op == op && row.first <= opset && opset <= row.last)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  return names.empty() ? "no attributes" : names;
}

std::string hint_for(const pb::NodeProto& node, const std::string& name, const AttributeRow* row, int opset) {
  if (row != nullptr && opset > row->last && row->last < k_newest)
    return fmt::format("from opset {} on '{}' is an input or gone", row->last + 1, name);
  if (row != nullptr && opset < row->first) return fmt::format("'{}' came with opset {}", name, row->first);
  if (node.op_type() != "NonMaxSuppression") return {};
  for (const auto& [input, index] : k_selection_inputs)
    if (name == input)
      return fmt::format("'{}' is an input of NonMaxSuppression (number {}), not an attribute", name, index);
  return {};
}

pb::AttributeProto::AttributeType proto_type(AttributeType type) {
  constexpr pb::AttributeProto::AttributeType k_types[] = {
      pb::AttributeProto::INT,      pb::AttributeProto::FLOAT,  pb::AttributeProto::STRING,
      pb::AttributeProto::INTS,     pb::AttributeProto::FLOATS, pb::AttributeProto::TENSOR,
      pb::AttributeProto::UNDEFINED};
  return k_types[static_cast<size_t>(type)];
}

/// Whether the attribute says, or without saying so holds, what the row asks for.
bool has_type(const pb::AttributeProto& attribute, AttributeType type) {
  if (!attribute.ref_attr_name().empty()) return false;
  if (attribute.type() != pb::AttributeProto::UNDEFINED) return attribute.type() == proto_type(type);
  switch (type) {
    case AttributeType::integer:
      return attribute.has_i();
    case AttributeType::real:
      return attribute.has_f();
    case AttributeType::text:
      return attribute.has_s();
    case AttributeType::tensor:
      return attribute.has_t();
    default:
      return true;
  }
}

ir::Attribute convert(const pb::AttributeProto& attribute, AttributeType type, TensorReader& tensors) {
  switch (type) {
    case AttributeType::integer:
      return attribute.i();
    case AttributeType::real:
      return static_cast<double>(attribute.f());
    case AttributeType::text:
      return attribute.s();
    case AttributeType::integers:
      return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
    case AttributeType::reals:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    default:
      return tensors.read(attribute.t(), fmt::format("attribute '{}'", attribute.name()));
  }
}

ir::Attribute read_attribute(const pb::NodeProto& node, const pb::AttributeProto& attribute, int opset,
                             TensorReader& tensors) {
  const AttributeRow* row = find_row(node.op_type(), attribute.name(), opset);
  if (row == nullptr || opset < row->first || opset > row->last)
    throw refused(node, opset,
                  {.code = "unknown_attribute",
                   .message = fmt::format("attribute '{}' is none of this operator's", attribute.name()),
                   .accepted = accepted_names(node.op_type(), opset),
                   .hint = hint_for(node, attribute.name(), row, opset)});
  if (row->type == AttributeType::other)
    throw refused(
        node, opset,
        {.code = "unsupported_attribute",
         .message = fmt::format("attribute '{}' holds strings or a sparse tensor", attribute.name()),
         .accepted = "dense numbers"});
  if (!has_type(attribute, row->type))
    throw refused(node, opset,
                  {.code = "attribute_type",
                   .message = fmt::format("attribute '{}' has another type than the standard gives it",
                                          attribute.name()),
                   .accepted = pb::AttributeProto::AttributeType_Name(proto_type(row->type))});
  try {
    return convert(attribute, row->type, tensors);
  } catch (const Error& error) {
    throw refused(node, opset, error.diagnostics().front());
  }
}

}  // namespace

OpsetRange operator_opsets(std::string_view op) {
  for (const VersionRow& row : k_versions)
    if (row.op == op) return row.opsets;
  if (op == "Constant" || ir::op_from_name(op)) return {k_oldest_opset, k_newest_opset};
  return {};
}

int attribute_since(std::string_view op, std::string_view attribute) {
  for (const AttributeRow& row : k_attributes)
    if (row.op == op && row.name == attribute) return row.first;
  return 0;
}

ir::Attributes read_attributes(const pb::NodeProto& node, int opset, TensorReader& tensors) {
  ir::Attributes attributes;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attributes.has(attribute.name()))
      throw refused(node, opset,
                    {.code = "duplicate_attribute",
                     .message = fmt::format("attribute '{}' is given twice", attribute.name())});
    attributes.set(attribute.name(), read_attribute(node, attribute, opset, tensors));
  }
  for (const AttributeRow& row : k_attributes) {
    const bool needed = row.op == node.op_type() && row.presence == Presence::required &&
                        row.first <= opset && opset <= row.last;
    if (needed && !attributes.has(std::string(row.name)))
      throw refused(
          node, opset,
          {.code = "missing_attribute", .message = fmt::format("attribute '{}' is missing", row.name)});
  }
  return attributes;
}

}  // namespace onepass::onnx

// SPDX-License-Identifier: Apache-2.0
#include "onnx/bind_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/element_types.h"
#include "onnx/tensor_reader.h"

namespace onepass::onnx {

namespace {

using Symbols = std::map<std::string, int64_t>;
using Dimension = pb::TensorShapeProto::Dimension;

bool is_fixed(const Dimension& dimension) {
  return dimension.has_dim_value() && dimension.dim_value() > 0;
}

std::string dimension_name(const Dimension& dimension) {
  return dimension.dim_param().empty() ? "?" : dimension.dim_param();
}

std::string declared(const pb::TensorShapeProto& shape) {
  std::vector<std::string> dims;
  for (const Dimension& dimension : shape.dim())
    dims.push_back(is_fixed(dimension) ? fmt::format("{}", dimension.dim_value())
                                       : dimension_name(dimension));
  return fmt::format("[{}]", fmt::join(dims, ","));
}

const pb::TypeProto_Tensor& tensor_type(const pb::ValueInfoProto& input) {
  if (!input.has_type() || input.type().value_case() == pb::TypeProto::VALUE_NOT_SET)
    throw Error(
        {.code = "missing_type", .message = fmt::format("graph input '{}' has no type", input.name())});
  if (!input.type().has_tensor_type())
    throw Error({.code = "unsupported_type",
                 .message = fmt::format("graph input '{}' is no dense tensor", input.name()),
                 .accepted = "dense tensors"});
  return input.type().tensor_type();
}

/// 16- and unsigned 32-bit integers would change width under the caller, so they are refused here.
const ElementType& input_element(const pb::ValueInfoProto& input, const pb::TypeProto_Tensor& tensor) {
  const ElementType* type = element_type(tensor.elem_type());
  if (type != nullptr && (type->same_bits || type->dtype == ir::DType::f32)) return *type;
  throw Error(
      {.code = "unsupported_type",
       .message = fmt::format("graph input '{}' has element type {}", input.name(), tensor.elem_type()),
       .accepted = "float, float16, bfloat16, double, int64, int32, int8, uint8, bool"});
}

Error mismatch(const std::string& name, const ir::Shape& given, const std::string& wanted) {
  return Error({.code = "shape_mismatch",
                .message = fmt::format("--shape gives input '{}' the shape {}, but the model declares {}",
                                       name, ir::to_string(given), wanted),
                .accepted = "the model's fixed dimensions, and any positive number elsewhere"});
}

void bind_symbol(Symbols& symbols, const Dimension& dimension, int64_t extent, const std::string& input) {
  if (dimension.dim_param().empty() || is_fixed(dimension)) return;
  const auto [known, added] = symbols.emplace(dimension.dim_param(), extent);
  if (!added && known->second != extent)
    throw Error({.code = "shape_mismatch",
                 .message = fmt::format("dimension '{}' is {} in one input and {} in '{}'",
                                        dimension.dim_param(), known->second, extent, input)});
}

/// Checks a --shape against the declaration and learns its symbols.
void check_given(const pb::ValueInfoProto& input, const ir::Shape& given, Symbols& symbols) {
  const bool positive = std::all_of(given.begin(), given.end(), [](int64_t extent) { return extent > 0; });
  const pb::TypeProto_Tensor& tensor = tensor_type(input);
  if (!positive || !is_sane_shape(given))
    throw mismatch(input.name(), given, "positive dimensions of a sane size");
  if (!tensor.has_shape()) return;
  const pb::TensorShapeProto& shape = tensor.shape();
  if (static_cast<size_t>(shape.dim_size()) != given.size())
    throw mismatch(input.name(), given, declared(shape));
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    if (is_fixed(shape.dim(axis)) && shape.dim(axis).dim_value() != given[axis])
      throw mismatch(input.name(), given, declared(shape));
    bind_symbol(symbols, shape.dim(axis), given[axis], input.name());
  }
}

Error unbound(const pb::ValueInfoProto& input, const std::vector<std::string>& names,
              const std::vector<std::string>& dims) {
  return Error({.code = "unbound_dimension",
                .message = fmt::format("dimension {} of graph input '{}' is not known",
                                       fmt::join(names, " and "), input.name()),
                .accepted = "static shapes",
                .hint = fmt::format("bind it with --shape {}={} (a number for each <...>)", input.name(),
                                    fmt::join(dims, "x"))});
}

ir::Shape bind_shape(const pb::ValueInfoProto& input, const pb::TypeProto_Tensor& tensor,
                     const Symbols& symbols) {
  if (!tensor.has_shape()) throw unbound(input, {"count"}, {"<every dimension>"});
  ir::Shape bound;
  std::vector<std::string> names, dims;
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
    const Dimension& dimension = tensor.shape().dim(axis);
    const auto symbol = symbols.find(dimension.dim_param());
    int64_t extent = is_fixed(dimension) ? dimension.dim_value() : 0;
    if (extent == 0 && symbol != symbols.end() && !dimension.dim_param().empty()) extent = symbol->second;
    if (extent == 0 && axis == 0) extent = 1;
    if (extent == 0) names.push_back(fmt::format("{} ('{}')", axis, dimension_name(dimension)));
    dims.push_back(extent == 0 ? fmt::format("<{}>", dimension_name(dimension)) : fmt::format("{}", extent));
    bound.push_back(extent);
  }
  if (!names.empty()) throw unbound(input, names, dims);
  if (!is_sane_shape(bound))
    throw Error({.code = "bad_tensor_shape",
                 .message = fmt::format("graph input '{}' has the shape {}, which is too large", input.name(),
                                        ir::to_string(bound))});
  return bound;
}

void check_names(std::span<const pb::ValueInfoProto* const> inputs, const ReadOptions& options) {
  std::vector<std::string> names;
  for (const pb::ValueInfoProto* input : inputs) names.push_back(input->name());
  for (const auto& [name, shape] : options.input_shapes)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error({.code = "unknown_input",
                   .message = fmt::format("--shape names '{}', which is no input of the model", name),
                   .accepted = fmt::format("{}", fmt::join(names, ", "))});
}

}  // namespace

std::vector<BoundInput> bind_inputs(std::span<const pb::ValueInfoProto* const> inputs,
                                    const ReadOptions& options) {
  check_names(inputs, options);
  Symbols symbols;
  for (const pb::ValueInfoProto* input : inputs)
    if (const auto given = options.input_shapes.find(input->name()); given != options.input_shapes.end())
      check_given(*input, given->second, symbols);
  std::vector<BoundInput> bound;
  std::vector<Diagnostic> refusals;
  for (const pb::ValueInfoProto* input : inputs) {
    try {
      const pb::TypeProto_Tensor& tensor = tensor_type(*input);
      const ElementType& element = input_element(*input, tensor);
      const auto given = options.input_shapes.find(input->name());
      ir::Shape shape =
          given != options.input_shapes.end() ? given->second : bind_shape(*input, tensor, symbols);
      bound.push_back({input->name(), {element.dtype, std::move(shape)}, !element.same_bits});
    } catch (const Error& error) {
      refusals.insert(refusals.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!refusals.empty()) throw Error(std::move(refusals));
  return bound;
}

}  // namespace onepass::onnx

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "artefact/arena_layout.h"
#include "artefact/description.h"
#include "artefact/model_header_text.h"

namespace onepass::artefact {

namespace {

const char* type_name(DataType dtype) {
  switch (dtype) {
    case DataType::f32:
      return "f32";
    case DataType::u8:
      return "u8";
    case DataType::i8:
      return "i8";
    case DataType::i32:
      return "i32";
    case DataType::i64:
      return "i64";
    case DataType::boolean:
      return "bool";
    case DataType::f64:
      return "f64";
  }
  return "?";
}

/// A name inside a C comment: nothing in it may end the comment or the line, or look like another comment.
std::string comment_text(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool printable = std::isprint(static_cast<unsigned char>(c)) != 0;
    const char before = result.empty() ? ' ' : result.back();
    const bool is_mark = (c == '/' && before == '*') || (c == '*' && before == '/');
    result += printable && !is_mark ? c : '?';
  }
  return result;
}

std::string shape_text(const Tensor& tensor) {
  std::string result = std::string(type_name(tensor.dtype)) + "[";
  for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
    if (axis > 0) result += ',';
    if (static_cast<int32_t>(axis) == tensor.counted_axis) result += "<=";
    result += std::to_string(tensor.dims[axis]);
  }
  return result + "]";
}

std::string table(const char* title, const std::vector<Tensor>& tensors) {
  std::string result = std::string(" * ") + title + "\n";
  for (size_t i = 0; i < tensors.size(); ++i)
    result += " *   " + std::to_string(i) + "  " + shape_text(tensors[i]) + "  " +
              comment_text(tensors[i].name) + "\n";
  return result;
}

/// `name` as the front of a C macro: letters, digits and '_' in upper case.
std::string macro_prefix(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 128 && std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0) result.insert(0, "MODEL_");
  return result;
}

ThreadBlock block_of(const Description& description) {
  size_t operand_count = 0;
  for (const Launch& launch : description.launches)
    operand_count = std::max(operand_count, launch.operands.size());
  return thread_block(static_cast<int64_t>(operand_count), description.scratch_bytes);
}

std::string define(const std::string& prefix, const char* name, int64_t value) {
  return "#define " + prefix + "_" + name + " " + std::to_string(value) + "\n";
}

}  // namespace

std::string c_header(const Description& description, const std::string& model_name) {
  const std::string prefix = macro_prefix(model_name);
  const int64_t arena_bytes = total_arena_bytes(description.arena_bytes, block_of(description), 1);
  std::string text = k_model_header_text;
  text +=
      "\n/* " + comment_text(model_name) + ", compiled for " + comment_text(description.target) + "\n *\n";
  text += table("inputs", description.inputs) + table("outputs", description.outputs) + " */\n";
  text += "#ifndef " + prefix + "_MODEL\n#define " + prefix + "_MODEL\n";
  text += define(prefix, "INPUT_COUNT", static_cast<int64_t>(description.inputs.size()));
  text += define(prefix, "OUTPUT_COUNT", static_cast<int64_t>(description.outputs.size()));
  text += "/* onepass_model_arena_bytes(1) */\n";
  text += define(prefix, "ARENA_BYTES", arena_bytes);
  return text + "#endif\n";
}

}  // namespace onepass::artefact

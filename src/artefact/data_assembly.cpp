// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <set>

#include "artefact/assembly_text.h"
#include "artefact/description.h"
#include "base/diagnostic.h"

namespace onepass::artefact {

namespace {

// The text below writes fields in the order of format.h with these sizes.
static_assert(sizeof(TensorRecord) == 104 && offsetof(TensorRecord, counted_axis) == 88);
static_assert(sizeof(OperandRecord) == 16 && sizeof(LaunchRecord) == 56 && sizeof(ModelRecord) == 96);

bool is_plain(unsigned char c) {
  return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

/// Everything but plain ASCII as three octal digits, so that no byte of a name can end the string.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const unsigned char c : text) {
    if (is_plain(c)) {
      result += static_cast<char>(c);
      continue;
    }
    result += '\\';
    for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + ((c >> shift) & 7));
  }
  return result + '"';
}

void check_symbol(const std::string& symbol) {
  bool valid = !symbol.empty() && !(symbol[0] >= '0' && symbol[0] <= '9');
  for (const char c : symbol)
    valid = valid && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  require(valid, "a launch names a C identifier");
}

void add_string(Text& text, const std::string& label, const std::string& value) {
  text.label(label);
  text.line(" .asciz " + quoted(value));
}

void add_strings(Text& text, const Description& description) {
  text.line(" .section .rodata.onepass_names,\"a\"");
  for (size_t i = 0; i < description.inputs.size(); ++i)
    add_string(text, numbered("input_name", i), description.inputs[i].name);
  for (size_t i = 0; i < description.outputs.size(); ++i)
    add_string(text, numbered("output_name", i), description.outputs[i].name);
  for (size_t i = 0; i < description.launches.size(); ++i)
    add_string(text, numbered("launch_name", i), description.launches[i].name);
  add_string(text, ".Ltarget", description.target);
  add_string(text, ".Lmetadata", description.metadata);
}

void add_operands(Text& text, const Description& description) {
  text.line(" .section .rodata.onepass_operands,\"a\"");
  text.line(" .p2align 3");
  for (size_t i = 0; i < description.launches.size(); ++i) {
    const Launch& launch = description.launches[i];
    text.label(numbered("params", i));
    for (const int64_t value : launch.params) text.quad(value);
    text.label(numbered("operands", i));
    for (const OperandRecord& operand : launch.operands) {
      text.word(static_cast<int32_t>(operand.space));
      text.word(operand.index);
      text.quad(operand.offset_bytes);
    }
  }
}

int64_t element_bytes(DataType dtype) {
  switch (dtype) {
    case DataType::u8:
    case DataType::i8:
    case DataType::boolean:
      return 1;
    case DataType::f32:
    case DataType::i32:
      return 4;
    case DataType::i64:
    case DataType::f64:
      return 8;
  }
  throw InternalError("a boundary tensor has an unknown element type");
}

void add_tensor(Text& text, const Tensor& tensor, const std::string& name_label) {
  require(tensor.dims.size() <= k_max_rank, "a boundary tensor has at most 8 axes");
  int64_t size_bytes = element_bytes(tensor.dtype);
  for (const int64_t extent : tensor.dims) size_bytes *= extent;
  text.quad(name_label);
  text.word(static_cast<int32_t>(tensor.dtype));
  text.word(static_cast<int64_t>(tensor.dims.size()));
  for (size_t axis = 0; axis < k_max_rank; ++axis)
    text.quad(axis < tensor.dims.size() ? tensor.dims[axis] : 0);
  text.quad(size_bytes);
  text.word(tensor.counted_axis);
  text.word(0);
  text.quad(tensor.count_offset_bytes);
}

void add_launch(Text& text, const Launch& launch, size_t number) {
  text.quad(launch.symbol);
  text.quad(numbered("launch_name", number));
  if (!launch.stripes.members.empty())
    text.quad(numbered("stripes", number));
  else if (launch.params.empty())
    text.quad(0);
  else
    text.quad(numbered("params", number));
  text.quad(numbered("operands", number));
  text.word(static_cast<int64_t>(launch.operands.size()));
  text.word(launch.group);
  text.quad(launch.slices);
  text.quad(launch.cost_ns);
}

void declare_symbols(Text& text, const Description& description) {
  std::set<std::string> symbols;
  for (const Launch& launch : description.launches) {
    symbols.insert(launch.symbol);
    for (const StripeMember& member : launch.stripes.members) symbols.insert(member.symbol);
  }
  for (const std::string& symbol : symbols) {
    check_symbol(symbol);
    text.line(" .hidden " + symbol);
  }
}

/// Records with addresses in them: the loader relocates them once and makes them read-only.
void add_tables(Text& text, const Description& description) {
  text.line(" .section .data.rel.ro.onepass_tables,\"aw\"");
  text.line(" .p2align 3");
  text.label(".Linputs");
  for (size_t i = 0; i < description.inputs.size(); ++i)
    add_tensor(text, description.inputs[i], numbered("input_name", i));
  text.label(".Loutputs");
  for (size_t i = 0; i < description.outputs.size(); ++i)
    add_tensor(text, description.outputs[i], numbered("output_name", i));
  add_stripes(text, description);
  text.label(".Llaunches");
  for (size_t i = 0; i < description.launches.size(); ++i) add_launch(text, description.launches[i], i);
}

void add_model(Text& text, const Description& description) {
  text.line(" .hidden onepass_model_record");
  text.line(" .globl onepass_model_record");
  text.label("onepass_model_record");
  text.quad(static_cast<int64_t>(k_magic));
  text.word(k_format_version);
  text.word(static_cast<int64_t>(description.launches.size()));
  for (const char* table : {".Llaunches", ".Linputs", ".Loutputs"}) text.quad(std::string(table));
  text.word(static_cast<int64_t>(description.inputs.size()));
  text.word(static_cast<int64_t>(description.outputs.size()));
  text.quad(description.arena_bytes);
  text.quad(description.scratch_bytes);
  text.quad(std::string(".Lweights"));
  text.quad(description.weights_bytes);
  text.quad(std::string(".Ltarget"));
  text.quad(std::string(".Lmetadata"));
}

void add_weights(Text& text, const Description& description, const std::string& path) {
  text.line(" .section .onepass_weights,\"a\"");
  text.line(" .p2align 12");
  text.label(".Lweights");
  if (description.weights_bytes > 0)
    text.line(" .incbin " + quoted(path) + ",0," + std::to_string(description.weights_bytes));
}

}  // namespace

std::string data_assembly(const Description& description, const std::string& weights_path) {
  Text text;
  declare_symbols(text, description);
  add_strings(text, description);
  add_operands(text, description);
  add_stripe_tables(text, description);
  add_tables(text, description);
  add_model(text, description);
  add_weights(text, description, weights_path);
  text.line(" .section .note.GNU-stack,\"\"");
  return text.take();
}

}  // namespace onepass::artefact

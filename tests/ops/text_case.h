// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/lexer.h"
#include "ir/parser.h"
#include "ir/tensor_text.h"
#include "ops/interpreter.h"

namespace onepass::ops::testing {

/// A graph without inputs, as the body of its text form, and its outputs in the form of tensor_text.
struct TextCase {
  const char* body;
  std::vector<const char*> expected;
};

inline ir::Graph graph_of(const std::string& body) {
  return ir::parse("graph t {\n" + body + "\n}");
}

inline ir::Tensor tensor_of(const std::string& text) {
  ir::Lexer lexer(text);
  return ir::expect_tensor(lexer);
}

/// Runs the case in both precisions; the results must be equal to the last bit.
inline void expect_case(const TextCase& c) {
  SCOPED_TRACE(c.body);
  const ir::Graph graph = graph_of(c.body);
  const std::vector<ir::Tensor> outputs = interpret(graph, {});
  const std::vector<ir::Tensor> referee = interpret(graph, {}, {.precision = Precision::f64, .on_value = {}});
  ASSERT_EQ(outputs.size(), c.expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Tensor expected = tensor_of(c.expected[i]);
    EXPECT_EQ(ir::tensor_text(outputs[i]), ir::tensor_text(expected));
    EXPECT_EQ(ir::tensor_text(referee[i].cast(expected.dtype())), ir::tensor_text(expected));
  }
}

inline void expect_cases(const std::vector<TextCase>& cases) {
  for (const TextCase& c : cases) expect_case(c);
}

/// Code of the error that running the body throws; "" when it does not. The error names the node 'n'.
inline std::string code_of(const std::string& body) {
  SCOPED_TRACE(body);
  try {
    interpret(graph_of(body), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).node, "n");
    return error.diagnostics().at(0).code;
  }
  return "";
}

}  // namespace onepass::ops::testing

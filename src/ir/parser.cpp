// SPDX-License-Identifier: Apache-2.0
#include "ir/parser.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "ir/lexer.h"
#include "ir/tensor_text.h"

namespace onepass::ir {

namespace {

struct Parser {
  Lexer lexer;
  Graph graph;
  std::unordered_map<std::string, ValueId> values;
};

/// A name on the left of '=': absent when it is '_'.
struct Result {
  Token name;
  bool absent = false;
  TensorType type;
};

bool is_absent(const Token& token) {
  return token.kind == TokenKind::identifier && token.text == "_";
}

Token expect_name(Lexer& lexer, std::string_view what) {
  const TokenKind kind = lexer.peek().kind;
  if (kind != TokenKind::identifier && kind != TokenKind::string) lexer.fail(what);
  return lexer.take();
}

ValueId find_value(const Parser& parser, const Token& name) {
  const auto found = parser.values.find(name.text);
  if (found == parser.values.end())
    Lexer::fail_at(name, fmt::format("expected a value that stands above, found '{}'", name.text));
  return found->second;
}

void define(Parser& parser, const Token& name, ValueId id) {
  if (!parser.values.emplace(name.text, id).second)
    Lexer::fail_at(name, fmt::format("value '{}' is defined twice", name.text));
}

Attribute parse_list(Lexer& lexer, bool is_float) {
  std::vector<Token> numbers;
  lexer.expect('[');
  while (at_number(lexer)) {
    is_float = is_float || is_float_text(lexer.peek().text);
    numbers.push_back(lexer.take());
    if (!lexer.accept(',')) break;
  }
  lexer.expect(']');
  std::vector<double> floats;
  std::vector<int64_t> ints;
  for (const Token& number : numbers) {
    Lexer one(number.text);
    if (is_float)
      floats.push_back(expect_float(one));
    else
      ints.push_back(one.expect_int("an integer"));
    if (one.peek().kind != TokenKind::end) Lexer::fail_at(number, "expected a number");
  }
  return is_float ? Attribute(floats) : Attribute(ints);
}

Attribute parse_attribute(Lexer& lexer) {
  if (lexer.at('[')) return parse_list(lexer, false);
  if (lexer.peek().kind == TokenKind::string) return lexer.take().text;
  if (at_number(lexer)) {
    if (is_float_text(lexer.peek().text)) return expect_float(lexer);
    return lexer.expect_int("an integer of 64 bits");
  }
  if (lexer.at_word("floats")) {
    lexer.take();
    return parse_list(lexer, true);
  }
  if (lexer.peek().kind != TokenKind::identifier)
    lexer.fail("an attribute value: a number, a string, a list or a tensor");
  return expect_tensor(lexer);
}

Attributes parse_attributes(Lexer& lexer) {
  Attributes attributes;
  if (!lexer.accept('{')) return attributes;
  while (!lexer.at('}')) {
    const Token name = lexer.expect(TokenKind::identifier, "an attribute name or '}'");
    if (attributes.has(name.text))
      Lexer::fail_at(name, fmt::format("attribute '{}' is given twice", name.text));
    lexer.expect('=');
    attributes.set(name.text, parse_attribute(lexer));
    if (!lexer.accept(',')) break;
  }
  lexer.expect('}');
  return attributes;
}

std::vector<std::string> parse_strings(Lexer& lexer) {
  std::vector<std::string> strings;
  lexer.expect('(');
  while (!lexer.at(')')) {
    strings.push_back(lexer.expect(TokenKind::string, "a node name in quotes").text);
    if (!lexer.accept(',')) break;
  }
  lexer.expect(')');
  return strings;
}

void parse_annotations(Lexer& lexer, Node& node) {
  while (lexer.accept('@')) {
    if (lexer.peek().kind == TokenKind::string) {
      node.name = lexer.take().text;
    } else if (lexer.at_word("opset")) {
      lexer.take();
      lexer.expect('(');
      node.opset = static_cast<int>(lexer.expect_int("an opset number"));
      lexer.expect(')');
    } else if (lexer.at_word("from")) {
      lexer.take();
      node.origins = parse_strings(lexer);
    } else {
      lexer.fail("a node name in quotes, opset(...) or from(...)");
    }
  }
}

std::vector<ValueId> parse_operands(Parser& parser) {
  std::vector<ValueId> operands;
  parser.lexer.expect('(');
  while (!parser.lexer.at(')')) {
    const Token name = expect_name(parser.lexer, "a value name, '_' or ')'");
    operands.push_back(is_absent(name) ? ValueId{} : find_value(parser, name));
    if (!parser.lexer.accept(',')) break;
  }
  parser.lexer.expect(')');
  return operands;
}

void check_arity(const Token& op, size_t count, int min, int max, std::string_view what) {
  const auto given = static_cast<int>(count);
  if (given >= min && (max < 0 || given <= max)) return;
  const std::string range = max < 0 ? fmt::format("{} or more", min) : fmt::format("{} to {}", min, max);
  Lexer::fail_at(op, fmt::format("expected {} {} of {}, found {}", range, what, op.text, given));
}

void parse_node(Parser& parser, const std::vector<Result>& results, const Token& op_name) {
  const std::optional<Op> op = op_from_name(op_name.text);
  if (!op)
    Lexer::fail_at(op_name, fmt::format("expected input, constant or an operator, found '{}'", op_name.text));
  Node node{.op = *op,
            .name = "",
            .inputs = parse_operands(parser),
            .outputs = {},
            .attributes = {},
            .origins = {}};
  check_arity(op_name, node.inputs.size(), info(*op).min_inputs, info(*op).max_inputs, "inputs");
  check_arity(op_name, results.size(), info(*op).min_outputs, info(*op).max_outputs, "outputs");
  node.attributes = parse_attributes(parser.lexer);
  parse_annotations(parser.lexer, node);
  for (const Result& result : results) {
    node.outputs.push_back(result.absent ? ValueId{} : parser.graph.add_value(result.name.text, result.type));
    if (!result.absent) define(parser, result.name, node.outputs.back());
  }
  if (!node.outputs.front().valid() && node.name.empty()) node.name = fmt::format("{}_", name(*op));
  parser.graph.add_node(std::move(node));
}

std::vector<Result> parse_results(Lexer& lexer) {
  std::vector<Result> results;
  do {
    Result result{.name = expect_name(lexer, "a statement or '}'"), .absent = false, .type = {}};
    result.absent = is_absent(result.name);
    if (lexer.accept(':')) result.type = expect_type(lexer);
    results.push_back(std::move(result));
  } while (lexer.accept(','));
  return results;
}

void require_one_plain(const std::vector<Result>& results) {
  const bool plain = results.size() == 1 && !results[0].absent && results[0].type.dtype == DType::undefined;
  if (!plain) Lexer::fail_at(results[0].name, "expected one name before '=' of an input or a constant");
}

void parse_output(Parser& parser) {
  parser.lexer.take();
  Token name = expect_name(parser.lexer, "the output's name");
  const Token value = parser.lexer.accept('=') ? expect_name(parser.lexer, "a value name") : name;
  parser.graph.add_output(name.text, find_value(parser, value));
}

void parse_statement(Parser& parser) {
  Lexer& lexer = parser.lexer;
  if (lexer.at_word("output")) return parse_output(parser);
  const std::vector<Result> results = parse_results(lexer);
  lexer.expect('=');
  const Token verb = lexer.expect(TokenKind::identifier, "input, constant or an operator");
  if (lexer.at('(')) return parse_node(parser, results, verb);
  const bool is_input = verb.text == "input";
  if (!is_input && verb.text != "constant")
    Lexer::fail_at(verb,
                   fmt::format("expected input, constant or an operator with '(', found '{}'", verb.text));
  require_one_plain(results);
  const std::string& name = results[0].name.text;
  define(parser, results[0].name,
         is_input ? parser.graph.add_input(name, expect_type(lexer))
                  : parser.graph.add_constant(name, expect_tensor(lexer)));
}

}  // namespace

Graph parse(std::string_view text) {
  Parser parser{.lexer = Lexer(text), .graph = {}, .values = {}};
  if (!parser.lexer.at_word("graph")) parser.lexer.fail("'graph'");
  parser.lexer.take();
  if (!parser.lexer.at('{')) parser.graph.name = expect_name(parser.lexer, "the graph's name or '{'").text;
  parser.lexer.expect('{');
  while (!parser.lexer.at('}')) parse_statement(parser);
  parser.lexer.take();
  if (parser.lexer.peek().kind != TokenKind::end) parser.lexer.fail("the end of the text");
  return std::move(parser.graph);
}

}  // namespace onepass::ir

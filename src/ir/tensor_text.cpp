// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>
#include <map>

#include "ir/random_tensor.h"

namespace onepass::ir {

namespace {

static_assert(std::endian::native == std::endian::little, "hex() holds little-endian bytes");

constexpr int64_t k_max_listed_elems = 64;
constexpr int64_t k_max_text_elems = int64_t{1} << 28;

template <class T>
std::string marked_as_float(T value) {
  std::string text = fmt::format("{}", value);
  return is_float_text(text) ? text : text + ".0";
}

template <class T>
T number_from(const Token& token) {
  T value{};
  const std::string& text = token.text;
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (end != last || error == std::errc::invalid_argument)
    Lexer::fail_at(token, fmt::format("'{}' is not a number of this type", text));
  if (error == std::errc::result_out_of_range)
    Lexer::fail_at(token, fmt::format("'{}' is outside the type's range", text));
  return value;
}

Token expect_number(Lexer& lexer) {
  if (!at_number(lexer)) lexer.fail("a number");
  return lexer.take();
}

template <class T>
void read_element(Lexer& lexer, T& element) {
  element = number_from<T>(expect_number(lexer));
}

void read_element(Lexer& lexer, bool& element) {
  if (lexer.at_word("true") || lexer.at_word("false"))
    element = lexer.take().text == "true";
  else
    element = number_from<int>(expect_number(lexer)) != 0;
}

template <class T>
void print_element(std::string& text, T element) {
  if constexpr (std::is_floating_point_v<T>)
    text += float_text(element);
  else
    text += fmt::format("{}", static_cast<int64_t>(element));
}

template <class Visitor>
void with_type(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f32:
      return visitor.template operator()<float>();
    case DType::f64:
      return visitor.template operator()<double>();
    case DType::i64:
      return visitor.template operator()<int64_t>();
    case DType::i32:
      return visitor.template operator()<int32_t>();
    case DType::i8:
      return visitor.template operator()<int8_t>();
    case DType::u8:
      return visitor.template operator()<uint8_t>();
    case DType::boolean:
      return visitor.template operator()<bool>();
    case DType::undefined:
      break;
  }
  throw InternalError("a tensor of undefined type is written or read as text");
}

void read_list(Lexer& lexer, Tensor& tensor) {
  with_type(tensor.dtype(), [&]<class T>() {
    bool first = true;
    for (T& element : tensor.data<T>()) {
      if (!first) lexer.expect(',');
      first = false;
      read_element(lexer, element);
    }
  });
  lexer.accept(',');
  if (!lexer.at('}')) lexer.fail(fmt::format("'}}' after {} elements", tensor.size()));
  lexer.take();
}

void read_hex(Lexer& lexer, Tensor& tensor) {
  lexer.expect('(');
  const Token digits = lexer.expect(TokenKind::string, "a string of hexadecimal digits");
  if (static_cast<int64_t>(digits.text.size()) != 2 * tensor.size_bytes())
    Lexer::fail_at(digits, fmt::format("{} hexadecimal digits expected, {} found", 2 * tensor.size_bytes(),
                                       digits.text.size()));
  for (int64_t i = 0; i < tensor.size_bytes(); ++i) {
    uint8_t byte = 0;
    const char* const first = digits.text.data() + 2 * i;
    if (std::from_chars(first, first + 2, byte, 16).ptr != first + 2)
      Lexer::fail_at(digits, "a character that is no hexadecimal digit");
    const bool bad_bool = tensor.dtype() == DType::boolean && byte > 1;
    if (bad_bool) Lexer::fail_at(digits, "a bool byte is 00 or 01");
    tensor.bytes()[i] = static_cast<std::byte>(byte);
  }
  lexer.expect(')');
}

std::map<std::string, double> read_options(Lexer& lexer, std::map<std::string, double> options) {
  lexer.expect('(');
  while (!lexer.at(')')) {
    const Token name = lexer.expect(TokenKind::identifier, "an option of random");
    if (!options.contains(name.text)) Lexer::fail_at(name, "expected seed, lo or hi");
    lexer.expect('=');
    options[name.text] = expect_float(lexer);
    if (!lexer.accept(',')) break;
  }
  lexer.expect(')');
  return options;
}

Tensor read_random(Lexer& lexer, const TensorType& type) {
  auto options = read_options(lexer, {{"seed", 0}, {"lo", -1}, {"hi", 1}});
  return random_tensor(type.dtype, type.dims, static_cast<uint64_t>(static_cast<int64_t>(options["seed"])),
                       options["lo"], options["hi"]);
}

void read_fill(Lexer& lexer, Tensor& tensor) {
  lexer.expect('(');
  with_type(tensor.dtype(), [&]<class T>() {
    T value{};
    read_element(lexer, value);
    for (T& element : tensor.data<T>()) element = value;
  });
  lexer.expect(')');
}

void count_up(Tensor& tensor) {
  with_type(tensor.dtype(), [&]<class T>() {
    int64_t next = 0;
    for (T& element : tensor.data<T>()) element = static_cast<T>(next++);
  });
}

TensorType expect_constant_type(Lexer& lexer) {
  const Token place = lexer.peek();
  const TensorType type = expect_type(lexer);
  double elements = 1;
  for (const int64_t extent : type.dims) elements *= static_cast<double>(extent);
  if (elements > k_max_text_elems) Lexer::fail_at(place, "a constant of more than 2^28 elements");
  if (type.counted_axis >= 0) Lexer::fail_at(place, "a constant has no counted axis");
  return type;
}

}  // namespace

std::string float_text(float value) {
  return marked_as_float(value);
}
std::string float_text(double value) {
  return marked_as_float(value);
}

bool at_number(const Lexer& lexer) {
  return lexer.peek().kind == TokenKind::number || lexer.at_word("inf") || lexer.at_word("nan");
}

bool is_float_text(const std::string& text) {
  return text.find_first_of(".eEn") != std::string::npos;
}

double expect_float(Lexer& lexer) {
  return number_from<double>(expect_number(lexer));
}

TensorType expect_type(Lexer& lexer) {
  const Token name =
      lexer.expect(TokenKind::identifier, "an element type (f32, f64, i64, i32, i8, u8, bool)");
  TensorType type{.dtype = dtype_from_name(name.text), .dims = {}};
  if (type.dtype == DType::undefined)
    Lexer::fail_at(name, fmt::format("expected an element type, found '{}'", name.text));
  lexer.expect('[');
  while (!lexer.at(']')) {
    if (lexer.accept('<')) {
      lexer.expect('=');
      type.counted_axis = static_cast<int>(type.dims.size());
    }
    const Token place = lexer.peek();
    type.dims.push_back(lexer.expect_int("an extent"));
    if (type.dims.back() < 0) Lexer::fail_at(place, "expected an extent of 0 or more");
    if (!lexer.accept(',')) break;
  }
  lexer.expect(']');
  return type;
}

std::string tensor_text(const Tensor& tensor) {
  std::string text = to_string(tensor.type());
  if (tensor.size() > k_max_listed_elems) {
    text += " hex(\"";
    for (int64_t i = 0; i < tensor.size_bytes(); ++i)
      fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(tensor.bytes()[i]));
    return text + "\")";
  }
  text += " {";
  with_type(tensor.dtype(), [&]<class T>() {
    const char* separator = "";
    for (const T element : tensor.data<T>()) {
      text += separator;
      print_element(text, element);
      separator = ", ";
    }
  });
  return text + "}";
}

Tensor expect_tensor(Lexer& lexer) {
  const TensorType type = expect_constant_type(lexer);
  if (lexer.at_word("random")) {
    lexer.take();
    return read_random(lexer, type);
  }
  Tensor tensor(type.dtype, type.dims);
  if (lexer.accept('{')) {
    read_list(lexer, tensor);
    return tensor;
  }
  const bool known = lexer.at_word("hex") || lexer.at_word("fill") || lexer.at_word("iota");
  if (!known) lexer.fail("the elements: {...}, random(...), fill(...), iota or hex(...)");
  const std::string form = lexer.take().text;
  if (form == "hex") read_hex(lexer, tensor);
  if (form == "fill") read_fill(lexer, tensor);
  if (form == "iota") count_up(tensor);
  return tensor;
}

}  // namespace onepass::ir

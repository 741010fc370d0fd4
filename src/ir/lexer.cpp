// SPDX-License-Identifier: Apache-2.0
#include "ir/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/diagnostic.h"

namespace onepass::ir {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}

std::string in_words(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the text";
  return token.kind == TokenKind::string ? quoted(token.text) : fmt::format("'{}'", token.text);
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_name_part);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += fmt::format("\\{}", c);
    else if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

Lexer::Lexer(std::string_view text) : text_(text) {
  advance();
}

void Lexer::fail_at(const Token& token, const std::string& message) {
  throw Error(
      {.code = "parse_error", .message = fmt::format("{}:{}: {}", token.line, token.column, message)});
}

void Lexer::fail(std::string_view expected) const {
  fail_at(token_, fmt::format("expected {}, found {}", expected, in_words(token_)));
}

Token Lexer::take() {
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Lexer::at(char punctuation) const {
  return token_.kind == TokenKind::punctuation && token_.text[0] == punctuation;
}

bool Lexer::at_word(std::string_view word) const {
  return token_.kind == TokenKind::identifier && token_.text == word;
}

bool Lexer::accept(char punctuation) {
  if (!at(punctuation)) return false;
  advance();
  return true;
}

void Lexer::expect(char punctuation) {
  if (!accept(punctuation)) fail(fmt::format("'{}'", punctuation));
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) fail(what);
  return take();
}

int64_t Lexer::expect_int(std::string_view what) {
  if (token_.kind != TokenKind::number) fail(what);
  int64_t value = 0;
  const char* const last = token_.text.data() + token_.text.size();
  const auto [end, error] = std::from_chars(token_.text.data(), last, value);
  if (error != std::errc() || end != last) fail(what);
  advance();
  return value;
}

char Lexer::next_char() {
  const char c = text_[position_++];
  ++column_;
  if (c == '\n') {
    ++line_;
    column_ = 1;
  }
  return c;
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    if (current() == '#')
      while (position_ < text_.size() && current() != '\n') next_char();
    else if (current() == ' ' || current() == '\n' || current() == '\t' || current() == '\r')
      next_char();
    else
      return;
  }
}

void Lexer::advance() {
  skip_blanks();
  token_ = {.kind = TokenKind::end, .text = "", .line = line_, .column = column_};
  if (position_ == text_.size()) return;
  const char c = current();
  if (is_letter(c)) return read_identifier();
  if (is_digit(c) || c == '-' || c == '+' || c == '.') return read_number();
  if (c == '"') return read_string();
  token_.kind = TokenKind::punctuation;
  token_.text = next_char();
}

void Lexer::read_identifier() {
  token_.kind = TokenKind::identifier;
  while (is_name_part(current())) token_.text += next_char();
}

void Lexer::read_number() {
  token_.kind = TokenKind::number;
  token_.text += next_char();
  while (is_name_part(current()) || current() == '-' || current() == '+') {
    const bool sign = current() == '-' || current() == '+';
    if (sign && token_.text.back() != 'e' && token_.text.back() != 'E') break;
    token_.text += next_char();
  }
}

char Lexer::read_escape() {
  if (position_ == text_.size()) fail_at(token_, "a string without closing quote");
  const char c = next_char();
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == '"' || c == '\\') return c;
  if (c != 'x' || position_ + 2 > text_.size())
    fail_at(token_, "an escape other than \\n \\t \\\" \\\\ \\xHH");
  unsigned char value = 0;
  const char* const first = text_.data() + position_;
  if (std::from_chars(first, first + 2, value, 16).ptr != first + 2)
    fail_at(token_, "two hexadecimal digits are missing after \\x");
  next_char();
  next_char();
  return static_cast<char>(value);
}

void Lexer::read_string() {
  token_.kind = TokenKind::string;
  next_char();
  while (current() != '"' || position_ == text_.size()) {
    if (position_ == text_.size()) fail_at(token_, "a string without closing quote");
    const char c = next_char();
    token_.text += c == '\\' ? read_escape() : c;
  }
  next_char();
}

}  // namespace onepass::ir

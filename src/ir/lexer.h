// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onepass::ir {

enum class TokenKind : uint8_t { identifier, number, string, punctuation, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;  ///< strings without quotes and escapes
  int line = 1;
  int column = 1;
};

/// The text form cut into tokens, with one token of lookahead. Blanks and '#' comments are skipped.
/// Every failure is an Error("parse_error") with line:column and what was expected.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  Token take();
  bool at(char punctuation) const;
  bool at_word(std::string_view word) const;  ///< an unquoted identifier
  bool accept(char punctuation);              ///< takes it when it is next
  void expect(char punctuation);
  Token expect(TokenKind kind, std::string_view what);
  int64_t expect_int(std::string_view what);
  [[noreturn]] void fail(std::string_view expected) const;  ///< at the next token
  [[noreturn]] static void fail_at(const Token& token, const std::string& message);

 private:
  void skip_blanks();
  void advance();
  void read_identifier();
  void read_number();
  void read_string();
  char read_escape();
  char next_char();
  char current() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
  Token token_;
};

bool is_identifier(std::string_view text);
/// `text` in quotes, with escapes: what the lexer reads back.
std::string quoted(std::string_view text);

}  // namespace onepass::ir

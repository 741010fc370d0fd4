// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "artefact/description.h"

namespace onepass::artefact {

/// GNU assembler data directives, line by line.
class Text {
 public:
  void line(const std::string& text) { text_ += text + '\n'; }
  void quad(int64_t value) { line(" .quad " + std::to_string(value)); }
  void quad(const std::string& symbol) { line(" .quad " + symbol); }
  void word(int64_t value) { line(" .long " + std::to_string(value)); }
  void label(const std::string& name) { line(name + ":"); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// A local label.
inline std::string numbered(const std::string& stem, size_t number) {
  return ".L" + stem + std::to_string(number);
}

/// Tables of the stripes of launches, without addresses.
void add_stripe_tables(Text& text, const Description& description);
/// The records that point to them, under the labels ".Lstripes<launch>".
void add_stripes(Text& text, const Description& description);

}  // namespace onepass::artefact

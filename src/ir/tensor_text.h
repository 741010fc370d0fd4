// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ir/lexer.h"
#include "ir/tensor.h"

namespace onepass::ir {

/// A float as text that reads back to the same bits (NaN payloads apart); always with a '.', an exponent,
/// "inf" or "nan", so that it is told from an integer.
std::string float_text(float value);
std::string float_text(double value);

/// A number token (or the words inf and nan) as double.
double expect_float(Lexer& lexer);
bool at_number(const Lexer& lexer);           ///< a number, inf or nan is next
bool is_float_text(const std::string& text);  ///< written with '.', exponent, inf or nan

/// "f32[1,<=8,3]".
TensorType expect_type(Lexer& lexer);

/// Type and elements: "f32[2] {1.0, 2.0}", from 65 elements on "f32[65] hex("...")" (little-endian bytes).
std::string tensor_text(const Tensor& tensor);
/// Reads what tensor_text writes, and the short forms random(seed=1, lo=-1, hi=1), fill(0.5) and iota.
Tensor expect_tensor(Lexer& lexer);

}  // namespace onepass::ir

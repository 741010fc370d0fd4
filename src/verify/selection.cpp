// SPDX-License-Identifier: Apache-2.0
#include "verify/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "verify/selection_nms.h"

namespace onepass::verify {

namespace {

/// The lines of a tensor along one axis, and the choice made on each.
struct Lines {
  int64_t axis, extent, stride, count;
};

Lines lines_of(const ir::Node& node, const ir::Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = node.attributes.get_int("axis", node.op == ir::Op::TopK ? -1 : 0);
  if (axis < 0) axis += rank;
  const int64_t stride = ir::row_major_strides(shape)[static_cast<size_t>(axis)];
  const int64_t extent = shape[static_cast<size_t>(axis)];
  return {axis, extent, stride, extent == 0 ? 0 : ir::element_count(shape) / extent};
}

/// Index of element `i` on line `line` of a tensor with `extent` elements on the axis.
int64_t at(const Lines& lines, int64_t line, int64_t i, int64_t extent) {
  return line / lines.stride * extent * lines.stride + i * lines.stride + line % lines.stride;
}

/// Scores and choice along one line, best first; a score counts negatively where the smallest is sought.
std::string wrong_line(const std::vector<double>& scores, const std::vector<int64_t>& chosen,
                       double tolerance) {
  std::vector<bool> taken(scores.size(), false);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const int64_t position = chosen[i];
    if (position < 0 || position >= static_cast<int64_t>(scores.size()))
      return fmt::format("position {} is outside", position);
    if (taken[static_cast<size_t>(position)]) return fmt::format("position {} is chosen twice", position);
    taken[static_cast<size_t>(position)] = true;
    if (i == 0) continue;
    const double before = scores[static_cast<size_t>(chosen[i - 1])],
                 here = scores[static_cast<size_t>(position)];
    if (before < here - tolerance) return fmt::format("{} stands behind {}", here, before);
  }
  if (chosen.empty()) return "";
  const double last = scores[static_cast<size_t>(chosen.back())];
  for (size_t i = 0; i < scores.size(); ++i)
    if (!taken[i] && scores[i] > last + tolerance)
      return fmt::format("position {} with {} is left out for one with {}", i, scores[i], last);
  return "";
}

std::string wrong_lines(const ir::Node& node, const ir::Tensor& src, const ir::Tensor& choice,
                        double tolerance) {
  const Lines lines = lines_of(node, src.shape());
  const std::vector<double> values = src.to_doubles();
  const std::vector<int64_t> choices = choice.to_ints();
  const int64_t most = lines.count == 0 ? 0 : static_cast<int64_t>(choices.size()) / lines.count;
  if (most * lines.count != static_cast<int64_t>(choices.size())) return "the choice has another shape";
  const double sign = node.op == ir::Op::TopK && node.attributes.get_int("largest", 1) == 0 ? -1 : 1;
  for (int64_t line = 0; line < lines.count; ++line) {
    std::vector<double> scores;
    for (int64_t i = 0; i < lines.extent; ++i)
      scores.push_back(sign * values[static_cast<size_t>(at(lines, line, i, lines.extent))]);
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < most; ++i)
      chosen.push_back(choices[static_cast<size_t>(at(lines, line, i, most))]);
    const std::string wrong = wrong_line(scores, chosen, tolerance);
    if (!wrong.empty()) return fmt::format("line {}: {}", line, wrong);
  }
  return "";
}

template <class T>
ir::Tensor gathered(const Lines& lines, const ir::Tensor& src, const ir::Tensor& choice) {
  ir::Tensor values(src.dtype(), choice.shape());
  const auto from = src.data<T>();
  const auto positions = choice.data<int64_t>();
  const int64_t most = lines.count == 0 ? 0 : choice.size() / lines.count;
  for (int64_t line = 0; line < lines.count; ++line)
    for (int64_t i = 0; i < most; ++i) {
      const auto to = static_cast<size_t>(at(lines, line, i, most));
      values.data<T>()[to] = from[static_cast<size_t>(at(lines, line, positions[to], lines.extent))];
    }
  return values;
}

}  // namespace

bool is_selection(ir::Op op) {
  return op == ir::Op::NonMaxSuppression || op == ir::Op::TopK || op == ir::Op::ArgMax;
}

int compared_inputs(ir::Op op) {
  return op == ir::Op::NonMaxSuppression ? 2 : 1;
}

int choice_output(ir::Op op) {
  return op == ir::Op::TopK ? 1 : 0;
}

std::string wrong_choice(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                         const ir::Tensor& choice, double tolerance) {
  if (node.op == ir::Op::NonMaxSuppression) return wrong_boxes(node, inputs, choice, tolerance);
  return wrong_lines(node, *inputs[0], choice, tolerance);
}

std::vector<ir::Tensor> outputs_for(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                                    const ir::Tensor& choice) {
  if (node.op != ir::Op::TopK) return {choice};
  const Lines lines = lines_of(node, inputs[0]->shape());
  switch (inputs[0]->dtype()) {
    case ir::DType::f32:
      return {gathered<float>(lines, *inputs[0], choice), choice};
    case ir::DType::f64:
      return {gathered<double>(lines, *inputs[0], choice), choice};
    case ir::DType::i64:
      return {gathered<int64_t>(lines, *inputs[0], choice), choice};
    default:
      return {gathered<int32_t>(lines, *inputs[0], choice), choice};
  }
}

}  // namespace onepass::verify

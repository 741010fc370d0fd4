// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

void check_operands(const ShapeContext& context) {
  require_static_extents(context);
  require_float(context, 0);
  require_same_dtype(context, 0, 1);
  require_rank(context, 0, 3, 3);
  require_rank(context, 1, 3, 3);
  const ir::Shape& boxes = context.type(0).dims;
  const ir::Shape& scores = context.type(1).dims;
  if (boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
    refuse(context.node, "bad_operand",
           fmt::format("boxes are {} and scores {}", ir::to_string(boxes), ir::to_string(scores)),
           "boxes [batches,boxes,4] and scores [batches,classes,boxes]");
  for (size_t i = 3; i < 5; ++i) {
    if (!context.has(i)) continue;
    require_float(context, i);
    if (ir::element_count(context.type(i).dims) != 1)
      refuse(context.node, "bad_operand",
             fmt::format("threshold {} is {}", i, ir::to_string(context.type(i))), "one element");
  }
}

std::vector<ir::TensorType> nms_shape(const ShapeContext& context) {
  check_operands(context);
  const int64_t asked = context.has(2) ? int_scalar_operand(context, 2) : 0;
  const ir::Shape& scores = context.type(1).dims;
  const int64_t most = std::clamp<int64_t>(asked, 0, scores[2]);
  checked(context.node, {ir::DType::i64, {scores[0], scores[1], most}});
  return one_output(context, {ir::DType::i64, {scores[0] * scores[1] * most, 3}, 0});
}

template <class T>
struct Box {
  T y1, x1, y2, x2;
};

template <class T>
Box<T> box_at(const T* corners, bool center_form) {
  if (center_form) {
    const T half_width = corners[2] / 2;
    const T half_height = corners[3] / 2;
    return {corners[1] - half_height, corners[0] - half_width, corners[1] + half_height,
            corners[0] + half_width};
  }
  return {std::min(corners[0], corners[2]), std::min(corners[1], corners[3]),
          std::max(corners[0], corners[2]), std::max(corners[1], corners[3])};
}

template <class T>
T area(const Box<T>& box) {
  return (box.y2 - box.y1) * (box.x2 - box.x1);
}

/// Whether intersection over union exceeds `threshold`; boxes without area overlap nothing.
template <class T>
bool overlap(const Box<T>& a, const Box<T>& b, T threshold) {
  const T height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const T width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0)) return false;
  const T area_a = area(a);
  const T area_b = area(b);
  if (!(area_a > 0) || !(area_b > 0)) return false;
  const T intersection = height * width;
  return intersection / (area_a + area_b - intersection) > threshold;
}

template <class T>
struct Selection {
  const T* boxes;  ///< of the batch
  int64_t box_count;
  int64_t most;
  T iou_threshold;
  T score_threshold;
  bool has_score_threshold;
  bool center_form;
};

/// Boxes that pass the score threshold, best first; of equal scores the lower index. NaN scores never pass.
template <class T>
std::vector<int64_t> candidates(const Selection<T>& selection, const T* scores) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < selection.box_count; ++i) {
    const bool passes =
        selection.has_score_threshold ? scores[i] > selection.score_threshold : !std::isnan(scores[i]);
    if (passes) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return scores[i] != scores[j] ? scores[i] > scores[j] : i < j; });
  return order;
}

template <class T>
std::vector<int64_t> select(const Selection<T>& selection, const T* scores) {
  std::vector<int64_t> chosen;
  std::vector<Box<T>> kept;
  for (const int64_t i : candidates(selection, scores)) {
    if (static_cast<int64_t>(chosen.size()) == selection.most) break;
    const Box<T> box = box_at(selection.boxes + 4 * i, selection.center_form);
    const bool hidden = std::any_of(kept.begin(), kept.end(), [&](const Box<T>& other) {
      return overlap(box, other, selection.iou_threshold);
    });
    if (hidden) continue;
    kept.push_back(box);
    chosen.push_back(i);
  }
  return chosen;
}

template <class T>
T threshold(Inputs inputs, size_t input) {
  const ir::Tensor* operand = optional_input(inputs, input);
  return operand == nullptr ? T{} : operand->data<T>()[0];
}

template <class T>
Selection<T> selection_of(const ir::Node& node, Inputs inputs) {
  const ir::Tensor* most = optional_input(inputs, 2);
  Selection<T> selection{.boxes = elements<T>(*inputs[0]),
                         .box_count = inputs[0]->shape()[1],
                         .most = most == nullptr ? 0 : std::max<int64_t>(0, most->to_ints()[0]),
                         .iou_threshold = threshold<T>(inputs, 3),
                         .score_threshold = threshold<T>(inputs, 4),
                         .has_score_threshold = optional_input(inputs, 4) != nullptr,
                         .center_form = node.attributes.get_int("center_point_box", 0) != 0};
  if (!(selection.iou_threshold >= 0 && selection.iou_threshold <= 1))
    refuse(node, "bad_operand", fmt::format("iou_threshold is {}", selection.iou_threshold), "0 to 1");
  return selection;
}

template <class T>
void nms_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  Selection<T> selection = selection_of<T>(node, inputs);
  const ir::Shape& shape = inputs[1]->shape();
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < shape[0]; ++batch) {
    selection.boxes = elements<T>(*inputs[0]) + batch * shape[2] * 4;
    for (int64_t c = 0; c < shape[1]; ++c)
      for (const int64_t box : select(selection, elements<T>(*inputs[1]) + (batch * shape[1] + c) * shape[2]))
        rows.insert(rows.end(), {batch, c, box});
  }
  outputs[0] = ir::Tensor::of<int64_t>({static_cast<int64_t>(rows.size() / 3), 3}, rows);
}

}  // namespace

const Meaning k_meaning_NonMaxSuppression{nms_shape, nms_reference<float>, nms_reference<double>};

}  // namespace onepass::ops

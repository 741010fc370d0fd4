// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/heap.h"
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

struct Box {
  float y1, x1, y2, x2;
};

float lesser(float a, float b) {
  return b < a ? b : a;
}
float greater(float a, float b) {
  return a < b ? b : a;
}

Box box_at(const float* corners, bool center_form) {
  if (center_form) {
    const float half_width = corners[2] / 2;
    const float half_height = corners[3] / 2;
    return {corners[1] - half_height, corners[0] - half_width, corners[1] + half_height,
            corners[0] + half_width};
  }
  return {lesser(corners[0], corners[2]), lesser(corners[1], corners[3]), greater(corners[0], corners[2]),
          greater(corners[1], corners[3])};
}

float area(const Box& box) {
  return (box.y2 - box.y1) * (box.x2 - box.x1);
}

/// Whether intersection over union exceeds `threshold`; boxes without area overlap nothing.
bool overlap(const Box& a, const Box& b, float threshold) {
  const float height = lesser(a.y2, b.y2) - greater(a.y1, b.y1);
  const float width = lesser(a.x2, b.x2) - greater(a.x1, b.x1);
  if (!(height > 0) || !(width > 0)) return false;
  const float area_a = area(a);
  const float area_b = area(b);
  if (!(area_a > 0) || !(area_b > 0)) return false;
  const float intersection = height * width;
  return intersection / (area_a + area_b - intersection) > threshold;
}

struct Options {
  int64_t most;  ///< selected boxes of one class
  float iou_threshold;
  float score_threshold;
  bool has_score_threshold;
  bool center_form;
};

/// Numbers of the boxes of one class that pass the score threshold, as a heap with the best at its root.
struct Candidates {
  const float* scores;
  int32_t* boxes;
  int64_t count = 0;

  /// Box i comes after box j: a smaller score, or an equal one and a higher number.
  bool after(int32_t i, int32_t j) const { return scores[i] != scores[j] ? scores[i] < scores[j] : i > j; }
  auto below() const {
    return [this](int64_t i, int64_t j) { return after(boxes[i], boxes[j]); };
  }
  auto swapped() const {
    return [this](int64_t i, int64_t j) {
      const int32_t box = boxes[i];
      boxes[i] = boxes[j];
      boxes[j] = box;
    };
  }
  int32_t take_best() {
    const int32_t best = boxes[0];
    boxes[0] = boxes[--count];
    sift_down(0, count, below(), swapped());
    return best;
  }
};

Candidates candidates(const Options& options, const float* scores, int64_t box_count, void* scratch) {
  Candidates result{scores, static_cast<int32_t*>(scratch)};
  for (int64_t i = 0; i < box_count; ++i) {
    const bool passes =
        options.has_score_threshold ? scores[i] > options.score_threshold : scores[i] == scores[i];
    if (passes) result.boxes[result.count++] = static_cast<int32_t>(i);
  }
  make_heap(result.count, result.below(), result.swapped());
  return result;
}

/// Rows of the result: batch, class, box.
struct Rows {
  int64_t* elems;
  int64_t count = 0;

  void add(int64_t batch, int64_t number, int64_t box) {
    int64_t* row = elems + 3 * count++;
    row[0] = batch;
    row[1] = number;
    row[2] = box;
  }
  int64_t box(int64_t row) const { return elems[3 * row + 2]; }
};

void select_class(const Options& options, const float* boxes, Candidates& left, Rows& rows,
                  const int64_t* place) {
  const int64_t first = rows.count;
  while (left.count > 0 && rows.count - first < options.most) {
    const int32_t number = left.take_best();
    const Box box = box_at(boxes + 4 * static_cast<int64_t>(number), options.center_form);
    bool hidden = false;
    for (int64_t row = first; row < rows.count && !hidden; ++row)
      hidden = overlap(box, box_at(boxes + 4 * rows.box(row), options.center_form), options.iou_threshold);
    if (!hidden) rows.add(place[0], place[1], number);
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_non_max_suppression_f32(const Call* call, int64_t, int64_t) {
  inside::Params params(call);
  const int64_t batches = params.take();
  const int64_t classes = params.take();
  const int64_t box_count = params.take();
  const int64_t bound = params.take();
  inside::Options options{};
  options.most = params.take();
  options.iou_threshold = params.take_float();
  options.score_threshold = params.take_float();
  options.has_score_threshold = params.take() != 0;
  options.center_form = params.take() != 0;
  const float* boxes = inside::src_of<float>(call, 0);
  const float* scores = inside::src_of<float>(call, 1);
  inside::Rows rows{inside::dst_of<int64_t>(call, 2)};
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t number = 0; number < classes; ++number) {
      const float* class_scores = scores + (batch * classes + number) * box_count;
      inside::Candidates left = inside::candidates(options, class_scores, box_count, call->scratch);
      const int64_t place[2] = {batch, number};
      inside::select_class(options, boxes + batch * box_count * 4, left, rows, place);
    }
  std::memset(rows.elems + 3 * rows.count, 0, static_cast<size_t>(bound - rows.count) * 3 * sizeof(int64_t));
  *inside::dst_of<int64_t>(call, 3) = rows.count;
}

// SPDX-License-Identifier: Apache-2.0
#include "verify/selection_nms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace onepass::verify {

namespace {

/// One class of one batch item.
struct Contest {
  const double* boxes;
  const double* scores;
  int64_t count;
  int64_t most;
  double iou_threshold, score_threshold;
  bool center_form;
  double tolerance;
};

struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_of(const Contest& contest, int64_t i) {
  const double* c = contest.boxes + 4 * i;
  if (contest.center_form) return {c[1] - c[3] / 2, c[0] - c[2] / 2, c[1] + c[3] / 2, c[0] + c[2] / 2};
  return {std::min(c[0], c[2]), std::min(c[1], c[3]), std::max(c[0], c[2]), std::max(c[1], c[3])};
}

double intersection_over_union(const Contest& contest, int64_t i, int64_t j) {
  const Box a = box_of(contest, i), b = box_of(contest, j);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area() > 0) || !(b.area() > 0)) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

std::string wrong_chosen(const Contest& contest, const std::vector<int64_t>& chosen) {
  if (static_cast<int64_t>(chosen.size()) > contest.most) return "more boxes are chosen than were asked for";
  for (size_t i = 0; i < chosen.size(); ++i) {
    const int64_t box = chosen[i];
    if (box < 0 || box >= contest.count) return fmt::format("box {} is outside", box);
    const double score = contest.scores[box];
    if (!(score > contest.score_threshold - contest.tolerance))
      return fmt::format("box {} is chosen with the score {}", box, score);
    if (i > 0 && contest.scores[chosen[i - 1]] < score - contest.tolerance)
      return fmt::format("box {} stands behind a box with a smaller score", box);
    for (size_t j = 0; j < i; ++j) {
      if (chosen[j] == box) return fmt::format("box {} is chosen twice", box);
      const double overlap = intersection_over_union(contest, box, chosen[j]);
      if (overlap > contest.iou_threshold + contest.tolerance)
        return fmt::format("box {} is chosen although it covers box {} by {}", box, chosen[j], overlap);
    }
  }
  return "";
}

/// A box that is left out has its reason: its score, a chosen box that hides it, or a full list.
bool may_be_left_out(const Contest& contest, const std::vector<int64_t>& chosen, int64_t box) {
  const double score = contest.scores[box];
  if (!(score > contest.score_threshold + contest.tolerance)) return true;
  const bool full = static_cast<int64_t>(chosen.size()) == contest.most;
  if (full && (chosen.empty() || contest.scores[chosen.back()] >= score - contest.tolerance)) return true;
  return std::any_of(chosen.begin(), chosen.end(), [&](int64_t other) {
    return contest.scores[other] >= score - contest.tolerance &&
           intersection_over_union(contest, box, other) > contest.iou_threshold - contest.tolerance;
  });
}

std::string wrong_contest(const Contest& contest, const std::vector<int64_t>& chosen) {
  std::string wrong = wrong_chosen(contest, chosen);
  if (!wrong.empty()) return wrong;
  for (int64_t box = 0; box < contest.count; ++box) {
    if (std::find(chosen.begin(), chosen.end(), box) != chosen.end()) continue;
    if (!may_be_left_out(contest, chosen, box))
      return fmt::format("box {} with the score {} is left out", box, contest.scores[box]);
  }
  return "";
}

double threshold(const std::vector<const ir::Tensor*>& inputs, size_t input, double otherwise) {
  return input < inputs.size() && inputs[input] != nullptr ? inputs[input]->to_doubles()[0] : otherwise;
}

}  // namespace

std::string wrong_boxes(const ir::Node& node, const std::vector<const ir::Tensor*>& inputs,
                        const ir::Tensor& choice, double tolerance) {
  const ir::Shape& shape = inputs[1]->shape();
  const std::vector<double> boxes = inputs[0]->to_doubles(), scores = inputs[1]->to_doubles();
  const std::vector<int64_t> rows = choice.to_ints();
  Contest contest{.count = shape[2],
                  .most = static_cast<int64_t>(threshold(inputs, 2, 0)),
                  .iou_threshold = threshold(inputs, 3, 0),
                  .score_threshold = threshold(inputs, 4, -std::numeric_limits<double>::infinity()),
                  .center_form = node.attributes.get_int("center_point_box", 0) != 0,
                  .tolerance = tolerance};
  size_t row = 0;
  for (int64_t batch = 0; batch < shape[0]; ++batch)
    for (int64_t number = 0; number < shape[1]; ++number) {
      std::vector<int64_t> chosen;
      for (; row + 2 < rows.size() && rows[row] == batch && rows[row + 1] == number; row += 3)
        chosen.push_back(rows[row + 2]);
      contest.boxes = boxes.data() + batch * shape[2] * 4;
      contest.scores = scores.data() + (batch * shape[1] + number) * shape[2];
      const std::string wrong = wrong_contest(contest, chosen);
      if (!wrong.empty()) return fmt::format("batch {}, class {}: {}", batch, number, wrong);
    }
  return row == rows.size() ? "" : "the rows are not in the order of batches and classes";
}

}  // namespace onepass::verify

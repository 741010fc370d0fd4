// SPDX-License-Identifier: Apache-2.0
#include "verify_print.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace onepass::tool {

namespace {

using verify::FrameNote;
using verify::TensorReport;
using verify::VerifyReport;

std::string verdict(const VerifyReport& report) {
  if (report.failing_frames > 0)
    return fmt::format("NOT THE SAME: {} of {} frames differ", report.failing_frames, report.frames);
  if (!report.exercised())
    return "NOT EXERCISED: an output is empty in every frame; choose frames with objects in them";
  const int within = report.frames - report.own_accuracy_frames;
  if (within == report.frames)
    return fmt::format("PARITY: {} frames within {:g}", report.frames, report.tolerance);
  return fmt::format(
      "PARITY: {} frames within {:g}, {} at the network's own float accuracy (no farther from double than "
      "twice the "
      "float reference at its worst; --strict refuses them)",
      within, report.tolerance, report.own_accuracy_frames);
}

void print_rows(const std::vector<TensorReport>& rows, const VerifyReport& report) {
  for (const TensorReport& row : rows) {
    std::string remark = row.failing_frames > 0
                             ? fmt::format("  {} frames beyond {:g}", row.failing_frames, report.tolerance)
                             : "";
    if (row.exercised_frames < report.frames)
      remark += fmt::format("  filled in {} frames", row.exercised_frames);
    fmt::print("{:<40} {:>12.3g} {:>12.3g} {:>14.3g}   {}{}\n", row.name, row.worst.reference,
               row.worst.referee, row.worst.own, row.place, remark);
  }
}

void print_notes(const char* title, const std::vector<FrameNote>& notes) {
  constexpr size_t k_most = 10;
  if (notes.empty()) return;
  fmt::print("{}: {}\n", title, notes.size());
  for (size_t i = 0; i < std::min(notes.size(), k_most); ++i)
    fmt::print("  frame {}: {}\n", notes[i].frame, notes[i].text);
  if (notes.size() > k_most) fmt::print("  and {} more\n", notes.size() - k_most);
}

/// JSON has no infinity.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json("infinity");
}

nlohmann::ordered_json rows_json(const std::vector<TensorReport>& rows) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const TensorReport& row : rows)
    result.push_back({{"name", row.name},
                      {"place", row.place},
                      {"error_from_reference", number(row.worst.reference)},
                      {"error_from_referee", number(row.worst.referee)},
                      {"reference_from_referee", number(row.worst.own)},
                      {"worst_frame", row.worst_frame},
                      {"failing_frames", row.failing_frames},
                      {"exercised_frames", row.exercised_frames},
                      {"most_elements", row.most_elements}});
  return result;
}

nlohmann::ordered_json notes_json(const std::vector<FrameNote>& notes) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const FrameNote& note : notes) result.push_back({{"frame", note.frame}, {"text", note.text}});
  return result;
}

double largest_error(const VerifyReport& report) {
  double largest = 0;
  for (const auto* rows : {&report.outputs, &report.selection_inputs})
    for (const TensorReport& row : *rows) largest = std::max(largest, row.worst.reference);
  return largest;
}

}  // namespace

void print_text(const std::string& model, const verify::Frames& frames, const VerifyReport& report) {
  fmt::print("{}, {} frames\n\n", model, report.frames);
  fmt::print("{:<40} {:>12} {:>12} {:>14}\n", "largest error of", "reference", "referee", "reference's own");
  print_rows(report.outputs, report);
  print_rows(report.selection_inputs, report);
  print_rows(report.groups, report);
  fmt::print("\n");
  print_notes("ties", report.ties);
  print_notes("choices that no tie explains", report.broken);
  if (report.first_failing_frame) {
    fmt::print("first frame that differs: {} ({})\n", *report.first_failing_frame,
               frames.name(*report.first_failing_frame));
    fmt::print("first group that differs: {}\n",
               report.first_diverging_group.empty() ? "none alone" : report.first_diverging_group);
  }
  fmt::print("{}\n", verdict(report));
}

void print_json(const std::string& model, const verify::Frames& frames, const VerifyReport& report) {
  nlohmann::ordered_json json = {{"model", model},
                                 {"frames", report.frames},
                                 {"tolerance", report.tolerance},
                                 {"parity", report.parity()},
                                 {"exercised", report.exercised()},
                                 {"failing_frames", report.failing_frames},
                                 {"own_accuracy_frames", report.own_accuracy_frames},
                                 {"largest_error", number(largest_error(report))},
                                 {"outputs", rows_json(report.outputs)},
                                 {"selection_inputs", rows_json(report.selection_inputs)},
                                 {"groups", rows_json(report.groups)},
                                 {"ties", notes_json(report.ties)},
                                 {"broken_choices", notes_json(report.broken)}};
  if (report.first_failing_frame) {
    json["first_failing_frame"] = *report.first_failing_frame;
    json["first_failing_frame_name"] = frames.name(*report.first_failing_frame);
    json["first_diverging_group"] = report.first_diverging_group;
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace onepass::tool

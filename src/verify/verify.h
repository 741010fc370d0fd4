// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/check.h"
#include "verify/frames.h"

namespace onepass::verify {

struct VerifyOptions {
  double tolerance = 1e-5;
  bool strict = false;     ///< parity at the network's own accuracy does not count
  bool per_group = false;  ///< compares the result of every group on every frame
  int threads = 2;         ///< frames in parallel
  /// Called with the number of frames done, from any thread but never from two at once.
  std::function<void(int done, int total)> on_progress;
};

/// One tensor over all frames.
struct TensorReport {
  std::string name;
  std::string place;    ///< "output", "enters 'nms' (NonMaxSuppression)" or "group"
  Errors worst;         ///< the greatest of each, over the frames
  int worst_frame = 0;  ///< with the greatest error from the reference
  int failing_frames = 0;
  int exercised_frames = 0;  ///< in which it had elements
  int64_t most_elements = 0;
};

struct FrameNote {
  int frame = 0;
  std::string text;
};

struct VerifyReport {
  int frames = 0;
  double tolerance = 0;
  std::vector<TensorReport> outputs, selection_inputs, groups;
  std::vector<FrameNote> ties, broken;
  int failing_frames = 0;
  int own_accuracy_frames = 0;  ///< that miss the tolerance and hold at the network's own accuracy
  std::optional<int> first_failing_frame;
  std::string first_diverging_group;  ///< in the user's node names; empty when none does

  bool exercised() const;  ///< no output was empty in every frame
  bool parity() const { return failing_frames == 0 && exercised(); }
};

/// Compares the compiled model with the reference on every frame. The report does not depend on `threads`.
VerifyReport run_verify(const Subject& subject, const Frames& frames, const VerifyOptions& options);

}  // namespace onepass::verify

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "verify/compare.h"
#include "verify/subject.h"

namespace onepass::verify {

/// One tensor of one frame, compared.
struct Compared {
  Errors errors;
  int64_t elements = 0;
};

struct FrameResult {
  std::vector<Compared> outputs;    ///< graph outputs
  std::vector<Compared> inputs;     ///< of selections, one after the other
  std::vector<Compared> groups;     ///< empty unless asked for
  std::vector<std::string> ties;    ///< choices that differ between equals
  std::vector<std::string> broken;  ///< choices that no tie explains

  bool holds(double tolerance) const;
};

/// Compares frames; const members are thread-safe.
class Checker {
 public:
  Checker(const Subject& subject, double tolerance);

  /// Runs the compiled model, the reference and the referee on `inputs`.
  FrameResult check(runtime::Session& session, const std::vector<ir::Tensor>& inputs, bool with_groups) const;
  const Subject& subject() const { return subject_; }
  double tolerance() const { return tolerance_; }

 private:
  const Subject& subject_;
  double tolerance_;
  std::vector<Segments> output_segments_, input_segments_, group_segments_;
  std::vector<ir::NodeId> downstream_;  ///< selections and what depends on them, in order
  std::vector<bool> kept_;              ///< by value: needed to compute downstream nodes again
};

}  // namespace onepass::verify

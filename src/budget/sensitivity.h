// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/graph.h"
#include "verify/compare.h"

namespace onepass::budget {

/// The error of a probe: far above the rounding of the run itself, still in the linear range.
inline constexpr double k_probe_error = 1e-4;

/// One reference run in float with every value kept: what errors in single layers do to the outputs.
class Reference {
 public:
  /// `contrast`: how much more an object in a picture excites the scores than this frame does.
  Reference(const ir::Graph& graph, const std::vector<ir::Tensor>& frame, double contrast = 1);

  const ir::Tensor& value(ir::ValueId value) const { return values_[value.index]; }

  /// The nodes, with what else computes with their results, run again, each float operand of a named node off
  /// by independent relative noise of rms error / sqrt(2): the greatest distance at the watched values, as
  /// verify measures it, scaled to what 200 frames would show.
  double effect(const std::map<ir::NodeId, double>& error_of, uint64_t seed) const;

 private:
  struct Watched {
    ir::ValueId value;
    verify::Segments segments;
  };
  /// What a Softmax or Sigmoid read: its result depends on how decided the network is in a frame.
  struct Undecided {
    ir::ValueId value;
    double slope = 0;  ///< what an error of 1 comes to in the least decided frame
  };
  void watch(ir::ValueId value, const std::vector<bool>& chosen);
  void watch_scores(ir::ValueId value);
  std::vector<ir::Tensor> evaluated(ir::NodeId node, const std::vector<ir::Tensor>& changed, double error,
                                    uint64_t seed) const;
  double distance(const std::vector<ir::Tensor>& changed) const;

  const ir::Graph& graph_;
  double contrast_;
  std::vector<ir::NodeId> order_;
  std::vector<ir::Tensor> values_;  ///< by value; of constants too
  std::vector<Watched> watched_;
  std::vector<Undecided> undecided_;
};

struct SensitivityOptions {
  /// Bounds the work: layers that lie one behind the other are probed together where probing each would
  /// cost more. About a second on two cores.
  double probe_flops = 4e10;
  int threads = 2;
};

/// Floating-point operations of one run of the reference.
double run_flops(const ir::Graph& graph);

/// What an error of 1 in each of `layers` (in the unit of declared_error) puts at the outputs: noise in one
/// group of neighbours at a time, everything behind it run again. Each layer of a group has an equal share.
/// Rounded up to an eighth of an octave, so that it does not depend on the last bits of a library function.
std::vector<double> sensitivities(const ir::Graph& graph, const Reference& reference,
                                  const std::vector<ir::NodeId>& layers, const SensitivityOptions& options);

/// Upwards to 2^(k / 8): independent of the last bits of a library function.
double rounded_up(double value);

/// The median of the greatest of `200 * count` normal deviates over that of `count`: how much greater an
/// error seen in 200 frames is than one seen in a frame of `count` elements.
double frames_factor(int64_t count);

}  // namespace onepass::budget

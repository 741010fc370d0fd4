// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/choice.h"
#include "plan/kernel_table.h"
#include "plan/layout.h"
#include "plan/placement.h"
#include "plan/plain_placement.h"
#include "plan/plan.h"
#include "plan/routine_call.h"

namespace onepass::plan {

/// Turns groups into buffers, launches and kernels. Holds the plan while it grows.
class Lowering {
 public:
  Lowering(const ir::Graph& graph, const targets::Target& target, std::vector<Group> groups,
           const PlanOptions& options = {});
  /// Buffers have neither lifetimes nor offsets yet. Throws Error naming every node that nothing can run.
  Plan run();

 private:
  // lowering.cpp: groups
  void lower(int32_t group);
  void lower_kernel(int32_t group, Family family);
  void lower_gemm(int32_t group);
  void lower_product(int32_t group);
  void lower_upsample(int32_t group);
  void lower_softmax(int32_t group);
  void lower_transpose(int32_t group);
  void pass_over_transposes();
  void lower_view(ir::NodeId node);
  void lower_routine(int32_t group);
  void collect_halos();
  void bind_outputs();
  ir::ValueId source_of(const Group& group, Family family) const;
  Form source_form(const Group& group, Family family) const;
  GroupMaps maps_of(const Group& group, Family family) const;

  // lowering_slices.cpp: maps inside others
  void place_slices();
  void lower_concat(int32_t group);
  void assemble(int32_t group, const ChannelParts& parts, const std::vector<int32_t>& sources, int32_t dst);
  void lower_split(int32_t group);
  double predicted_group_ns(int32_t group) const;
  kernels::FeatureMap placed_map(ir::ValueId value, kernels::FeatureMap map) const;
  void put_inside(Buffer& buffer, const Place& place) const;

  // lowering_plain.cpp: plain values inside others
  void place_plain();
  ir::ValueId storage_of(ir::ValueId value) const;
  bool lower_plain_parts(int32_t group);
  void join_plain(int32_t group, const PlainParts& parts);
  void cut_plain(int32_t group, const PlainParts& parts);
  void cut_replaced(int32_t group, const ReplacedParts& parts);
  void join_replaced(int32_t group, const ReplacedParts& parts);
  void push_routine(int32_t group, const RoutineCall& call, std::vector<int32_t> reads,
                    std::vector<int32_t> writes);
  void copy_bytes(int32_t group, const std::string& name, int32_t src, int64_t first_bytes, int32_t dst);
  void put_plain_inside(Buffer& buffer, const PlainPlace& place) const;

  // lowering_values.cpp: values and buffers
  int32_t read(ir::ValueId value, Form form);   ///< converts when the value does not have the form yet
  int32_t write(ir::ValueId value, Form form);  ///< a new buffer for the value
  kernels::FeatureMap map(ir::ValueId value, Form form) const;
  int32_t convert(ir::ValueId value, Form from, Form to);
  int32_t constant(ir::ValueId value, Form form);
  int32_t add_buffer(Buffer buffer);
  int32_t add_weights(const std::string& name, std::span<const std::byte> bytes);
  int32_t add_weights(const std::string& name, std::span<const float> values);

  // lowering_kernels.cpp: launches
  kernels::KernelChoice kernel_of(const Group& group, Family family, const GroupMaps& maps) const;
  void launch(int32_t group, const std::string& name, const kernels::KernelChoice& choice,
              std::vector<int32_t> reads, int32_t dst, std::vector<int32_t> may_take_over = {});
  void push(Launch launch);
  void append_weights(ir::NodeId anchor, const kernels::KernelChoice& choice, Family family,
                      std::vector<int32_t>& reads);
  void append_operands(const Group& group, Family family, const ir::TensorType& type, Form form,
                       const kernels::FeatureMap& dst, std::vector<int32_t>& reads);

  const ir::Graph& graph_;
  const targets::Target& target_;
  const PlanOptions options_;
  Plan plan_;
  std::vector<Form> forms_;  ///< native, by value
  Halos halos_;
  Placement placement_;
  std::vector<kernels::FeatureMap> shared_maps_;  ///< by number in placement_.shared
  std::vector<int32_t> shared_buffers_;           ///< likewise
  PlainPlacement plain_;
  std::vector<int32_t> plain_buffers_;                      ///< by number in plain_.shared
  std::vector<std::array<int32_t, k_form_count>> buffers_;  ///< by value and form; -1: not made
  std::vector<int32_t> counts_;                             ///< by value: buffer of its run-time count, or -1
  /// Transposes that a convolution has done, with its result, and the views between them.
  std::map<int32_t, ir::ValueId> passed_over_;  ///< by group
  std::map<ir::NodeId, ir::ValueId> rows_of_;   ///< the same by Transpose
  std::vector<int32_t> output_of_;              ///< by value: first graph output that it is, or -1
  KernelTable kernels_;
  std::unordered_multimap<uint64_t, int32_t> weights_by_hash_;  ///< of their first bytes
  std::vector<Diagnostic> refused_;
};

}  // namespace onepass::plan

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/choice.h"
#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/routine_call.h"

namespace onepass::plan {

/// Turns groups into buffers, launches and kernels. Holds the plan while it grows.
class Lowering {
 public:
  Lowering(const ir::Graph& graph, const targets::Target& target, std::vector<Group> groups,
           const PlanOptions& options = {});
  /// Buffers have lifetimes but no offsets yet. Throws Error naming every node that nothing can run.
  Plan run();

 private:
  // lowering.cpp: groups
  void lower(int32_t group);
  void lower_kernel(int32_t group, Family family);
  void lower_gemm(int32_t group);
  void lower_upsample(int32_t group);
  void lower_softmax(int32_t group);
  void lower_concat(int32_t group);
  void lower_view(ir::NodeId node);
  void lower_routine(int32_t group);
  void collect_halos();
  void bind_outputs();
  void set_lifetimes();

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
  std::string kernel_symbol(const kernels::KernelChoice& choice, int64_t& slices);
  void push(Launch launch);
  void append_weights(ir::NodeId anchor, const kernels::KernelChoice& choice, Family family,
                      std::vector<int32_t>& reads);
  void append_operands(const Group& group, Family family, const ir::TensorType& type, Form form,
                       const kernels::FeatureMap& dst, std::vector<int32_t>& reads);

  const ir::Graph& graph_;
  const targets::Target& target_;
  const PlanOptions options_;
  Plan plan_;
  std::vector<Form> forms_;                                     ///< native, by value
  std::vector<std::array<kernels::Halo, k_form_count>> halos_;  ///< by value and form
  std::vector<std::array<int32_t, k_form_count>> buffers_;      ///< by value and form; -1: not made
  std::vector<int32_t> counts_;     ///< by value: buffer of its run-time count, or -1
  std::vector<int32_t> output_of_;  ///< by value: first graph output that it is, or -1
  std::map<std::string, std::pair<std::string, int64_t>> symbols_;  ///< printed nest -> symbol and slices
  std::unordered_multimap<uint64_t, int32_t> weights_by_hash_;      ///< of their first bytes
  std::vector<Diagnostic> refused_;
};

}  // namespace onepass::plan

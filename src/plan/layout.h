// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/choice.h"
#include "kernels/feature_map.h"
#include "plan/family.h"
#include "plan/plan.h"

namespace onepass::plan {

/// The layouts that a value can have in memory.
enum class Form : uint8_t {
  plain,    ///< row-major as ONNX has it
  padded,   ///< plain planes with a halo: what a first convolution reads
  blocked,  ///< channel blocks of the target's vector width, with a halo
  rows,     ///< rows of channels, as a Transpose behind a convolution asks for them (channel_rows.h)
};
constexpr int k_form_count = 4;

/// The map of a value under a form. A plain value of any rank may be read as a row of elements (flat_map).
/// Blocked maps keep their elements as `storage`, plain ones as f32.
kernels::FeatureMap map_of(const ir::TensorType& type, Form form, const kernels::Halo& halo,
                           const targets::Target& target, loops::Scalar storage = loops::Scalar::f32);
kernels::FeatureMap flat_map(const ir::TensorType& type);
/// An f32 matrix [.., m, k] as pixels x channels.
kernels::FeatureMap matrix_of(const ir::TensorType& type);

/// plain and blocked are the same bytes: one pixel, whole blocks, no halo.
bool blocked_is_plain(const ir::TensorType& type, const targets::Target& target);

/// An elementwise group with a step that reads one value per channel: it works on blocked maps alone.
bool needs_channels(const ir::Graph& graph, const Group& group);

/// Chooses the form in which each value is first made. Indexed by value. With `concat_slices` a Split or
/// Slice of blocked maps gives blocked maps.
std::vector<Form> native_forms(const ir::Graph& graph, const std::vector<Group>& groups,
                               const targets::Target& target, const PlanOptions& options = {});

/// The form in which a conv, pool, upsample or concat reads its source, and the halo it needs.
struct Reading {
  Form form = Form::plain;
  kernels::Halo halo;
};
Reading source_reading(const ir::Graph& graph, ir::NodeId anchor, Family family, Form native,
                       const targets::Target& target, const kernels::ConvPolicy& policy = {});

}  // namespace onepass::plan

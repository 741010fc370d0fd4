// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "onnx/importer.h"

namespace onepass::onnx {

/// Brings one operator from the form of `node.opset` to the newest form and emits it, with what it needs.
using Upgrade = void (*)(Importer& importer, SourceNode& node);

/// Null for operators whose form is the same in all opsets that we read.
Upgrade find_upgrade(std::string_view op);

void upgrade_batch_normalization(Importer& importer, SourceNode& node);
void upgrade_cast(Importer& importer, SourceNode& node);
void upgrade_clip(Importer& importer, SourceNode& node);
void upgrade_constant(Importer& importer, SourceNode& node);
void upgrade_dropout(Importer& importer, SourceNode& node);
void upgrade_pad(Importer& importer, SourceNode& node);
void upgrade_range(Importer& importer, SourceNode& node);
void upgrade_reduce(Importer& importer, SourceNode& node);
void upgrade_reduce_sum(Importer& importer, SourceNode& node);
void upgrade_resize(Importer& importer, SourceNode& node);
void upgrade_slice(Importer& importer, SourceNode& node);
void upgrade_softmax(Importer& importer, SourceNode& node);
void upgrade_space_to_depth(Importer& importer, SourceNode& node);
void upgrade_split(Importer& importer, SourceNode& node);
void upgrade_squeeze(Importer& importer, SourceNode& node);
void upgrade_sum(Importer& importer, SourceNode& node);
void upgrade_top_k(Importer& importer, SourceNode& node);
void upgrade_upsample(Importer& importer, SourceNode& node);

}  // namespace onepass::onnx

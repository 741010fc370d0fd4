// SPDX-License-Identifier: Apache-2.0
#include "onnx/upgrade.h"

namespace onepass::onnx {

namespace {

struct UpgradeRow {
  std::string_view op;
  Upgrade upgrade;
};

constexpr UpgradeRow k_upgrades[] = {
    {"BatchNormalization", upgrade_batch_normalization},
    {"Cast", upgrade_cast},
    {"Clip", upgrade_clip},
    {"Constant", upgrade_constant},
    {"Dropout", upgrade_dropout},
    {"LogSoftmax", upgrade_softmax},
    {"Pad", upgrade_pad},
    {"Range", upgrade_range},
    {"ReduceMax", upgrade_reduce},
    {"ReduceMean", upgrade_reduce},
    {"ReduceMin", upgrade_reduce},
    {"ReduceProd", upgrade_reduce},
    {"ReduceSum", upgrade_reduce_sum},
    {"Resize", upgrade_resize},
    {"Slice", upgrade_slice},
    {"Softmax", upgrade_softmax},
    {"SpaceToDepth", upgrade_space_to_depth},
    {"Split", upgrade_split},
    {"Squeeze", upgrade_squeeze},
    {"Sum", upgrade_sum},
    {"TopK", upgrade_top_k},
    {"Unsqueeze", upgrade_squeeze},
    {"Upsample", upgrade_upsample},
};

}  // namespace

Upgrade find_upgrade(std::string_view op) {
  for (const UpgradeRow& row : k_upgrades)
    if (row.op == op) return row.upgrade;
  return nullptr;
}

}  // namespace onepass::onnx

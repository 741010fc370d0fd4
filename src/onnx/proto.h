// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#include <onnx/onnx_pb.h>

namespace onepass::onnx {

/// The message classes of the file format. They stay inside src/onnx and its tests.
namespace pb = ::onnx;

}  // namespace onepass::onnx

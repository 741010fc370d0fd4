# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2, width 1.0."""

from onnx_builder import Net, classifier_tail, image_input

# expansion, output channels, blocks, stride of the first block
STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)
PROJECT_GAIN = 0.5  # of the BatchNorm before each sum


def chain(net, x, prefix, outputs, kernel, stride=1, groups=1):
    """Convolution, BatchNorm, ReLU6."""
    x = net.conv(x, f"{prefix}.0", outputs, kernel, stride, kernel // 2, groups)
    return net.relu6(net.batchnorm(x, f"{prefix}.1"), f"{prefix}.2")


def inverted_residual(net, x, prefix, outputs, stride, expansion):
    """Expand, depthwise, project; the sum where the shapes agree."""
    shortcut, index = x, 0
    hidden = net.channels(x) * expansion
    if expansion != 1:
        x = chain(net, x, f"{prefix}.conv.{index}", hidden, 1)
        index += 1
    x = chain(net, x, f"{prefix}.conv.{index}", hidden, 3, stride, groups=hidden)
    x = net.conv(x, f"{prefix}.conv.{index + 1}", outputs, 1)
    is_sum = stride == 1 and net.channels(shortcut) == outputs
    x = net.batchnorm(x, f"{prefix}.conv.{index + 2}", gain=PROJECT_GAIN if is_sum else 1.0)
    return net.add(shortcut, x, f"{prefix}.add") if is_sum else x


def mobilenet_v2(seed):
    net = Net("mobilenet_v2", seed)
    x = chain(net, image_input(net, 224), "features.0", 32, 3, 2)
    index = 1
    for expansion, outputs, depth, first_stride in STAGES:
        for i in range(depth):
            stride = first_stride if i == 0 else 1
            x = inverted_residual(net, x, f"features.{index}", outputs, stride, expansion)
            index += 1
    x = chain(net, x, f"features.{index}", 1280, 1)
    classifier_tail(net, x, "avgpool", "classifier.1")
    return net

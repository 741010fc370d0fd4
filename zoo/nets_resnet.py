# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 and ResNet-50 (the form with the stride on the 3x3 convolution)."""

from onnx_builder import Net, classifier_tail, image_input

WIDTHS = (64, 128, 256, 512)
LAST_GAIN = 0.5  # of the BatchNorm before each sum


def conv_batchnorm(net, x, prefix, index, outputs, kernel, stride=1, gain=1.0):
    """The convolution conv<index> and bn<index> of a block."""
    x = net.conv(x, f"{prefix}.conv{index}", outputs, kernel, stride, kernel // 2)
    return net.batchnorm(x, f"{prefix}.bn{index}", gain=gain)


def basic_branch(net, x, prefix, width, stride):
    """Two 3x3 convolutions."""
    x = conv_batchnorm(net, x, prefix, 1, width, 3, stride)
    x = net.relu(x, f"{prefix}.relu")
    return conv_batchnorm(net, x, prefix, 2, width, 3, gain=LAST_GAIN)


def bottleneck_branch(net, x, prefix, width, stride):
    """1x1, 3x3, 1x1 to four times the width."""
    x = conv_batchnorm(net, x, prefix, 1, width, 1)
    x = net.relu(x, f"{prefix}.relu")
    x = conv_batchnorm(net, x, prefix, 2, width, 3, stride)
    x = net.relu(x, f"{prefix}.relu_1")
    return conv_batchnorm(net, x, prefix, 3, 4 * width, 1, gain=LAST_GAIN)


def residual(net, x, prefix, width, stride, branch):
    """One block: branch plus shortcut, then ReLU."""
    y = branch(net, x, prefix, width, stride)
    if stride != 1 or net.channels(x) != net.channels(y):
        x = net.conv(x, f"{prefix}.downsample.0", net.channels(y), 1, stride)
        x = net.batchnorm(x, f"{prefix}.downsample.1")
    return net.relu(net.add(y, x, f"{prefix}.add"), f"{prefix}.relu_out")


def resnet(name, seed, branch, depths):
    net = Net(name, seed)
    x = net.conv(image_input(net, 224), "conv1", 64, 7, 2, 3)
    x = net.relu(net.batchnorm(x, "bn1"), "relu")
    x = net.maxpool(x, "maxpool", 3, 2, 1)
    for stage, (width, depth) in enumerate(zip(WIDTHS, depths), 1):
        for i in range(depth):
            stride = 2 if stage > 1 and i == 0 else 1
            x = residual(net, x, f"layer{stage}.{i}", width, stride, branch)
    classifier_tail(net, x, "avgpool", "fc")
    return net


def resnet18(seed):
    return resnet("resnet18", seed, basic_branch, (2, 2, 2, 2))


def resnet50(seed):
    return resnet("resnet50", seed, bottleneck_branch, (3, 4, 6, 3))

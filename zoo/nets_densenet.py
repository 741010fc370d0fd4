# SPDX-License-Identifier: Apache-2.0
"""DenseNet-121."""

from onnx_builder import Net, classifier_tail, image_input

DEPTHS = (6, 12, 24, 16)
GROWTH = 32
BOTTLENECK = 4 * GROWTH


def norm_relu_conv(net, x, prefix, suffix, outputs, kernel):
    """BatchNorm, ReLU, convolution: the order of a pre-activation network."""
    x = net.batchnorm(x, f"{prefix}.norm{suffix}")
    x = net.relu(x, f"{prefix}.relu{suffix}")
    return net.conv(x, f"{prefix}.conv{suffix}", outputs, kernel, 1, kernel // 2)


def dense_block(net, x, prefix, depth):
    """Each layer reads the concatenation of all before it."""
    features = [x]
    for i in range(1, depth + 1):
        layer = f"{prefix}.denselayer{i}"
        x = features[0] if i == 1 else net.concat(features, f"{layer}.concat")
        x = norm_relu_conv(net, x, layer, "1", BOTTLENECK, 1)
        features.append(norm_relu_conv(net, x, layer, "2", GROWTH, 3))
    return net.concat(features, f"{prefix}.concat")


def densenet121(seed):
    net = Net("densenet121", seed)
    x = net.conv(image_input(net, 224), "features.conv0", 64, 7, 2, 3)
    x = net.relu(net.batchnorm(x, "features.norm0"), "features.relu0")
    x = net.maxpool(x, "features.pool0", 3, 2, 1)
    for i, depth in enumerate(DEPTHS, 1):
        x = dense_block(net, x, f"features.denseblock{i}", depth)
        if i < len(DEPTHS):
            prefix = f"features.transition{i}"
            x = norm_relu_conv(net, x, prefix, "", net.channels(x) // 2, 1)
            x = net.avgpool(x, f"{prefix}.pool", 2, 2)
    x = net.relu(net.batchnorm(x, "features.norm5"), "relu")
    classifier_tail(net, x, "avgpool", "classifier")
    return net

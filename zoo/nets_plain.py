# SPDX-License-Identifier: Apache-2.0
"""Networks without BatchNorm at every turn or without branches: VGG-16 (with BatchNorm) and
SqueezeNet 1.1 (without)."""

from onnx_builder import Net, image_input

VGG16 = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool",
         512, 512, 512, "pool", 512, 512, 512, "pool")


def vgg16_bn(seed):
    """550 MB of weights, most of them in classifier.0."""
    net = Net("vgg16_bn", seed)
    x, index = image_input(net, 224), 0
    for item in VGG16:
        if item == "pool":
            x = net.maxpool(x, f"features.{index}", 2, 2)
            index += 1
            continue
        x = net.conv(x, f"features.{index}", item, 3, 1, 1, bias=0.0)
        x = net.batchnorm(x, f"features.{index + 1}")
        x = net.relu(x, f"features.{index + 2}")
        index += 3
    x = net.flatten(x, "flatten", 7 * 7)
    x = net.relu(net.gemm(x, "classifier.0", 4096), "classifier.1")
    x = net.relu(net.gemm(x, "classifier.3", 4096), "classifier.4")
    net.output(net.gemm(x, "classifier.6", 1000), "logits", [1, 1000])
    return net


# index: (squeeze, expand) of a fire module, or None for a max pool
SQUEEZENET = {
    2: None, 3: (16, 64), 4: (16, 64), 5: None, 6: (32, 128), 7: (32, 128), 8: None,
    9: (48, 192), 10: (48, 192), 11: (64, 256), 12: (64, 256),
}


def conv_relu(net, x, name, outputs, kernel):
    x = net.conv(x, name, outputs, kernel, 1, kernel // 2, bias=0.0)
    return net.relu(x, f"{name}_activation")


def fire(net, x, prefix, squeeze, expand):
    """A 1x1 squeeze, then 1x1 and 3x3 side by side."""
    x = conv_relu(net, x, f"{prefix}.squeeze", squeeze, 1)
    a = conv_relu(net, x, f"{prefix}.expand1x1", expand, 1)
    b = conv_relu(net, x, f"{prefix}.expand3x3", expand, 3)
    return net.concat([a, b], f"{prefix}.concat")


def squeezenet1_1(seed):
    net = Net("squeezenet1_1", seed)
    x = net.conv(image_input(net, 224), "features.0", 64, 3, 2, bias=0.0)
    x = net.relu(x, "features.1")
    for index, widths in SQUEEZENET.items():
        if widths:
            x = fire(net, x, f"features.{index}", *widths)
        else:
            x = net.maxpool(x, f"features.{index}", 3, 2, ceil=True)
    x = net.conv(x, "classifier.1", 1000, 1, bias=0.0)
    x = net.global_avgpool(net.relu(x, "classifier.2"), "classifier.3")
    net.output(net.flatten(x, "flatten"), "logits", [1, 1000])
    return net

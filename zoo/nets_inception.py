# SPDX-License-Identifier: Apache-2.0
"""Inception v3, without the auxiliary classifier that only training uses."""

from onnx_builder import Net, classifier_tail, image_input, pair

EPS = 1e-3


def chain(net, x, name, outputs, kernel, stride=1, pad=None):
    """Convolution, BatchNorm, ReLU; pad=None keeps the size."""
    pad = tuple(k // 2 for k in pair(kernel)) if pad is None else pad
    x = net.conv(x, f"{name}.conv", outputs, kernel, stride, pad)
    return net.relu(net.batchnorm(x, f"{name}.bn", eps=EPS), f"{name}.relu")


def chains(net, x, prefix, layers):
    """A branch: layers are (suffix, outputs, kernel[, stride, pad])."""
    for suffix, *rest in layers:
        x = chain(net, x, f"{prefix}{suffix}", *rest)
    return x


def pool_branch(net, x, prefix, outputs):
    """3x3 average pool (padding counted), then 1x1."""
    x = net.avgpool(x, f"{prefix}.avgpool", 3, 1, 1)
    return chain(net, x, f"{prefix}.branch_pool", outputs, 1)


def block_a(net, x, prefix, pool_outputs):
    """35x35: 1x1, 5x5, double 3x3, pool."""
    branches = [
        chain(net, x, f"{prefix}.branch1x1", 64, 1),
        chains(net, x, f"{prefix}.branch5x5", [("_1", 48, 1), ("_2", 64, 5)]),
        chains(net, x, f"{prefix}.branch3x3dbl", [("_1", 64, 1), ("_2", 96, 3), ("_3", 96, 3)]),
        pool_branch(net, x, prefix, pool_outputs),
    ]
    return net.concat(branches, f"{prefix}.concat")


def block_b(net, x, prefix):
    """35x35 to 17x17."""
    branches = [
        chain(net, x, f"{prefix}.branch3x3", 384, 3, 2, 0),
        chains(net, x, f"{prefix}.branch3x3dbl",
               [("_1", 64, 1), ("_2", 96, 3), ("_3", 96, 3, 2, 0)]),
        net.maxpool(x, f"{prefix}.maxpool", 3, 2),
    ]
    return net.concat(branches, f"{prefix}.concat")


def block_c(net, x, prefix, width):
    """17x17: 1x1, factored 7x7, double factored 7x7, pool."""
    row, column = (1, 7), (7, 1)
    branches = [
        chain(net, x, f"{prefix}.branch1x1", 192, 1),
        chains(net, x, f"{prefix}.branch7x7",
               [("_1", width, 1), ("_2", width, row), ("_3", 192, column)]),
        chains(net, x, f"{prefix}.branch7x7dbl",
               [("_1", width, 1), ("_2", width, column), ("_3", width, row),
                ("_4", width, column), ("_5", 192, row)]),
        pool_branch(net, x, prefix, 192),
    ]
    return net.concat(branches, f"{prefix}.concat")


def block_d(net, x, prefix):
    """17x17 to 8x8."""
    branches = [
        chains(net, x, f"{prefix}.branch3x3", [("_1", 192, 1), ("_2", 320, 3, 2, 0)]),
        chains(net, x, f"{prefix}.branch7x7x3",
               [("_1", 192, 1), ("_2", 192, (1, 7)), ("_3", 192, (7, 1)), ("_4", 192, 3, 2, 0)]),
        net.maxpool(x, f"{prefix}.maxpool", 3, 2),
    ]
    return net.concat(branches, f"{prefix}.concat")


def fork(net, x, prefix, outer):
    """1x3 and 3x1 side by side; outer is the suffix they share ("_2" or "_3")."""
    a = chain(net, x, f"{prefix}{outer}a", 384, (1, 3))
    b = chain(net, x, f"{prefix}{outer}b", 384, (3, 1))
    return net.concat([a, b], f"{prefix}.concat")


def block_e(net, x, prefix):
    """8x8: 1x1, forked 3x3, double forked 3x3, pool."""
    single, double = f"{prefix}.branch3x3", f"{prefix}.branch3x3dbl"
    branches = [
        chain(net, x, f"{prefix}.branch1x1", 320, 1),
        fork(net, chain(net, x, f"{single}_1", 384, 1), single, "_2"),
        fork(net, chains(net, x, double, [("_1", 448, 1), ("_2", 384, 3)]), double, "_3"),
        pool_branch(net, x, prefix, 192),
    ]
    return net.concat(branches, f"{prefix}.concat")


def stem(net, x):
    """299x299 to 35x35."""
    x = chain(net, x, "Conv2d_1a_3x3", 32, 3, 2, 0)
    x = chain(net, x, "Conv2d_2a_3x3", 32, 3, 1, 0)
    x = chain(net, x, "Conv2d_2b_3x3", 64, 3)
    x = net.maxpool(x, "maxpool1", 3, 2)
    x = chain(net, x, "Conv2d_3b_1x1", 80, 1)
    x = chain(net, x, "Conv2d_4a_3x3", 192, 3, 1, 0)
    return net.maxpool(x, "maxpool2", 3, 2)


def inception_v3(seed):
    net = Net("inception_v3", seed)
    x = stem(net, image_input(net, 299))
    for letter, pool_outputs in zip("bcd", (32, 64, 64)):
        x = block_a(net, x, f"Mixed_5{letter}", pool_outputs)
    x = block_b(net, x, "Mixed_6a")
    for letter, width in zip("bcde", (128, 160, 160, 192)):
        x = block_c(net, x, f"Mixed_6{letter}", width)
    x = block_d(net, x, "Mixed_7a")
    x = block_e(net, x, "Mixed_7b")
    x = block_e(net, x, "Mixed_7c")
    classifier_tail(net, x, "avgpool", "fc")
    return net

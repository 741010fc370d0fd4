# SPDX-License-Identifier: Apache-2.0
"""The parts that both detectors share: SiLU chains, pooling pyramid, upsampling, grids."""

import numpy as np

EPS = 1e-3
CLASSES = 80
STRIDES = (8, 16, 32)
IMAGE_MEAN, IMAGE_VARIANCE = 0.45, 1.0  # pictures in 0..1; the variance leaves room for noise
POOL_SHIFTS = (2.0, 0.5, 0.3)  # of the pools in a row, each over a window that contains the last


def chain(net, x, prefix, outputs, kernel=1, stride=1, pad=None):
    """Convolution, BatchNorm, SiLU."""
    pad = kernel // 2 if pad is None else pad
    x = net.conv(x, f"{prefix}.conv", outputs, kernel, stride, pad)
    return net.silu(net.batchnorm(x, f"{prefix}.bn", eps=EPS), f"{prefix}.act")


def bottleneck(net, x, prefix, first_kernel, is_sum):
    """Two convolutions, with the sum where asked for."""
    width = net.channels(x)
    y = chain(net, x, f"{prefix}.cv1", width, first_kernel)
    y = chain(net, y, f"{prefix}.cv2", width, 3)
    return net.add(x, y, f"{prefix}.add") if is_sum else y


def spatial_pyramid(net, x, prefix, outputs):
    """Three 5x5 max pools in a row, all four maps concatenated."""
    maps = [chain(net, x, f"{prefix}.cv1", outputs // 2)]
    for i, shift in enumerate(POOL_SHIFTS):
        maps.append(net.maxpool(maps[-1], f"{prefix}.m_{i}", 5, 1, 2, shift=shift))
    return chain(net, net.concat(maps, f"{prefix}.concat"), f"{prefix}.cv2", outputs)


def upsample(net, x, name):
    """Twice the size, nearest neighbour."""
    scales = net.constant(f"{name}.scales", np.array([1, 1, 2, 2], np.float32))
    return net.node("Resize", [x, "", scales], name, net.stats[x], mode="nearest",
                    nearest_mode="floor", coordinate_transformation_mode="asymmetric")


def reshape(net, x, name, shape):
    target = net.constant(f"{name}.shape", np.array(shape, np.int64))
    return net.node("Reshape", [x, target], name)


def cell_grid(size):
    """Returns the column and row of each cell, f32[size,size,2]."""
    rows, columns = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    return np.stack([columns, rows], axis=-1).astype(np.float32)

# SPDX-License-Identifier: Apache-2.0
"""PyTorch primitives for onnx_graph.py, in float32."""

import torch
import torch.nn.functional as F


def pair_pads(pads):
    """torch.nn.functional.pad counts from the last axis."""
    return [side for pair in reversed(pads) for side in pair]


def symmetric(pads):
    return all(a == b for a, b in pads)


class TorchBackend:
    def __init__(self):
        self.constants = {}

    def constant(self, array):
        """The same tensor for the same array, so that a shared weight stays shared."""
        if id(array) not in self.constants:
            self.constants[id(array)] = (array, torch.from_numpy(array.copy()))
        return self.constants[id(array)][1]

    def conv(self, x, w, bias, strides, pads, dilations, groups):
        if symmetric(pads):
            return F.conv2d(x, w, bias, strides, [a for a, _ in pads], dilations, groups)
        return F.conv2d(F.pad(x, pair_pads(pads)), w, bias, strides, 0, dilations, groups)

    def max_pool(self, x, kernel, strides, pads):
        if symmetric(pads):
            return F.max_pool2d(x, kernel, strides, [a for a, _ in pads])
        return F.max_pool2d(F.pad(x, pair_pads(pads), value=float("-inf")), kernel, strides)

    def average_pool(self, x, kernel, strides, pads, include_pad):
        if symmetric(pads):
            return F.avg_pool2d(x, kernel, strides, [a for a, _ in pads], count_include_pad=include_pad)
        total = F.avg_pool2d(F.pad(x, pair_pads(pads)), kernel, strides)
        if include_pad:
            return total
        ones = F.pad(torch.ones(1, 1, *x.shape[2:]), pair_pads(pads))
        return total / F.avg_pool2d(ones, kernel, strides)

    def batch_norm(self, x, scale, bias, mean, variance, epsilon):
        return F.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)

    def clip(self, x, low, high):
        return F.relu(x) if (low, high) == (0.0, None) else torch.clamp(x, low, high)

    def concat(self, xs, axis):
        return torch.cat(xs, axis)

    def divide(self, a, b):
        return a / b

    def exp(self, x):
        return torch.exp(x)

    def matmul(self, a, b):
        return a @ b

    def mean(self, x, axes, keep):
        return x.mean(axes, keepdim=keep)

    def pad(self, x, pads, fill):
        return F.pad(x, pair_pads(pads), value=fill)

    def reshape(self, x, dims):
        return x.reshape(dims)

    def sigmoid(self, x):
        return torch.sigmoid(x)

    def softmax(self, x, axis):
        return torch.softmax(x, axis)

    def take(self, x, indices, axis):
        return torch.index_select(x, axis, torch.from_numpy(indices.copy()))

    def transpose(self, x, axes):
        return x.permute(*axes)

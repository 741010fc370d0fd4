# SPDX-License-Identifier: Apache-2.0
"""NumPy primitives for onnx_graph.py. Data arrays carry values in double; plain arrays are shape arithmetic."""

import numpy as np


class Data(np.ndarray):
    """An array that depends on the input, told apart from constants by its type."""


def as_data(array):
    return np.asarray(array, np.float64).view(Data)


def strided(x, i, j, strides, out, dilations):
    top, left = i * dilations[0], j * dilations[1]
    rows = slice(top, top + (out[0] - 1) * strides[0] + 1, strides[0])
    columns = slice(left, left + (out[1] - 1) * strides[1] + 1, strides[1])
    return x[:, :, rows, columns]


def out_dims(x, kernel, strides, dilations):
    return [(x.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(2)]


class NumpyBackend:
    def constant(self, array):
        return as_data(array) if array.dtype.kind == "f" else array

    def conv(self, x, w, bias, strides, pads, dilations, groups):
        x = self.pad(x, [(0, 0), (0, 0), *pads], 0.0)
        n, out = x.shape[0], out_dims(x, w.shape[2:], strides, dilations)
        filters = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
        total = np.zeros((n, groups, filters.shape[1], out[0] * out[1]))
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                part = strided(x, i, j, strides, out, dilations).reshape(n, groups, w.shape[1], -1)
                total += np.asarray(filters[:, :, :, i, j]) @ np.asarray(part)
        total = total.reshape(n, w.shape[0], *out)
        return as_data(total if bias is None else total + bias.reshape(-1, 1, 1))

    def windows(self, x, kernel, strides, pads, fill):
        x = self.pad(x, [(0, 0), (0, 0), *pads], fill)
        out = out_dims(x, kernel, strides, [1, 1])
        taps = [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]
        return [strided(x, i, j, strides, out, [1, 1]) for i, j in taps]

    def max_pool(self, x, kernel, strides, pads):
        parts = self.windows(x, kernel, strides, pads, -np.inf)
        result = parts[0]
        for part in parts[1:]:
            result = np.maximum(result, part)
        return result

    def average_pool(self, x, kernel, strides, pads, include_pad):
        count = kernel[0] * kernel[1]
        if not include_pad:
            count = sum(self.windows(np.ones_like(x[:1, :1]), kernel, strides, pads, 0.0))
        return sum(self.windows(x, kernel, strides, pads, 0.0)) / count

    def batch_norm(self, x, scale, bias, mean, variance, epsilon):
        shape = (1, -1) + (1,) * (x.ndim - 2)
        factor = scale / np.sqrt(variance + epsilon)
        return (x - mean.reshape(shape)) * factor.reshape(shape) + bias.reshape(shape)

    def clip(self, x, low, high):
        x = x if low is None else np.maximum(x, low)
        return x if high is None else np.minimum(x, high)

    def concat(self, xs, axis):
        return np.concatenate(xs, axis)

    def divide(self, a, b):
        return a / b if a.dtype.kind == "f" else a // b

    def exp(self, x):
        return np.exp(x)

    def matmul(self, a, b):
        return a @ b

    def mean(self, x, axes, keep):
        return x.mean(tuple(axes), keepdims=keep)

    def pad(self, x, pads, fill):
        return np.pad(x, pads, constant_values=fill).view(type(x))

    def reshape(self, x, dims):
        return x.reshape(dims)

    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))

    def softmax(self, x, axis):
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    def take(self, x, indices, axis):
        return np.take(x, indices, axis)

    def transpose(self, x, axes):
        return x.transpose(axes)

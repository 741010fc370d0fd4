# SPDX-License-Identifier: Apache-2.0
"""JAX primitives for onnx_graph.py, in float32."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class JaxBackend:
    def constant(self, array):
        return jnp.asarray(array)

    def conv(self, x, w, bias, strides, pads, dilations, groups):
        result = lax.conv_general_dilated(
            x, w, strides, pads, rhs_dilation=dilations, feature_group_count=groups, dimension_numbers=("NCHW", "OIHW", "NCHW")
        )
        return result if bias is None else result + bias.reshape(1, -1, 1, 1)

    def max_pool(self, x, kernel, strides, pads):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *pads))

    def average_pool(self, x, kernel, strides, pads, include_pad):
        def total(array):
            return lax.reduce_window(array, 0.0, lax.add, (1, 1, *kernel), (1, 1, *strides), ((0, 0), (0, 0), *pads))

        count = kernel[0] * kernel[1] if include_pad else total(np.ones((1, 1, *x.shape[2:]), np.float32))
        return total(x) / count

    def batch_norm(self, x, scale, bias, mean, variance, epsilon):
        shape = (1, -1) + (1,) * (x.ndim - 2)
        factor = scale * lax.rsqrt(variance + epsilon)
        return x * factor.reshape(shape) + (bias - mean * factor).reshape(shape)

    def clip(self, x, low, high):
        return jnp.clip(x, low, high)

    def concat(self, xs, axis):
        return jnp.concatenate(xs, axis)

    def divide(self, a, b):
        return a / b

    def exp(self, x):
        return jnp.exp(x)

    def matmul(self, a, b):
        return a @ b

    def mean(self, x, axes, keep):
        return x.mean(tuple(axes), keepdims=keep)

    def pad(self, x, pads, fill):
        return jnp.pad(x, pads, constant_values=fill)

    def reshape(self, x, dims):
        return jnp.reshape(x, dims)

    def sigmoid(self, x):
        return jax.nn.sigmoid(x)

    def softmax(self, x, axis):
        return jax.nn.softmax(x, axis)

    def take(self, x, indices, axis):
        return jnp.take(x, indices, axis)

    def transpose(self, x, axes):
        return jnp.transpose(x, axes)

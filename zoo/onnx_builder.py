# SPDX-License-Identifier: Apache-2.0
"""A little ONNX graph builder with seeded random weights; numpy and onnx only.

Weights are He-initialised with one refinement: the builder keeps an estimate of every value's mean
and power (the variance around that mean) and scales each filter for the power it reads, so that
activations stay of order 1 through any depth, sum or concatenation. Filters are centred,
as training behind ReLU makes them nearly: a centred filter does not see the mean that ReLU leaves,
and so the outputs keep depending on the input. Every tensor has a generator of its own, seeded by
(seed, name), of numpy's frozen legacy kind: the bytes depend on nothing else.
"""

import math
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8

SILU_POWER = 0.38  # variance of x * sigmoid(x), channels of unequal power, over that of x
SILU_MEAN = 0.21
GAP_POWER = 0.15   # what averaging over the whole map leaves
POOL_POWER = 0.5   # what averaging over a small window leaves
MAX_POWER = 1.7    # what the largest of a small window has
MAX_SHIFT = 2.5    # how far it lies above the mean, in deviations
# E[gamma^2] * E[1/var] for gamma and var uniform in [0.5, 1.5]
BATCHNORM_GAIN = (1.0 + 1.0 / 12.0) * np.log(3.0)


def pair(value):
    """3 -> (3, 3); (1, 7) stays."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def relu_moments(mean, power):
    """Returns the mean and the variance of relu(x) for x ~ N(mean, power)."""
    deviation = math.sqrt(power)
    z = mean / deviation
    above = 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    first = mean * above + deviation * density
    second = (mean * mean + power) * above + mean * deviation * density
    return first, second - first * first


class Net:
    """A graph under construction. Values are strings; layers take and return them."""

    def __init__(self, name, seed):
        self.name = name
        self.seed = seed
        self.nodes = []
        self.initializers = []
        self.inputs = []
        self.outputs = []
        self.channels = {}
        self.power = {}
        self.mean = {}

    # --- the graph ---

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.channels[name] = shape[1]
        self.power[name] = 1.0
        self.mean[name] = 0.0
        return name

    def output(self, value, name, shape, kind=TensorProto.FLOAT):
        """Declares value a graph output and renames it."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, old in enumerate(names):
                    names[i] = name if old == value else old
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def node(self, op, inputs, name, channels=None, power=None, mean=None, **attributes):
        """Adds a node with one output; its estimates default to the first input's."""
        value = f"{name}.out"
        self.nodes.append(helper.make_node(op, inputs, [value], name=name, **attributes))
        self.channels[value] = channels or self.channels.get(inputs[0])
        self.power[value] = power or self.power.get(inputs[0])
        self.mean[value] = self.mean.get(inputs[0]) if mean is None else mean
        return value

    def split(self, x, sizes, name, axis=1):
        """Returns the parts of x along axis."""
        values = [f"{name}.out{i}" for i in range(len(sizes))]
        lengths = self.constant(f"{name}.sizes", np.array(sizes, np.int64))
        self.nodes.append(helper.make_node("Split", [x, lengths], values, name=name, axis=axis))
        for value, size in zip(values, sizes):
            self.channels[value] = size
            self.power[value] = self.power.get(x)
            self.mean[value] = self.mean.get(x)
        return values

    def model(self):
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="onepass-zoo")
        model.ir_version = IR_VERSION
        return model

    # --- random tensors ---

    def random(self, name):
        """Returns the generator of one tensor."""
        return np.random.RandomState(zlib.crc32(f"{self.seed}/{name}".encode()))

    def normal(self, name, shape, deviation, mean=0.0):
        values = self.random(name).standard_normal(shape) * deviation + mean
        return self.constant(name, values.astype(np.float32))

    def uniform(self, name, size, low, high):
        return self.constant(name, self.random(name).uniform(low, high, size).astype(np.float32))

    def filters(self, name, shape, power, centred):
        """Returns He-initialised weights for an input of that power."""
        fan_in = int(np.prod(shape[1:]))
        values = self.random(name).standard_normal(shape)
        if centred:
            values -= values.mean(axis=tuple(range(1, len(shape))), keepdims=True)
        values *= 1.0 / np.sqrt(fan_in * power)
        return self.constant(name, values.astype(np.float32))

    # --- layers with weights ---

    def conv(self, x, name, outputs, kernel, stride=1, pad=0, groups=1, bias=None):
        """Adds a convolution; bias is None for none, else (mean, deviation) of a random one."""
        inputs = self.channels[x]
        shape = (outputs, inputs // groups, *pair(kernel))
        centred = groups == 1 and x != self.inputs[0].name
        operands = [x, self.filters(f"{name}.weight", shape, self.power[x], centred)]
        if bias is not None:
            operands.append(self.normal(f"{name}.bias", outputs, bias[1], bias[0]))
        return self.node(
            "Conv", operands, name, outputs, 1.0, 0.0, dilations=[1, 1], group=groups,
            kernel_shape=pair(kernel), pads=pair(pad) * 2, strides=pair(stride))

    def batchnorm(self, x, name, eps=1e-5, gain=1.0):
        """Adds an unfolded BatchNorm with statistics far from the identity."""
        size = self.channels[x]
        operands = [
            x,
            self.uniform(f"{name}.weight", size, 0.5 * gain, 1.5 * gain),
            self.normal(f"{name}.bias", size, 0.1),
            self.normal(f"{name}.running_mean", size, 0.1, self.mean[x]),
            self.uniform(f"{name}.running_var", size, 0.5, 1.5),
        ]
        power = gain * gain * BATCHNORM_GAIN * (self.power[x] + 0.01) + 0.01
        return self.node("BatchNormalization", operands, name, None, power, 0.0,
                         epsilon=eps, momentum=0.9, training_mode=0)

    def gemm(self, x, name, outputs):
        """Adds a fully connected layer with bias."""
        weight = self.filters(f"{name}.weight", (outputs, self.channels[x]), self.power[x], True)
        bias = self.normal(f"{name}.bias", outputs, 0.1)
        return self.node("Gemm", [x, weight, bias], name, outputs, 1.0, 0.0, transB=1)

    # --- layers without ---

    def relu(self, x, name):
        mean, power = relu_moments(self.mean[x], self.power[x])
        return self.node("Relu", [x], name, None, power, mean)

    def relu6(self, x, name):
        low = self.constant(f"{name}.min", np.float32(0))
        high = self.constant(f"{name}.max", np.float32(6))
        mean, power = relu_moments(self.mean[x], self.power[x])
        return self.node("Clip", [x, low, high], name, None, power, mean)

    def silu(self, x, name):
        gate = self.node("Sigmoid", [x], f"{name}.sigmoid")
        return self.node("Mul", [x, gate], f"{name}.mul", None,
                         self.power[x] * SILU_POWER, math.sqrt(self.power[x]) * SILU_MEAN)

    def add(self, a, b, name):
        return self.node("Add", [a, b], name, None,
                         self.power[a] + self.power[b], self.mean[a] + self.mean[b])

    def concat(self, values, name):
        """Concatenates along the channels."""
        sizes = [self.channels[v] for v in values]
        means = np.array([self.mean[v] for v in values])
        powers = np.array([self.power[v] for v in values])
        mean = np.average(means, weights=sizes)
        power = np.average(powers + (means - mean) ** 2, weights=sizes)
        return self.node("Concat", values, name, sum(sizes), power, mean, axis=1)

    def maxpool(self, x, name, kernel, stride, pad=0, ceil=False):
        mean = self.mean[x] + MAX_SHIFT * math.sqrt(self.power[x])
        return self.node("MaxPool", [x], name, None, self.power[x] * MAX_POWER, mean,
                         ceil_mode=int(ceil), kernel_shape=pair(kernel), pads=pair(pad) * 2,
                         strides=pair(stride))

    def avgpool(self, x, name, kernel, stride, pad=0):
        return self.node("AveragePool", [x], name, None, self.power[x] * POOL_POWER,
                         count_include_pad=1, kernel_shape=pair(kernel), pads=pair(pad) * 2,
                         strides=pair(stride))

    def global_avgpool(self, x, name):
        return self.node("GlobalAveragePool", [x], name, None, self.power[x] * GAP_POWER)

    def flatten(self, x, name):
        return self.node("Flatten", [x], name, axis=1)


def classifier_tail(net, x, pool, linear):
    """Global average pool, flatten, fully connected layer: the output `logits` f32[1,1000]."""
    x = net.flatten(net.global_avgpool(x, pool), "flatten")
    net.output(net.gemm(x, linear, 1000), "logits", [1, 1000])


def image_input(net, size):
    """Declares the input `image` f32[1,3,size,size]."""
    return net.input("image", [1, 3, size, size])

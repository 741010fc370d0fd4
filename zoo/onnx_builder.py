# SPDX-License-Identifier: Apache-2.0
"""A little ONNX graph builder with seeded random weights; numpy and onnx only.

Weights are He-initialised for the variance that the layer really reads: beside every value the
builder keeps the mean and the variance that each channel is expected to have. BatchNorm statistics
are these, disturbed, as training would have left them. Each filter over many channels sums to zero:
it does not see a mean that all its channels share, so an error in the expectation does not grow. So
activations stay of order 1 through any depth, sum or concatenation, and the outputs depend on the
input.

Every tensor has a generator of its own, seeded by (seed, name), of numpy's frozen legacy kind.
"""

import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8

SMALLEST_VARIANCE = 1e-3
MAX_SHIFT = 1.5     # how far a pooled maximum lies above the mean, in deviations
POOL_SHARE = 0.5    # of the variance that averaging over a small window leaves
GLOBAL_SHARE = 0.1  # the same over the whole map

# Points and weights to integrate over a normal distribution.
POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def pair(value):
    """3 -> (3, 3); (1, 7) stays."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


class Stats:
    """The expected mean and variance of each channel of a value.

    Rounded, so that the last bits of exp and of sums, which differ between CPUs, do not matter.
    """

    def __init__(self, mean, variance):
        self.mean = np.round(np.asarray(mean, np.float64), 9)
        self.variance = np.round(np.maximum(variance, SMALLEST_VARIANCE), 9)

    def __len__(self):
        return len(self.mean)

    def through(self, function):
        """Returns the stats behind an elementwise function, taking each channel as normal."""
        deviation = np.sqrt(self.variance)
        values = function(self.mean[:, None] + deviation[:, None] * POINTS)
        mean = (values * WEIGHTS).sum(axis=1)
        return Stats(mean, (values * values * WEIGHTS).sum(axis=1) - mean * mean)

    def through_weights(self, weights, groups):
        """Returns the stats behind a convolution with weights [out, in/groups, kh, kw]."""
        outputs, inputs = weights.shape[:2]
        shape = (groups, outputs // groups, inputs, -1)
        sums = weights.reshape(shape).sum(axis=3, dtype=np.float64)
        squares = np.square(weights.reshape(shape)).sum(axis=3, dtype=np.float64)
        sums *= self.mean.reshape(groups, 1, inputs)
        squares *= self.variance.reshape(groups, 1, inputs)
        return Stats(sums.sum(axis=2).ravel(), squares.sum(axis=2).ravel())


class Net:
    """A graph under construction. Values are strings; layers take and return them."""

    def __init__(self, name, seed):
        self.name = name
        self.seed = seed
        self.nodes = []
        self.initializers = []
        self.inputs = []
        self.outputs = []
        self.stats = {}  # of feature maps only

    # --- the graph ---

    def input(self, name, shape, mean=0.0, variance=1.0):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.stats[name] = Stats(np.full(shape[1], mean), np.full(shape[1], variance))
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

    def node(self, op, inputs, name, stats=None, **attributes):
        """Adds a node with one output."""
        value = f"{name}.out"
        self.nodes.append(helper.make_node(op, inputs, [value], name=name, **attributes))
        if stats is not None:
            self.stats[value] = stats
        return value

    def split(self, x, sizes, name, axis=1):
        """Returns the parts of x along axis."""
        values = [f"{name}.out{i}" for i in range(len(sizes))]
        lengths = self.constant(f"{name}.sizes", np.array(sizes, np.int64))
        self.nodes.append(helper.make_node("Split", [x, lengths], values, name=name, axis=axis))
        if x in self.stats and axis == 1:
            cuts = np.cumsum(sizes)[:-1]
            means = np.split(self.stats[x].mean, cuts)
            variances = np.split(self.stats[x].variance, cuts)
            self.stats.update(zip(values, map(Stats, means, variances)))
        return values

    def channels(self, x):
        return len(self.stats[x])

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

    def normal(self, name, mean, deviation, size):
        values = mean + deviation * self.random(name).standard_normal(size)
        return values.astype(np.float32)

    def uniform(self, name, low, high, size):
        return self.random(name).uniform(low, high, size).astype(np.float32)

    def filters(self, name, shape, x, is_centred):
        """Returns weights that give a variance of about 1."""
        fan_in = int(np.prod(shape[1:]))
        values = self.random(name).standard_normal(shape)
        if is_centred:
            values -= values.mean(axis=tuple(range(1, len(shape))), keepdims=True)
        return (values / np.sqrt(fan_in * self.stats[x].variance.mean())).astype(np.float32)

    # --- layers with weights ---

    def weighted(self, x, name, shape, groups, bias):
        """Adds weights and, unless bias is None, a bias that puts the mean of each output at bias.

        Returns the names of the operands and the stats of the output.
        """
        is_centred = groups == 1 and x != self.inputs[0].name
        weights = self.filters(f"{name}.weight", shape, x, is_centred)
        operands = [x, self.constant(f"{name}.weight", weights)]
        stats = self.stats[x].through_weights(weights, groups)
        if bias is not None:
            values = self.normal(f"{name}.bias", bias - stats.mean, 0.1, shape[0])
            operands.append(self.constant(f"{name}.bias", values))
            stats = Stats(stats.mean + values, stats.variance)
        return operands, stats

    def conv(self, x, name, outputs, kernel, stride=1, pad=0, groups=1, bias=None):
        """Adds a convolution; bias is None or the mean that its outputs shall have."""
        shape = (outputs, self.channels(x) // groups, *pair(kernel))
        operands, stats = self.weighted(x, name, shape, groups, bias)
        return self.node(
            "Conv", operands, name, stats, dilations=[1, 1], group=groups,
            kernel_shape=pair(kernel), pads=pair(pad) * 2, strides=pair(stride))

    def gemm(self, x, name, outputs):
        """Adds a fully connected layer with bias."""
        operands, stats = self.weighted(x, name, (outputs, self.channels(x)), 1, 0.0)
        return self.node("Gemm", operands, name, stats, transB=1)

    def batchnorm(self, x, name, eps=1e-5, gain=1.0):
        """Adds an unfolded BatchNorm with statistics far from the identity."""
        before, size = self.stats[x], self.channels(x)
        gamma = self.uniform(f"{name}.weight", 0.5 * gain, 1.5 * gain, size)
        beta = self.normal(f"{name}.bias", 0.0, 0.1, size)
        mean = self.normal(f"{name}.running_mean", before.mean, 0.1, size)
        spread = self.uniform(f"{name}.running_var", 0.5, 1.5, size)
        variance = (before.variance * spread).astype(np.float32)
        factor = gamma / np.sqrt(variance + eps)
        stats = Stats((before.mean - mean) * factor + beta, before.variance * factor * factor)
        tensors = {"weight": gamma, "bias": beta, "running_mean": mean, "running_var": variance}
        operands = [x] + [self.constant(f"{name}.{k}", v) for k, v in tensors.items()]
        return self.node("BatchNormalization", operands, name, stats,
                         epsilon=eps, momentum=0.9, training_mode=0)

    # --- layers without ---

    def relu(self, x, name):
        return self.node("Relu", [x], name, self.stats[x].through(lambda v: np.maximum(v, 0)))

    def relu6(self, x, name):
        low = self.constant(f"{name}.min", np.float32(0))
        high = self.constant(f"{name}.max", np.float32(6))
        stats = self.stats[x].through(lambda v: np.clip(v, 0, 6))
        return self.node("Clip", [x, low, high], name, stats)

    def silu(self, x, name):
        gate = self.node("Sigmoid", [x], f"{name}.sigmoid")
        stats = self.stats[x].through(lambda v: v / (1 + np.exp(-v)))
        return self.node("Mul", [x, gate], f"{name}.mul", stats)

    def add(self, a, b, name):
        first, second = self.stats[a], self.stats[b]
        stats = Stats(first.mean + second.mean, first.variance + second.variance)
        return self.node("Add", [a, b], name, stats)

    def concat(self, values, name):
        """Concatenates along the channels."""
        stats = Stats(np.concatenate([self.stats[v].mean for v in values]),
                      np.concatenate([self.stats[v].variance for v in values]))
        return self.node("Concat", values, name, stats, axis=1)

    def maxpool(self, x, name, kernel, stride, pad=0, ceil=False, shift=MAX_SHIFT):
        before = self.stats[x]
        stats = Stats(before.mean + shift * np.sqrt(before.variance), before.variance)
        return self.node("MaxPool", [x], name, stats, ceil_mode=int(ceil),
                         kernel_shape=pair(kernel), pads=pair(pad) * 2, strides=pair(stride))

    def avgpool(self, x, name, kernel, stride, pad=0):
        stats = Stats(self.stats[x].mean, self.stats[x].variance * POOL_SHARE)
        return self.node("AveragePool", [x], name, stats, count_include_pad=1,
                         kernel_shape=pair(kernel), pads=pair(pad) * 2, strides=pair(stride))

    def global_avgpool(self, x, name):
        stats = Stats(self.stats[x].mean, self.stats[x].variance * GLOBAL_SHARE)
        return self.node("GlobalAveragePool", [x], name, stats)

    def flatten(self, x, name, positions=1):
        """Flattens all but the batch; positions is height times width."""
        before = self.stats[x]
        stats = Stats(before.mean.repeat(positions), before.variance.repeat(positions))
        return self.node("Flatten", [x], name, stats, axis=1)


def classifier_tail(net, x, pool, linear):
    """Global average pool, flatten, fully connected layer: the output `logits` f32[1,1000]."""
    x = net.flatten(net.global_avgpool(x, pool), "flatten")
    net.output(net.gemm(x, linear, 1000), "logits", [1, 1000])


def image_input(net, size, mean=0.0, variance=1.0):
    """Declares the input `image` f32[1,3,size,size]."""
    return net.input("image", [1, 3, size, size], mean, variance)

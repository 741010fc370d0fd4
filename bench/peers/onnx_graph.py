# SPDX-License-Identifier: Apache-2.0
"""Evaluates an ONNX graph over a small set of primitives ("backend"), operator by operator.

With the NumPy backend in double it is the referee of the comparison; with the JAX and PyTorch backends it translates
the network for those peers. Values that do not depend on the input stay NumPy arrays (shape arithmetic), so a backend
sees static shapes only. It covers the operators of the benchmark's models; any other raises Unsupported.
"""

import math

import numpy as np
import onnx
from backend_numpy import NumpyBackend
from onnx import numpy_helper


class Unsupported(Exception):
    pass


class Graph:
    def __init__(self, path):
        model = onnx.load(path)
        self.opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        self.nodes = list(model.graph.node)
        self.initializers = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.inputs = [v for v in model.graph.input if v.name not in self.initializers]
        self.outputs = [v.name for v in model.graph.output]


class Context:
    """One node during evaluation: its attributes, the opset and the backend that computes it."""

    def __init__(self, node, opset, backend):
        self.attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        self.outputs, self.opset, self.backend = len(node.output), opset, backend

    def attribute(self, name, default=None):
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def integers(self, name, argument):
        """A list that is an attribute in old opsets and an input in new ones."""
        if argument is not None:
            return [int(v) for v in np.asarray(argument).ravel()]
        return self.attributes.get(name)


def pads_of(c, spatial, kernel, strides, dilations):
    mode = c.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", "VALID"):
        pads = c.attribute("pads", [0] * 4) if mode == "NOTSET" else [0] * 4
        return [(pads[i], pads[i + 2]) for i in range(2)]
    result = []
    for size, k, s, d in zip(spatial, kernel, strides, dilations):
        total = max((math.ceil(size / s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small = total // 2
        result.append((small, total - small) if mode == "SAME_UPPER" else (total - small, small))
    return result


def conv(c, x, w, bias=None):
    strides, dilations = c.attribute("strides", [1, 1]), c.attribute("dilations", [1, 1])
    if len(x.shape) != 4:
        raise Unsupported(f"Conv of rank {len(x.shape)}")
    pads = pads_of(c, x.shape[2:], w.shape[2:], strides, dilations)
    return c.backend.conv(x, w, bias, strides, pads, dilations, c.attribute("group", 1))


def window(c, x):
    kernel, strides = c.attribute("kernel_shape"), c.attribute("strides", [1, 1])
    pads = pads_of(c, x.shape[2:], kernel, strides, [1, 1])
    extra = [0, 0]
    if c.attribute("ceil_mode", 0):
        for i in range(2):
            size = x.shape[2 + i] + sum(pads[i])
            count = math.ceil((size - kernel[i]) / strides[i]) + 1
            count -= (count - 1) * strides[i] >= x.shape[2 + i] + pads[i][0]
            extra[i] = max((count - 1) * strides[i] + kernel[i] - size, 0)
    return kernel, strides, pads, extra


def max_pool(c, x):
    kernel, strides, pads, extra = window(c, x)
    return c.backend.max_pool(x, kernel, strides, [(a, b + e) for (a, b), e in zip(pads, extra)])


def average_pool(c, x):
    kernel, strides, pads, extra = window(c, x)
    if c.attribute("count_include_pad", 0) and any(extra):
        raise Unsupported("AveragePool that counts pads, with ceil_mode")
    grown = [(a, b + e) for (a, b), e in zip(pads, extra)]
    return c.backend.average_pool(x, kernel, strides, grown, bool(c.attribute("count_include_pad", 0)))


def batch_normalization(c, x, scale, bias, mean, variance):
    return c.backend.batch_norm(x, scale, bias, mean, variance, c.attribute("epsilon", 1e-5))


def clip(c, x, low=None, high=None):
    low = c.attribute("min") if low is None else float(low)
    high = c.attribute("max") if high is None else float(high)
    return c.backend.clip(x, low, high)


def gemm(c, a, b, bias=None):
    a = c.backend.transpose(a, [1, 0]) if c.attribute("transA", 0) else a
    b = c.backend.transpose(b, [1, 0]) if c.attribute("transB", 0) else b
    product = c.backend.matmul(a, b) * c.attribute("alpha", 1.0)
    return product if bias is None else product + bias * c.attribute("beta", 1.0)


def flatten(c, x):
    axis = c.attribute("axis", 1)
    return c.backend.reshape(x, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


def reshape(c, x, shape):
    dims = [x.shape[i] if d == 0 and not c.attribute("allowzero", 0) else int(d) for i, d in enumerate(shape)]
    if -1 in dims:
        dims[dims.index(-1)] = math.prod(x.shape) // max(math.prod(d for d in dims if d != -1), 1)
    return c.backend.reshape(x, dims)


def unsqueeze(c, x, axes=None):
    axes = c.integers("axes", axes)
    rank = len(x.shape) + len(axes)
    dims, rest = [], iter(x.shape)
    for i in range(rank):
        dims.append(1 if i in [a % rank for a in axes] else next(rest))
    return c.backend.reshape(x, dims)


def squeeze(c, x, axes=None):
    axes = c.integers("axes", axes)
    rank = len(x.shape)
    drop = [a % rank for a in axes] if axes else [i for i in range(rank) if x.shape[i] == 1]
    return c.backend.reshape(x, [d for i, d in enumerate(x.shape) if i not in drop])


def slice_(c, x, starts=None, ends=None, axes=None, steps=None):
    starts, ends = c.integers("starts", starts), c.integers("ends", ends)
    axes = c.integers("axes", axes) or range(len(starts))
    steps = c.integers("steps", steps) or [1] * len(starts)
    if min(steps) < 1:
        raise Unsupported("Slice with a negative step")
    index = [slice(None)] * len(x.shape)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        index[axis] = slice(*slice(start, end, step).indices(x.shape[axis]))
    return x[tuple(index)]


def split(c, x, sizes=None):
    axis = c.attribute("axis", 0) % len(x.shape)
    sizes = c.integers("split", sizes) or [math.ceil(x.shape[axis] / c.outputs)] * c.outputs
    results, start = [], 0
    for size in sizes:
        results.append(x[(slice(None),) * axis + (slice(start, start + size),)])
        start += size
    return tuple(results)


def gather(c, x, indices):
    axis = c.attribute("axis", 0) % len(x.shape)
    if not is_static(indices):
        raise Unsupported("Gather with computed indices")
    taken = c.backend.take(x, np.ravel(indices), axis)
    return c.backend.reshape(taken, list(x.shape[:axis]) + list(indices.shape) + list(x.shape[axis + 1 :]))


def pad(c, x, pads=None, value=None, axes=None):
    pads = c.integers("pads", pads)
    if axes is not None or c.attribute("mode", "constant") != "constant":
        raise Unsupported("Pad with axes or a mode other than constant")
    rank = len(x.shape)
    fill = float(np.asarray(value).ravel()[0]) if value is not None and np.size(value) else 0.0
    return c.backend.pad(x, [(pads[i], pads[i + rank]) for i in range(rank)], fill)


def softmax(c, x):
    axis = c.attribute("axis", -1 if c.opset >= 13 else 1) % len(x.shape)
    if c.opset >= 13 or axis == len(x.shape) - 1:
        return c.backend.softmax(x, axis)
    rows = [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])]
    return c.backend.reshape(c.backend.softmax(c.backend.reshape(x, rows), 1), list(x.shape))


def source_positions(c, size, new, scale):
    """Source coordinate of each output element along one axis."""
    mode = c.attribute("coordinate_transformation_mode", "half_pixel")
    i = np.arange(new, dtype=np.float64)
    if mode == "asymmetric":
        return i / scale
    if mode == "align_corners":
        return i * (size - 1) / (new - 1) if new > 1 else i * 0
    if mode == "pytorch_half_pixel" and new == 1:
        return i * 0
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (i + 0.5) / scale - 0.5
    raise Unsupported(f"Resize with {mode}")


def nearest(c, positions, size):
    mode = c.attribute("nearest_mode", "round_prefer_floor")
    rounders = {
        "round_prefer_floor": lambda p: np.ceil(p - 0.5),
        "round_prefer_ceil": lambda p: np.floor(p + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    return np.clip(rounders[mode](positions), 0, size - 1).astype(np.int64)


def linear(c, x, positions, axis):
    size = x.shape[axis]
    positions = np.clip(positions, 0, size - 1)
    low = np.floor(positions).astype(np.int64)
    shape = [1] * len(x.shape)
    shape[axis] = -1
    weight = c.backend.constant((positions - low).astype(np.float32).reshape(shape))
    below = c.backend.take(x, low, axis)
    above = c.backend.take(x, np.minimum(low + 1, size - 1), axis)
    return below + (above - below) * weight


def resize(c, x, roi=None, scales=None, sizes=None):
    if sizes is None:
        sizes = [math.floor(d * float(s)) for d, s in zip(x.shape, scales)]
    for axis, new in enumerate(int(s) for s in sizes):
        size = x.shape[axis]
        if new == size:
            continue
        scale = float(scales[axis]) if scales is not None and np.size(scales) else new / size
        positions = source_positions(c, size, new, scale)
        if c.attribute("mode", "nearest") == "nearest":
            x = c.backend.take(x, nearest(c, positions, size), axis)
        elif c.attribute("mode") == "linear":
            x = linear(c, x, positions, axis)
        else:
            raise Unsupported("Resize with mode cubic")
    return x


def constant(c):
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if name in c.attributes:
            value = c.attributes[name]
            return numpy_helper.to_array(value) if name == "value" else np.asarray(value)
    raise Unsupported("Constant without a number")


def constant_of_shape(c, shape):
    value = c.attributes.get("value")
    fill = numpy_helper.to_array(value) if value is not None else np.zeros(1, np.float32)
    return np.full([int(d) for d in shape], fill[0])


def reduce_mean(c, x, axes=None):
    axes = c.integers("axes", axes) or list(range(len(x.shape)))
    return c.backend.mean(x, [a % len(x.shape) for a in axes], bool(c.attribute("keepdims", 1)))


def shape_of(c, x):
    return np.asarray(x.shape, np.int64)


OPERATORS = {
    "Add": lambda c, a, b: a + b,
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Cast": lambda c, x: x.astype(onnx.helper.tensor_dtype_to_np_dtype(c.attribute("to"))),
    "Clip": clip,
    "Concat": lambda c, *xs: c.backend.concat(xs, c.attribute("axis")),
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Conv": conv,
    "Div": lambda c, a, b: c.backend.divide(a, b),
    "Dropout": lambda c, x, *rest: x,
    "Exp": lambda c, x: c.backend.exp(x),
    "Flatten": flatten,
    "Gather": gather,
    "Gemm": gemm,
    "GlobalAveragePool": lambda c, x: c.backend.mean(x, [2, 3], True),
    "HardSigmoid": lambda c, x: c.backend.clip(x * c.attribute("alpha", 0.2) + c.attribute("beta", 0.5), 0.0, 1.0),
    "HardSwish": lambda c, x: x * c.backend.clip(x / 6.0 + 0.5, 0.0, 1.0),
    "Identity": lambda c, x: x,
    "MatMul": lambda c, a, b: c.backend.matmul(a, b),
    "MaxPool": max_pool,
    "Mul": lambda c, a, b: a * b,
    "Pad": pad,
    "Pow": lambda c, a, b: a**b,
    "ReduceMean": reduce_mean,
    "Relu": lambda c, x: c.backend.clip(x, 0.0, None),
    "Reshape": reshape,
    "Resize": resize,
    "Shape": shape_of,
    "Sigmoid": lambda c, x: c.backend.sigmoid(x),
    "Slice": slice_,
    "Softmax": softmax,
    "Split": split,
    "Squeeze": squeeze,
    "Sub": lambda c, a, b: a - b,
    "Transpose": lambda c, x: c.backend.transpose(x, c.attribute("perm", list(range(len(x.shape)))[::-1])),
    "Unsqueeze": unsqueeze,
}
STATIC = NumpyBackend()
# Operands that are parameters, not data: handed over as NumPy arrays.
PARAMETERS = {"Reshape": [1], "Slice": [1, 2, 3, 4], "Split": [1], "Unsqueeze": [1], "Squeeze": [1], "Gather": [1]}
PARAMETERS |= {"Resize": [1, 2, 3], "Pad": [1, 2, 3], "Clip": [1, 2], "ReduceMean": [1]}


def is_static(value):
    return type(value) is np.ndarray


def evaluate_node(node, values, opset, backend):
    if node.op_type not in OPERATORS:
        raise Unsupported(f"operator {node.op_type}")
    arguments = [values[name] if name else None for name in node.input]
    known = all(a is None or is_static(a) for a in arguments)
    if not known:
        kept = PARAMETERS.get(node.op_type, [])
        arguments = [backend.constant(a) if is_static(a) and i not in kept else a for i, a in enumerate(arguments)]
    result = OPERATORS[node.op_type](Context(node, opset, STATIC if known else backend), *arguments)
    results = result if isinstance(result, tuple) else (result,)
    values.update(zip(node.output, map(np.asarray, results) if known else results))


def evaluate(graph, inputs, backend, partial=False):
    """Outputs by name. With partial, what an unsupported operator feeds is left out instead of raising."""
    values = dict(graph.initializers)
    values.update(inputs)
    for node in graph.nodes:
        if partial and (node.op_type not in OPERATORS or any(n and n not in values for n in node.input)):
            continue
        evaluate_node(node, values, graph.opset, backend)
    return {name: values[name] for name in graph.outputs if name in values}

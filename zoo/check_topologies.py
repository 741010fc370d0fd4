# SPDX-License-Identifier: Apache-2.0
"""Checks the files that topologies.py wrote: ONNX checker, shapes, one run, MACs.

    python3 zoo/check_topologies.py build/topologies/*.onnx

Prints one table row per file and exits with 1 if a file fails. Needs onnxruntime as well.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

# 10^9 multiply-adds of convolutions and fully connected layers, as published (torchvision lists
# 1.814, 4.089, 0.301, 15.47, 0.349, 2.834, 5.713) or counted from the layer lists.
EXPECTED_GMACS = {
    "resnet18": 1.814, "resnet50": 4.089, "mobilenet_v2": 0.301, "vgg16_bn": 15.47,
    "squeezenet1_1": 0.349, "densenet121": 2.834, "inception_v3": 5.713,
    "yolo_silu": 4.371, "yolo_nms": 2.234 / 4,
}
TOLERANCE = 0.01


def shapes_of(model):
    """Returns the static shape of every value that has one."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    graph = inferred.graph
    shapes = {t.name: tuple(t.dims) for t in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        dims = value.type.tensor_type.shape.dim
        shapes[value.name] = tuple(d.dim_value if d.HasField("dim_value") else None for d in dims)
    return shapes


def check_shapes(model, shapes):
    """Raises where inference left a value open that NonMaxSuppression does not explain."""
    open_values = [out for node in model.graph.node for out in node.output
                   if out not in shapes or None in shapes[out]]
    if not has_nms(model) and open_values:
        raise RuntimeError(f"no static shape: {open_values[:5]}")


def has_nms(model):
    return any(node.op_type == "NonMaxSuppression" for node in model.graph.node)


def macs_of(model, shapes):
    """Counts the multiply-adds of Conv and Gemm."""
    total = 0
    for node in model.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            weight = shapes[node.input[1]]
            per_output = int(np.prod(weight[1:]))  # Gemm weights are stored transposed: [out, in]
            total += per_output * int(np.prod(shapes[node.output[0]]))
    return total


def random_frame(name, shape):
    """Returns a seeded frame: 0..1 for detectors, normal for classifiers."""
    random = np.random.RandomState(7)
    frame = random.uniform(0, 1, shape) if name.startswith("yolo") else random.normal(0, 1, shape)
    return frame.astype(np.float32)


def run_once(path):
    """Returns {output: array} for one frame; raises on values that are not finite."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    source = session.get_inputs()[0]
    frame = random_frame(path.stem, source.shape)
    names = [o.name for o in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, {source.name: frame})))
    for name, array in outputs.items():
        if not np.all(np.isfinite(array)) or array.size == 0:
            raise RuntimeError(f"output {name}: empty or not finite")
    return outputs


def describe(outputs):
    parts = [f"{name}{list(a.shape)} std {a.std():.2f}" for name, a in outputs.items()]
    return "; ".join(parts)


def check(path):
    """Returns the table row of one file; raises when something is wrong."""
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(path)
    names = [node.name for node in model.graph.node]
    if len(set(names)) != len(names):
        raise RuntimeError("node names are not unique")
    shapes = shapes_of(model)
    check_shapes(model, shapes)
    gmacs = macs_of(model, shapes) / 1e9
    expected = EXPECTED_GMACS[path.stem]
    if abs(gmacs / expected - 1) > TOLERANCE:
        raise RuntimeError(f"{gmacs:.3f} GMAC, expected {expected:.3f}")
    ops = Counter(node.op_type for node in model.graph.node)
    return (f"| {path.stem} | {len(names)} | {ops['Conv']} | {ops['BatchNormalization']} "
            f"| {gmacs:.3f} | {path.stat().st_size / 1e6:.1f} | {describe(run_once(path))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    failed = 0
    print("| topology | nodes | Conv | BatchNorm | GMAC | MB | outputs for one random frame |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for path in parser.parse_args().files:
        try:
            print(check(path), flush=True)
        except Exception as error:  # report every file, then fail
            print(f"{path}: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

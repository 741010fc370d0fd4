# SPDX-License-Identifier: Apache-2.0
"""Exports the demo network to ONNX with BatchNorm unfolded and readable names."""

import copy
import warnings

import onnx
import torch
from onnx import numpy_helper
from torch.onnx import TrainingMode

OPSET = 17


def export(net, path, training):
    """Writes net as ONNX; training=True gives the export made in training mode by mistake."""
    net = copy.deepcopy(net).train(training)  # tracing in training mode moves the statistics
    mode = TrainingMode.TRAINING if training else TrainingMode.PRESERVE  # EVAL would fold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            net, (torch.zeros(1, 1, 28, 28),), path, dynamo=False, opset_version=OPSET,
            training=mode, do_constant_folding=False,
            input_names=["image"], output_names=["logits"])
    model = onnx.load(path)
    undo_sharing(model.graph)
    use_readable_names(model.graph)
    check_batchnorms(model.graph, training)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def restore_statistics(path, net):
    """Puts net's running statistics back: tracing in training mode has moved the file's."""
    model = onnx.load(path)
    state = net.state_dict()
    for tensor in model.graph.initializer:
        if ".running_" in tensor.name:
            value = state[tensor.name].detach().cpu().numpy()
            tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
    onnx.save(model, path)


def undo_sharing(graph):
    """Gives each parameter its own tensor: the exporter shares equal ones through Identity.

    The biases of the two BatchNorms before a sum are equal: same start, same gradient.
    """
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in [n for n in graph.node if n.op_type == "Identity" and n.input[0] in tensors]:
        copied = graph.initializer.add()
        copied.CopyFrom(tensors[node.input[0]])
        copied.name = node.output[0]
        graph.node.remove(node)


def use_readable_names(graph):
    """Names each node after its module (block1.conv1) and each value after its node."""
    fixed = {v.name for v in (*graph.input, *graph.output, *graph.initializer)}
    renamed = {}
    for node in graph.node:
        node.name = readable(node.name, node.op_type)
        node.doc_string = ""
        for i, name in enumerate(node.output):
            if name not in fixed:
                renamed[name] = f"{node.name}.out" if i == 0 else f"{node.name}.out{i}"
    for node in graph.node:
        rename_in_place(node.input, renamed)
        rename_in_place(node.output, renamed)
    del graph.value_info[:]
    graph.name = "fashion_resnet"


def readable(name, op_type):
    """'/block1/conv1/Conv' -> 'block1.conv1'; a sum has no module: -> 'block1.add'."""
    *modules, _ = name.strip("/").split("/")
    return ".".join(modules + ["add"] if op_type == "Add" else modules)


def rename_in_place(names, renamed):
    for i, name in enumerate(names):
        names[i] = renamed.get(name, name)


def check_batchnorms(graph, training):
    """Raises unless every BatchNorm is there, in the mode asked for."""
    nodes = [n for n in graph.node if n.op_type == "BatchNormalization"]
    modes = {a.i for n in nodes for a in n.attribute if a.name == "training_mode"} or {0}
    if not nodes or modes != {int(training)}:
        raise RuntimeError(f"{len(nodes)} BatchNorms with training_mode {sorted(modes)}")
    names = [n.name for n in graph.node]
    if len(set(names)) != len(names) or not all(names):
        raise RuntimeError(f"node names are not unique: {names}")

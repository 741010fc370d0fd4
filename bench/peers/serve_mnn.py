# SPDX-License-Identifier: Apache-2.0
"""MNN, CPU backend, precision high (fp32)."""

import importlib.metadata
import pathlib
import subprocess
import sys

import MNN
import numpy as np
from line_protocol import Subject, serve


def convert(arguments):
    target = pathlib.Path(arguments.work) / "model.mnn"
    program = str(pathlib.Path(sys.executable).parent / "mnnconvert")
    command = [program, "-f", "ONNX", "--modelFile", arguments.model, "--MNNModel", str(target), "--bizCode", "bench"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return target


def bind_inputs(interpreter, session, arrays):
    tensors = interpreter.getSessionInputAll(session)
    for name, array in arrays.items():
        interpreter.resizeTensor(tensors[name], tuple(array.shape))
    interpreter.resizeSession(session)
    for name, array in arrays.items():
        host = MNN.Tensor(tuple(array.shape), MNN.Halide_Type_Float, array, MNN.Tensor_DimensionType_Caffe)
        tensors[name].copyFrom(host)


def read(tensor):
    shape = tuple(tensor.getShape())
    host = MNN.Tensor(shape, tensor.getDataType(), np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
    tensor.copyToHostTensor(host)
    return np.array(host.getNumpyData()).reshape(shape)


def load(arguments):
    interpreter = MNN.Interpreter(str(convert(arguments)))
    config = {"backend": "CPU", "precision": "high", "numThread": arguments.threads}
    session = interpreter.createSession(config)
    bind_inputs(interpreter, session, arguments.inputs)
    return Subject(
        run=lambda: interpreter.runSession(session),
        outputs=lambda: [read(interpreter.getSessionOutput(session, name)) for name in arguments.output],
        version=importlib.metadata.version("MNN"),
        settings=config,
    )


serve(load)

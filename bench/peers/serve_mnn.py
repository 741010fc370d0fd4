# SPDX-License-Identifier: Apache-2.0
"""MNN, CPU backend, precision high (fp32), through its Module interface.

A session would not do: it reuses the memory of its input, so a second run computes something else. The converter is
called below its command line, which would install and load a package that reports usage.
"""

import importlib.metadata
import pathlib
import subprocess
import sys

import MNN.expr as expr
import MNN.nn as nn
import numpy as np
from line_protocol import Subject, serve


CONVERTER = "import MNN, _tools, sys; _tools.mnnconvert(sys.argv)"


def convert(arguments):
    target = pathlib.Path(arguments.work) / "model.mnn"
    options = ["-f", "ONNX", "--modelFile", arguments.model, "--MNNModel", str(target), "--bizCode", "bench"]
    subprocess.run([sys.executable, "-c", CONVERTER, *options], check=True, stdout=sys.stderr)
    return target


def load(arguments):
    config = {"backend": "CPU", "precision": "high", "numThread": arguments.threads}
    manager = nn.create_runtime_manager((config,))
    names = list(arguments.inputs)
    module = nn.load_module_from_file(str(convert(arguments)), names, arguments.output, runtime_manager=manager)
    values = [expr.const(array, list(array.shape), expr.NCHW) for array in arguments.inputs.values()]
    last = []

    def run():
        last[:] = [np.array(value.read()) for value in module.forward(values)]

    return Subject(run=run, outputs=lambda: last, version=importlib.metadata.version("MNN"), settings=config)


serve(load)

# SPDX-License-Identifier: Apache-2.0
"""IREE: imported from ONNX, compiled by iree-compile for the host CPU at O3, run by its own runtime.

Data tiling and convolutions as matrix products make it fastest, but it refuses the pair of them for some networks; then
it gets the first of the lesser choices that it compiles.
"""

import importlib.metadata
import pathlib
import subprocess
import sys

import iree.runtime as runtime
import numpy as np
import onnx
from line_protocol import Subject, serve

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
]
DATA_TILING, IM2COL = "--iree-opt-data-tiling", "--iree-global-opt-use-im2col-for-convs"
CHOICES = [[DATA_TILING, IM2COL], [DATA_TILING], []]


def static_copy(arguments):
    """The same model with its input shapes fixed and an opset the importer takes."""
    model = onnx.load(arguments.model)
    for value in model.graph.input:
        if value.name in arguments.inputs:
            for dim, size in zip(value.type.tensor_type.shape.dim, arguments.inputs[value.name].shape):
                dim.dim_value = size
    path = pathlib.Path(arguments.work) / "model.onnx"
    onnx.save(model, path)
    return path


def compiled(arguments):
    """The module, and the flags that it was compiled with."""
    source, programs = static_copy(arguments), pathlib.Path(sys.executable).parent
    mlir, module = source.with_suffix(".mlir"), source.with_suffix(".vmfb")
    importer = [str(programs / "iree-import-onnx"), str(source), "-o", str(mlir), "--opset-version", "17"]
    subprocess.run(importer, check=True, stdout=sys.stderr)
    for choice in CHOICES:
        flags = FLAGS + choice
        command = [str(programs / "iree-compile"), str(mlir), "-o", str(module), *flags]
        if subprocess.run(command, stdout=sys.stderr).returncode == 0:
            return module, flags
    raise RuntimeError("iree-compile failed with every choice of flags")


def load(arguments):
    module, flags = compiled(arguments)
    driver = "local-sync" if arguments.threads == 1 else "local-task"
    config = runtime.Config(driver)
    instance = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, str(module)), config)
    (name,) = [n for n in instance.vm_module.function_names if not n.startswith("__") and not n.endswith("$async")]
    values = [runtime.asdevicearray(config.device, array) for array in arguments.inputs.values()]
    last = []

    def run():
        result = instance[name](*values)
        last[:] = result if isinstance(result, (tuple, list)) else [result]

    settings = {"compile": flags, "import": "--opset-version 17", "driver": driver}
    return Subject(
        run=run,
        outputs=lambda: [np.asarray(v.to_host()) for v in last],
        version=importlib.metadata.version("iree-base-compiler"),
        settings=settings,
    )


serve(load)

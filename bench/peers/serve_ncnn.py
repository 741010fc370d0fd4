# SPDX-License-Identifier: Apache-2.0
"""ncnn, model converted by pnnx, every fp16 and bf16 option off."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import ncnn
import numpy as np
from line_protocol import Subject, serve

TYPES = {"float32": "f32", "int64": "i64", "int32": "i32", "uint8": "u8"}


def input_shapes(arguments):
    texts = [f"[{','.join(map(str, a.shape))}]{TYPES[str(a.dtype)]}" for a in arguments.inputs.values()]
    return "inputshape=" + ",".join(texts)


def convert(arguments):
    """pnnx writes its files beside the model, so it works on a copy of its own."""
    work = pathlib.Path(arguments.work)
    copy = work / "model.onnx"
    shutil.copyfile(arguments.model, copy)
    program = str(pathlib.Path(sys.executable).parent / "pnnx")
    command = [program, copy.name, input_shapes(arguments), "fp16=0"]
    subprocess.run(command, cwd=work, check=True, stdout=sys.stderr)
    return work / "model.ncnn.param", work / "model.ncnn.bin"


def fp32_net(arguments):
    net = ncnn.Net()
    net.opt.num_threads = arguments.threads
    net.opt.use_vulkan_compute = False
    for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_bf16_packed"):
        if hasattr(net.opt, option):
            setattr(net.opt, option, False)
    parameters, weights = convert(arguments)
    if net.load_param(str(parameters)) != 0 or net.load_model(str(weights)) != 0:
        raise RuntimeError("ncnn does not load what pnnx wrote")
    return net


def owned_mat(array):
    """A Mat over a NumPy array borrows its memory; clone() makes it own a copy."""
    return ncnn.Mat(np.ascontiguousarray(array[0])).clone()


def load(arguments):
    net = fp32_net(arguments)
    mats = [owned_mat(array) for array in arguments.inputs.values()]
    results = [None] * len(arguments.output)
    input_names, output_names = list(net.input_names()), list(net.output_names())

    def run():
        extractor = net.create_extractor()
        for name, mat in zip(input_names, mats):
            extractor.input(name, mat)
        for i, name in enumerate(output_names):
            status, results[i] = extractor.extract(name)
            if status != 0:
                raise RuntimeError(f"ncnn cannot compute {name}: status {status}")

    settings = {
        "converter": "pnnx " + importlib.metadata.version("pnnx") + " fp16=0",
        "fp16 and bf16 options": "off",
        "num_threads": arguments.threads,
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", ""),
    }
    return Subject(
        run=run,
        outputs=lambda: [np.array(mat)[None] for mat in results],
        version=importlib.metadata.version("ncnn"),
        settings=settings,
    )


serve(load)

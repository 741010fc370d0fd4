# SPDX-License-Identifier: Apache-2.0
"""TVM: Relax from ONNX, the zero pipeline for the host CPU, untuned."""

import os

os.environ.setdefault("TVM_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))

import onnx  # noqa: E402
import tvm  # noqa: E402
from line_protocol import Subject, serve  # noqa: E402
from tvm import relax  # noqa: E402
from tvm.relax.frontend.onnx import from_onnx  # noqa: E402


def host_target():
    return tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()})


def load(arguments):
    shapes = {name: list(array.shape) for name, array in arguments.inputs.items()}
    module = from_onnx(onnx.load(arguments.model), shape_dict=shapes, keep_params_in_input=False)
    target = host_target()
    with tvm.transform.PassContext(opt_level=3):
        executable = tvm.compile(relax.get_pipeline("zero")(module), target=target)
    machine = relax.VirtualMachine(executable, tvm.cpu())
    values = [tvm.runtime.tensor(array) for array in arguments.inputs.values()]
    last = []

    def run():
        result = machine["main"](*values)
        last[:] = [result] if hasattr(result, "numpy") else list(result)

    settings = {"pipeline": "zero", "opt_level": 3, "target": str(target), "TVM_NUM_THREADS": os.environ["TVM_NUM_THREADS"]}
    return Subject(run=run, outputs=lambda: [v.numpy() for v in last], version=tvm.__version__, settings=settings)


serve(load)

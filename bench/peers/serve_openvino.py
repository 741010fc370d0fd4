# SPDX-License-Identifier: Apache-2.0
"""OpenVINO, CPU plugin. --precision f32 holds it to fp32; --precision default leaves the choice to it, which is
bf16 on cores with AMX or AVX512_BF16."""

import openvino as ov
from line_protocol import Subject, serve


def static_model(core, arguments):
    model = core.read_model(arguments.model)
    model.reshape({name: list(array.shape) for name, array in arguments.inputs.items()})
    return model


def load(arguments):
    core = ov.Core()
    config = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "INFERENCE_NUM_THREADS": str(arguments.threads),
    }
    if arguments.precision == "f32":
        config["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = core.compile_model(static_model(core, arguments), "CPU", config)
    request = compiled.create_infer_request()
    for name, array in arguments.inputs.items():
        request.set_tensor(name, ov.Tensor(array, shared_memory=True))
    settings = dict(config)
    settings["precision in force"] = str(compiled.get_property("INFERENCE_PRECISION_HINT"))
    return Subject(
        run=request.infer,
        outputs=lambda: [request.get_tensor(name).data.copy() for name in arguments.output],
        version=ov.get_version(),
        settings=settings,
    )


serve(load)

# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime, CPU provider: all graph optimisations, sequential execution, inputs and outputs bound once."""

import onnxruntime as ort
from line_protocol import Subject, serve


def load(arguments):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(arguments.model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in arguments.inputs.items():
        binding.bind_cpu_input(name, array)
    for name in arguments.output:
        binding.bind_output(name, "cpu")
    settings = {
        "graph_optimization_level": "ORT_ENABLE_ALL",
        "execution_mode": "ORT_SEQUENTIAL",
        "intra_op_num_threads": arguments.threads,
        "providers": session.get_providers(),
    }
    return Subject(
        run=lambda: session.run_with_iobinding(binding),
        outputs=binding.copy_outputs_to_cpu,
        version=ort.__version__,
        settings=settings,
    )


serve(load)

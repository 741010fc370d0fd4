# SPDX-License-Identifier: Apache-2.0
"""PyTorch Inductor with freezing: the graph traced to ATen calls with the weights as buffers, then torch.compile.

Freezing lets Inductor pack the weights and choose channels_last for convolutions itself.
"""

import torch
import torch._inductor.config
from backend_torch import TorchBackend
from line_protocol import Subject, serve
from onnx_graph import Graph, evaluate
from torch.fx.experimental.proxy_tensor import make_fx


def traced(arguments, values):
    graph, backend, names = Graph(arguments.model), TorchBackend(), list(arguments.inputs)

    def network(*tensors):
        outputs = evaluate(graph, dict(zip(names, tensors)), backend)
        return tuple(outputs[name] for name in arguments.output)

    return make_fx(network)(*values).eval()


def load(arguments):
    torch.set_num_threads(arguments.threads)
    torch._inductor.config.freezing = True
    last = []
    values = [torch.from_numpy(array) for array in arguments.inputs.values()]
    with torch.no_grad():
        network = traced(arguments, values)
    with torch.inference_mode():
        compiled = torch.compile(network, backend="inductor")
        compiled(*values)

    def run():
        with torch.inference_mode():
            last[:] = compiled(*values)

    settings = {
        "freezing": True,
        "inference_mode": True,
        "layout_optimization": torch._inductor.config.layout_optimization,
        "num_threads": torch.get_num_threads(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
    }
    return Subject(run=run, outputs=lambda: [v.numpy() for v in last], version=torch.__version__, settings=settings)


serve(load)

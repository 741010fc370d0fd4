# SPDX-License-Identifier: Apache-2.0
"""PyTorch Inductor with freezing: the graph traced to ATen calls with the weights as buffers, then torch.compile."""

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
    with torch.no_grad():
        values = [torch.from_numpy(array) for array in arguments.inputs.values()]
        compiled = torch.compile(traced(arguments, values), backend="inductor")
        compiled(*values)

    def run():
        with torch.no_grad():
            last[:] = compiled(*values)

    settings = {
        "freezing": True,
        "num_threads": torch.get_num_threads(),
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
    }
    return Subject(run=run, outputs=lambda: [v.numpy() for v in last], version=torch.__version__, settings=settings)


serve(load)

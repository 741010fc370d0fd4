# SPDX-License-Identifier: Apache-2.0
"""JAX: the graph translated to jax.numpy and jax.lax, compiled by XLA for the CPU with the weights as constants."""

import os

import jax
import numpy as np
from backend_jax import JaxBackend
from line_protocol import Subject, serve
from onnx_graph import Graph, evaluate


def load(arguments):
    graph = Graph(arguments.model)
    names = list(arguments.inputs)

    def network(*values):
        outputs = evaluate(graph, dict(zip(names, values)), JaxBackend())
        return [outputs[name] for name in arguments.output]

    values = [jax.device_put(array) for array in arguments.inputs.values()]
    compiled = jax.jit(network).lower(*values).compile()
    last = []

    def run():
        last[:] = jax.block_until_ready(compiled(*values))

    settings = {
        "platform": jax.default_backend(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
        "threads": f"as many as the {len(os.sched_getaffinity(0))} CPUs it is pinned to",
    }
    return Subject(run=run, outputs=lambda: [np.asarray(v) for v in last], version=jax.__version__, settings=settings)


serve(load)

# SPDX-License-Identifier: Apache-2.0
"""The peers: which server each uses, in which virtual environment, with which arguments."""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    label: str
    environment: str  # folder below the prefix that `setup` filled
    server: str
    options: tuple = ()
    fp32: bool = True  # False: a column beside the fp32 peers, never "the fastest peer"
    note: str = ""


PEERS = [
    Peer("onnxruntime", "ONNX Runtime", "onnxruntime", "serve_onnxruntime.py"),
    Peer("openvino", "OpenVINO f32", "openvino", "serve_openvino.py"),
    Peer(
        "openvino-default",
        "OpenVINO default",
        "openvino",
        "serve_openvino.py",
        ("--precision", "default"),
        False,
        "OpenVINO's default precision is bf16 on cores with AMX or AVX512_BF16: a column of its own, not an fp32 peer.",
    ),
    Peer("ncnn", "ncnn", "ncnn", "serve_ncnn.py", note="ncnn gets the network through pnnx; fp16 and bf16 off."),
    Peer("mnn", "MNN", "mnn", "serve_mnn.py"),
    Peer(
        "inductor",
        "PyTorch Inductor",
        "ncnn",
        "serve_inductor.py",
        note="Inductor gets our translation of the ONNX graph to ATen calls, with freezing on.",
    ),
    Peer("jax", "JAX/XLA", "jax", "serve_jax.py", note="XLA gets our translation of the ONNX graph to jax.numpy and jax.lax."),
    Peer(
        "iree",
        "IREE",
        "iree",
        "serve_iree.py",
        note="IREE compiles for the host CPU at O3, with data tiling, and convolutions as matrix products where it takes both.",
    ),
    Peer(
        "tvm",
        "TVM",
        "tvm",
        "serve_tvm.py",
        note="TVM runs Relax's zero pipeline, untuned: its loops as generated, not what hours of tuning would make of them.",
    ),
]
BY_NAME = {peer.name: peer for peer in PEERS}
DEFAULT = ["onnxruntime", "openvino", "openvino-default", "ncnn", "mnn"]


def command(peer, prefix, model, threads, work):
    python = pathlib.Path(prefix) / peer.environment / "bin/python"
    base = [str(python), str(HERE / peer.server), str(model.path), "--threads", str(threads), "--work", str(work)]
    return base + list(peer.options) + input_options(model) + [a for name in model.graph.outputs for a in ("--output", name)]


def input_options(model):
    return [a for name, path in model.inputs.items() for a in ("--input", f"{name}={path}")]


def onepass_command(program, model, threads, extra):
    shapes = []
    for value in model.symbolic:
        shapes += ["--shape", value]
    return [program, "bench", str(model.path), "--serve", "--threads", str(threads)] + input_options(model) + shapes + list(extra)

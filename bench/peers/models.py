# SPDX-License-Identifier: Apache-2.0
"""Which networks are timed, where their files are, and the seeded input that every peer gets."""

import hashlib
import pathlib

import numpy as np
import onnx

SETS = {
    "issue3": ["zoo/resnet50", "zoo/mobilenet_v2", "derived/ultraface_rfb640_nms", "derived/mnv2_yolov3_nano_coco_nms"],
    "issue4": [
        "zoo/resnet18",
        "zoo/resnet50",
        "zoo/vgg16_bn",
        "zoo/mobilenet_v2",
        "zoo/squeezenet1_1",
        "zoo/densenet121",
        "zoo/inception_v3",
        "zoo/yolo_silu",
        "ultraface-version-RFB-640",
        "FastestDet",
        "yunet_n_320_320",
        "derived/cifar_resnet56",
    ],
}
SEED = 20240501


def locate(name, zoo, data):
    """'zoo/NAME' is in the zoo folder, a path is itself, anything else is below the data folder's models/."""
    if name.endswith(".onnx"):
        return pathlib.Path(name)
    if name.startswith("zoo/"):
        return pathlib.Path(zoo) / (name[4:] + ".onnx")
    return pathlib.Path(data) / "models" / (name + ".onnx")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def dims_of(value):
    """Symbolic dimensions become 1: they are batch sizes in the networks of the sets."""
    return [d.dim_value if d.HasField("dim_value") else 1 for d in value.type.tensor_type.shape.dim]


def write_inputs(graph, folder):
    """One file per input, uniform in [0, 1): NAME -> (path, dims)."""
    random = np.random.default_rng(SEED)
    files = {}
    for i, value in enumerate(graph.inputs):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if dtype != np.float32:
            raise ValueError(f"input {value.name} is {dtype}: only float32 inputs are timed")
        path = folder / f"input{i}.npy"
        np.save(path, random.random(dims_of(value), np.float32))
        files[value.name] = path
    return files

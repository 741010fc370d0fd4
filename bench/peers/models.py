# SPDX-License-Identifier: Apache-2.0
"""Which networks are timed, where their files are, and the seeded input that every peer gets."""

import hashlib
import pathlib

import numpy as np
import onnx
import onnx.utils

SETS = {
    "issue3": ["zoo/resnet50", "zoo/mobilenet_v2", "ultraface-version-RFB-640", "derived/mnv2_yolov3_nano_coco_nms@boxes,scores"],
    "compilers": [
        "zoo/resnet50",
        "zoo/mobilenet_v2",
        "zoo/squeezenet1_1",
        "ultraface-version-RFB-640",
        "derived/cifar_resnet56",
    ],
    "issue4": [
        "zoo/resnet18",
        "zoo/resnet50",
        "zoo/vgg16_bn",
        "zoo/mobilenet_v2",
        "zoo/mobilenet_v3_large",
        "zoo/mnasnet1_0",
        "zoo/squeezenet1_1",
        "zoo/densenet121",
        "zoo/shufflenet_v2_x1_0",
        "zoo/efficientnet_b0",
        "zoo/regnet_y_400mf",
        "zoo/inception_v3",
        "zoo/yolov5n",
        "zoo/yolov8n",
        "zoo/yolo11n",
        "ultraface-version-RFB-640",
        "FastestDet",
        "yunet_n_320_320",
        "derived/cifar_resnet56",
    ],
}
SEED = 20240501


def locate(name, zoo, data, folder):
    """'zoo/NAME' is in the zoo folder, a path is itself, anything else is below the data folder's models/.

    NAME@output,... is the part of the network that ends at these outputs, cut out into `folder`: without its
    NonMaxSuppression, for instance, which several peers lack.
    """
    name, _, outputs = name.partition("@")
    path = locate_whole(name, zoo, data)
    if not outputs:
        return path
    cut = folder / (path.stem + "_cut.onnx")
    model = onnx.load(path)
    onnx.utils.extract_model(path, cut, [v.name for v in inputs_of(model)], outputs.split(","))
    return cut


def inputs_of(model):
    constants = {t.name for t in model.graph.initializer}
    return [v for v in model.graph.input if v.name not in constants]


def locate_whole(name, zoo, data):
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

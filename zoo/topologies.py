# SPDX-License-Identifier: Apache-2.0
"""Writes standard vision topologies as ONNX with seeded random weights.

The BatchNorms are unfolded and their statistics far from the identity, so that fusing them wrongly
shows. The same seed gives the same bytes. Needs numpy and onnx only.

    python3 zoo/topologies.py --out build/topologies              all but the huge ones
    python3 zoo/topologies.py --out build/topologies vgg16_bn     by name
"""

import argparse
from pathlib import Path

from nets_densenet import densenet121
from nets_inception import inception_v3
from nets_mobilenet import mobilenet_v2
from nets_plain import squeezenet1_1, vgg16_bn
from nets_resnet import resnet18, resnet50
from nets_yolo_nms import yolo_nms
from nets_yolo_silu import yolo_silu

TOPOLOGIES = {make.__name__: make for make in (
    resnet18, resnet50, mobilenet_v2, vgg16_bn, squeezenet1_1, densenet121, inception_v3,
    yolo_silu, yolo_nms)}

ONLY_BY_NAME = {"vgg16_bn"}  # 550 MB


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"which to write: {', '.join(TOPOLOGIES)}")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in TOPOLOGIES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(TOPOLOGIES)}")
    return args


def write(name, seed, path):
    """Writes one topology; the file appears whole or not at all."""
    data = TOPOLOGIES[name](seed).model().SerializeToString(deterministic=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    partial.replace(path)
    return len(data)


def main():
    args = parse_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    names = args.names or [name for name in TOPOLOGIES if name not in ONLY_BY_NAME]
    for name in names:
        path = args.out / f"{name}.onnx"
        print(f"{path.name}  {write(name, args.seed, path):,} bytes", flush=True)


if __name__ == "__main__":
    main()

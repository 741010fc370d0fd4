# SPDX-License-Identifier: Apache-2.0
"""Measures fashion_resnet.onnx on the 10,000 test images and counts its chains.

Reads the preprocessing from the sidecar, as onepass does. Exits with 1 below 90 % or below nine
straight chains. Needs numpy, onnx and onnxruntime.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import fashion_mnist

LEAST_ACCURACY = 0.90
LEAST_CHAINS = 9


def load_frames(sidecar, images):
    """Returns the images as the sidecar says: (pixel - mean) * scale."""
    rule = json.loads(sidecar.read_text())["inputs"]["image"]
    mean, scale = (np.array(rule[k], np.float32).reshape(1, -1, 1, 1) for k in ("mean", "scale"))
    return (images.astype(np.float32) - mean) * scale


def accuracy(path, frames, labels):
    """Returns the share of frames whose largest logit is the label's."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    hits = 0
    for i, label in enumerate(labels):
        (logits,) = session.run(["logits"], {"image": frames[i:i + 1]})
        hits += int(logits.argmax() == label)
    return hits / len(labels)


def count_chains(graph):
    """Counts what follows each Conv and its BatchNorm, as long as there is one consumer."""
    consumers = {}
    for node in graph.node:
        for value in node.input:
            consumers.setdefault(value, []).append(node)
    return Counter(" -> ".join(chain_of(node, consumers))
                   for node in graph.node if node.op_type == "Conv")


def chain_of(conv, consumers):
    """Returns the operators from conv to the first of them that ends a chain."""
    ops, node = ["Conv"], conv
    while ops[-1] not in ("Relu", "Add"):
        followers = consumers.get(node.output[0], [])
        if len(followers) != 1:
            break
        node = followers[0]
        ops.append(node.op_type)
    return ops


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=here / "fashion_resnet.onnx")
    parser.add_argument("--data", type=Path, default=fashion_mnist.DEFAULT_DATA_DIR)
    args = parser.parse_args()
    chains = count_chains(onnx.load(args.model).graph)
    for chain, count in chains.most_common():
        print(f"{count:3}  {chain}")
    images, labels = fashion_mnist.load_split(args.data, "t10k")
    share = accuracy(args.model, load_frames(args.model.with_suffix(".json"), images), labels)
    print(f"accuracy {share:.4f} on {len(labels)} images")
    straight = chains["Conv -> BatchNormalization -> Relu"]
    return 0 if share >= LEAST_ACCURACY and straight >= LEAST_CHAINS else 1


if __name__ == "__main__":
    sys.exit(main())

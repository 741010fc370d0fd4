# SPDX-License-Identifier: Apache-2.0
"""The line protocol of `onepass bench --serve`, for peers.

A server calls serve(load). `load(arguments)` prepares the peer and returns a Subject. Then each line on stdin is
answered on stdout: 'N' runs N inferences and answers their milliseconds as a JSON list; 'OUT file.npz' runs once,
saves the outputs under their ONNX names and answers []. What a peer prints itself goes to stderr.
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from typing import Callable

import numpy as np


@dataclasses.dataclass
class Subject:
    run: Callable  # one inference, finished when it returns
    outputs: Callable  # () -> list of arrays of the last run, in the order of the ONNX graph's outputs
    version: str
    settings: dict


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="ONNX file")
    parser.add_argument("--input", action="append", default=[], help="NAME=file.npy")
    parser.add_argument("--output", action="append", default=[], help="output names of the graph, in order")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--work", default=".", help="folder for converted models")
    parser.add_argument("--precision", choices=["f32", "default"], default="f32")
    arguments = parser.parse_args()
    pairs = (text.split("=", 1) for text in arguments.input)
    arguments.inputs = {name: np.load(path) for name, path in pairs}
    return arguments


def private_stdout():
    """The answers' own channel; anything else written to stdout lands on stderr."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return answers


def timed(run, count):
    times_ms = []
    for _ in range(count):
        start = time.perf_counter_ns()
        run()
        times_ms.append((time.perf_counter_ns() - start) / 1e6)
    return times_ms


def save_outputs(subject, names, path):
    subject.run()
    arrays = [np.asarray(array) for array in subject.outputs()]
    if len(arrays) != len(names):
        raise ValueError(f"{len(arrays)} outputs where the graph has {len(names)}")
    with open(path, "wb") as file:
        np.savez(file, **dict(zip(names, arrays)))


def serve(load):
    answers = private_stdout()
    arguments = parse_arguments()
    subject = load(arguments)
    ready = {"version": subject.version, "threads": arguments.threads, "settings": subject.settings}
    print("READY", json.dumps(ready), file=answers)
    for line in sys.stdin:
        line = line.strip()
        if line.startswith("OUT "):
            save_outputs(subject, arguments.output, line[4:])
            print("[]", file=answers)
        else:
            print(json.dumps(timed(subject.run, int(line))), file=answers)

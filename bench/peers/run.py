#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times onepass beside other runtimes on the same ONNX files, in turn, round by round, in one run.

Every runtime is a process of its own behind the line protocol of `onepass bench --serve`, pinned to the same CPUs and
stopped whenever it is not its turn. A time counts only if the outputs agree with the referee (this folder's
interpreter in double) or, where that cannot run, with the first peer. Ratios are medians of per-round peer / onepass.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import sys
import tempfile
import time

import compare
import models
import numpy as np
import peer_list
import report
from backend_numpy import NumpyBackend, as_data
from onnx_graph import Graph, Unsupported, evaluate
from server_process import ServerFailed, ServerProcess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TURN_MS = 150
SLOW = 8  # a peer this many times slower than onepass takes part in the first rounds only
SLOW_ROUNDS = 3


@dataclasses.dataclass
class Model:
    name: str
    path: pathlib.Path
    graph: Graph
    inputs: dict  # name -> .npy file
    symbolic: list  # NAME=1x3x32x32 for inputs that leave a dimension open


@dataclasses.dataclass
class Contender:
    name: str
    server: ServerProcess
    ready: dict
    outputs: dict
    one_ms: float
    medians_ms: list = dataclasses.field(default_factory=list)


def parse_arguments():
    data = os.environ.get("ONEPASS_DATA") or str(ROOT.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", dest="set_name", choices=sorted(models.SETS), help="a named list of networks")
    parser.add_argument("--models", nargs="+", default=[], help="zoo/NAME, a name below DATA/models, or a path")
    parser.add_argument("--peers", nargs="+", default=peer_list.DEFAULT, choices=[*peer_list.BY_NAME, "all"], metavar="PEER",
                        help=f"of {', '.join(peer_list.BY_NAME)}, or all; default {' '.join(peer_list.DEFAULT)}")
    parser.add_argument("--threads", nargs="+", type=int, default=[1], help="1 pins to one CPU, more to that many")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="two short rounds: does everything run?")
    parser.add_argument("--onepass", default=str(ROOT / "build/release/onepass"), help="the program")
    parser.add_argument("--option", action="append", default=[], help="extra option for onepass, as --option=--tolerance=1e-5")
    parser.add_argument("--prefix", default=os.path.expanduser("~/.cache/onepass/peers"), help="folder that `setup` filled")
    parser.add_argument("--zoo", default=str(ROOT / "build/zoo"), help="folder of the zoo's .onnx files")
    parser.add_argument("--data", default=data, help="folder with models/ (default $ONEPASS_DATA)")
    parser.add_argument("--cpu", type=int, help="first CPU to pin to (default: the last allowed ones)")
    parser.add_argument("--start-timeout", type=float, default=600, help="seconds a peer may take to load or compile")
    parser.add_argument("--out", default=str(pathlib.Path(__file__).parent / "results"), help="folder for JSON and SVG")
    parser.add_argument("--update", metavar="FILE.md", help="rewrite the tables of this file")
    return parser.parse_args()


def open_model(name, arguments, folder):
    path = models.locate(name, arguments.zoo, arguments.data, folder)
    graph = Graph(str(path))
    inputs = models.write_inputs(graph, folder)
    symbolic = []
    for value in graph.inputs:
        if not all(d.HasField("dim_value") for d in value.type.tensor_type.shape.dim):
            symbolic.append(f"{value.name}={'x'.join(map(str, models.dims_of(value)))}")
    return Model(name, path, graph, inputs, symbolic)


def referee_outputs(model):
    inputs = {name: as_data(np.load(path)) for name, path in model.inputs.items()}
    try:
        return evaluate(model.graph, inputs, NumpyBackend(), partial=True), None
    except (Unsupported, KeyError, ValueError, TypeError) as failure:
        return {}, f"{type(failure).__name__}: {failure}"


def portable_arguments(words):
    """The command's words without the folders of one machine."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("--zoo", "--prefix", "--data", "--out", "--onepass"):
            skip = True
        elif not word.startswith(("--zoo=", "--prefix=", "--data=", "--out=", "--onepass=")):
            kept.append(word)
    return kept


def commands(model, arguments, threads, folder):
    yield "onepass", peer_list.onepass_command(arguments.onepass, model, threads, arguments.option), folder / "onepass"
    for name in arguments.peers:
        work = folder / name
        work.mkdir(parents=True, exist_ok=True)
        yield name, peer_list.command(peer_list.BY_NAME[name], arguments.prefix, model, threads, work), work


def start(name, command, cpus, folder, arguments):
    """A Contender that has run, or the reason why there is none."""
    server, timeout_s = None, arguments.start_timeout
    try:
        server = ServerProcess(command, cpus, len(cpus), folder)
        ready = server.ready(timeout_s)
        server.times_ms(1, timeout_s)
        one_ms = min(server.times_ms(2, timeout_s))
        return Contender(name, server, ready, server.outputs(timeout_s), one_ms)
    except BaseException as failure:
        if server is not None:
            server.close()
        if isinstance(failure, (ServerFailed, OSError, ValueError)):
            return str(failure)
        raise


def takes_part(contender, onepass, round_number):
    return round_number < SLOW_ROUNDS or contender.one_ms <= SLOW * onepass.one_ms


def measure(contenders, arguments):
    """Every round asks each contender once, in alternating order; the first inference of a turn is not counted."""
    rounds, turn_ms = (2, 20) if arguments.quick else (arguments.rounds, TURN_MS)
    for round_number in range(rounds):
        order = contenders if round_number % 2 == 0 else contenders[::-1]
        for contender in order:
            if not takes_part(contender, contenders[0], round_number):
                continue
            count = max(1, min(1000, round(turn_ms / max(contender.one_ms, 0.01))))
            times = contender.server.times_ms(count + 1, arguments.start_timeout)[1:]
            contender.medians_ms.append(statistics.median(times))
        say(f"  round {round_number + 1} of {rounds}", again=True)
    say("")


def judged(contender, referee, first):
    """Errors against the referee, and against the first peer for what the referee lacks."""
    against_referee = compare.errors(contender.outputs, referee)
    rest = {name: array for name, array in first.outputs.items() if name not in referee} if first else {}
    against_first = compare.errors(contender.outputs, first.outputs) if first else {}
    checked = {**against_referee, **{name: against_first[name] for name in rest}}
    return compare.worst(checked), {
        "error": compare.finite(compare.worst(checked)),
        "error_against_double": compare.finite(compare.worst(against_referee)),
        "error_against_first_peer": compare.finite(compare.worst(against_first)),
        "errors_by_output": {name: compare.finite(value) for name, value in checked.items()},
    }


def result_of(contender, onepass, referee, first):
    error, figures = judged(contender, referee, first)
    low_precision = contender.name != "onepass" and not peer_list.BY_NAME[contender.name].fp32
    limit = compare.LOW_PRECISION_LIMIT if low_precision else compare.LIMIT
    close = error is not None and error <= limit
    result = {"name": contender.name, "status": "ok" if close else "differs", **figures}
    if not close:
        result["why"] = compare.why(error)
    ratios = [a / b for a, b in zip(contender.medians_ms, onepass.medians_ms)]
    result |= {
        "median_ms": statistics.median(contender.medians_ms),
        "ratio": statistics.median(ratios),
        "ratio_quartiles": compare.quartiles(ratios),
        "medians_ms": contender.medians_ms,
        "ready": contender.ready,
    }
    return result


def start_all(named_commands, cpus, arguments, contenders, failed):
    """Fills both lists as it goes, so that the caller can close what runs whatever happens."""
    for name, command, work in named_commands:
        say(f"  starting {name}")
        contender = start(name, command, cpus, work, arguments)
        if isinstance(contender, str):
            failed.append({"name": name, "status": "failed", "reason": contender})
            say(f"  {name} failed: {contender}")
        else:
            contenders.append(contender)


def time_model(model, arguments, threads, cpus, folder):
    say(f"{model.name}, {threads} thread(s) on CPU {sorted(cpus)}")
    referee, referee_failure = referee_outputs(model)
    contenders, failed, results = [], [], []
    try:
        start_all(commands(model, arguments, threads, folder), cpus, arguments, contenders, failed)
        if contenders and contenders[0].name == "onepass":
            measure(contenders, arguments)
            first = next((c for c in contenders[1:] if peer_list.BY_NAME[c.name].fp32), None)
            results = [result_of(c, contenders[0], referee, first) for c in contenders]
    finally:
        for contender in contenders:
            contender.server.close()
    return {
        "model": model.name,
        "sha256": models.sha256(model.path),
        "referee": referee_failure or "double, this folder's interpreter",
        "outputs_not_refereed": [name for name in model.graph.outputs if name not in referee],
        "results": results + failed,
    }


def host():
    info = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        info.setdefault(key.strip(), value.strip())
    flags = info.get("flags", "").split()
    kept = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8")
    return {
        "cpu": info.get("model name", platform.processor()),
        "family_model_stepping": [info.get(k, "") for k in ("cpu family", "model", "stepping")],
        "cpus": os.cpu_count(),
        "flags": [f for f in kept if f in flags],
        "kernel": platform.release(),
        "python": platform.python_version(),
        "hypervisor": "hypervisor" in flags,
    }


def pinned_cpus(arguments, threads):
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        sys.exit(f"run.py: {threads} threads on {len(allowed)} allowed CPUs would measure the scheduler")
    if arguments.cpu is not None:
        return set(range(arguments.cpu, arguments.cpu + threads))
    return set(allowed[-threads:])


def say(text, again=False):
    if again and not sys.stderr.isatty():
        return
    print(text, end="\r" if again else "\n", file=sys.stderr, flush=True)


def header(arguments, threads, cpus):
    return {
        "set": arguments.set_name or "custom",
        "threads": threads,
        "cpus": sorted(cpus),
        "rounds": 2 if arguments.quick else arguments.rounds,
        "turn_ms": 20 if arguments.quick else TURN_MS,
        "quick": arguments.quick,
        "date": time.strftime("%Y-%m-%d"),
        "command": " ".join([pathlib.Path(sys.argv[0]).name, *portable_arguments(sys.argv[1:])]),
        "onepass_options": arguments.option,
        "host": host(),
        "load_average_before": os.getloadavg(),
        "models": [],
    }


def run_set(arguments, threads):
    cpus = pinned_cpus(arguments, threads)
    document = header(arguments, threads, cpus)
    folder = pathlib.Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{document['set']}-{'quick-' if arguments.quick else ''}t{threads}.json"
    for name in models.SETS.get(arguments.set_name, []) + arguments.models:
        work = pathlib.Path(tempfile.mkdtemp(prefix="onepass-peers-"))
        try:
            model = open_model(name, arguments, work)
            document["models"].append(time_model(model, arguments, threads, cpus, work))
        except (OSError, ValueError) as failure:
            document["models"].append({"model": name, "results": [], "failure": str(failure)})
            say(f"{name}: {failure}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
        document["load_average_after"] = os.getloadavg()
        path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
    report.write_chart(document, path.with_suffix(".svg"))
    print(report.table(document))
    return path


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: terminated"))  # unwinds, so that every server is closed
    if "all" in arguments.peers:
        arguments.peers = list(peer_list.BY_NAME)
    paths = [run_set(arguments, threads) for threads in arguments.threads]
    if arguments.update:
        report.update(pathlib.Path(arguments.update), paths)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Errors between outputs, as docs/numerics.md defines them, and statistics of rounds."""

import math
import statistics

import numpy as np

LIMIT = 1e-4  # a peer with a larger error is not computing the same network in fp32
LOW_PRECISION_LIMIT = 0.2  # of columns that are shown with their error and never count as an fp32 peer


def same_dims(a, b):
    """Peers without a batch axis drop it, so axes of length one do not count."""
    return [d for d in a.shape if d != 1] == [d for d in b.shape if d != 1]


def error(a, reference):
    """max|a - b| / max(1, max|b|); inf where the arrays cannot be the same output, None where both are empty."""
    if not same_dims(a, reference):
        return math.inf
    if a.size == 0:
        return None
    a, b = np.ravel(a), np.ravel(reference)
    if b.dtype.kind != "f":
        return 0.0 if np.array_equal(a, b) else math.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.inf
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))


def errors(outputs, reference):
    """Error of each output that the reference has, by name."""
    return {name: error(outputs[name], array) if name in outputs else math.inf for name, array in reference.items()}


def worst(by_name):
    """None when no output was exercised: then nothing is known."""
    return max((value for value in by_name.values() if value is not None), default=None)


def why(value):
    """What a cell says about an error over the limit."""
    if value is None:
        return "no output exercised"
    return "not comparable" if math.isinf(value) else f"{value:.0e}".replace("e-0", "e-")


def finite(value):
    """JSON has no infinity."""
    return None if value is None or math.isinf(value) else value


def quartiles(values):
    if len(values) < 2:
        return [values[0], values[0]]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return [first, third]

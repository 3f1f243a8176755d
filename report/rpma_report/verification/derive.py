# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a point by their names, taken from what was read of its file.

Nothing here goes through the tables and charts: what they print is compared with it.
"""

import math
from collections.abc import Callable
from statistics import median

from rpma_report.model import Estimate, Latency, Point

Value = Estimate | float | None
_LATENCIES: dict[str, Callable[[Point], Latency | None]] = {
    "latency": lambda p: p.latency,
    "read_latency": lambda p: p.read_latency,
    "response_latency": lambda p: p.response_latency,
}
_PLAIN: dict[str, Callable[[Point], Value]] = {
    "ops": lambda p: p.ops,
    "errors": lambda p: p.errors,
    "repeats": lambda p: p.repeats,
    "late_ops": lambda p: p.late_ops,
    "unbegun_ops": lambda p: p.unbegun_ops,
    "ops_per_s": lambda p: p.ops_per_s,
    "bytes_per_s": lambda p: p.bytes_per_s,
    "bits_per_s": lambda p: p.bytes_per_s.value * 8 if p.bytes_per_s else None,
    "reverse.bytes_per_s": lambda p: p.reverse.bytes_per_s if p.reverse else None,
    "cpu.client": lambda p: p.cpu.client_busy,
    "cpu.server": lambda p: p.cpu.server_busy,
    "cpu.server_load": lambda p: p.cpu.server_load,
    "spans": lambda p: sum(len(w.ends_ns) for w in p.windows),
}
_PICKS: dict[str, Callable[[list[float]], float]] = {"lowest": min, "median": median, "highest": max}


class Unknown(KeyError):
    """A name that no figure has."""


def value(point: Point, metric: str) -> Value:
    """None: the result does not have it."""
    if metric in _PLAIN:
        return _PLAIN[metric](point)
    family, _, name = metric.partition(".")
    if family == "param":
        return _param(point, name)
    if family == "spans":
        return _spans(point, name)
    if family == "step":
        step, _, name = name.rpartition(".")
        return _of_latency(point.steps.get(step), name)
    if family in _LATENCIES:
        return _of_latency(_LATENCIES[family](point), name)
    raise Unknown(metric)


def _param(point: Point, name: str) -> Value:
    found = point.params.get(name)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _of_latency(latency: Latency | None, name: str) -> Value:
    if latency is None:
        return None
    if name in ("count", "min", "max", "mean"):
        found: Value = getattr(latency, name)
        return found
    if name[:1] != "p":
        raise Unknown(name)
    try:
        share = float(name[1:]) / 100
    except ValueError as error:
        raise Unknown(name) from error
    return next((v for p, v in latency.percentiles.items() if math.isclose(p, share, abs_tol=1e-12)), None)


def _spans(point: Point, name: str) -> Value:
    """lowest.ops_per_s, median.p99_ns…"""
    pick, _, key = name.partition(".")
    if pick not in _PICKS or key not in ("ops_per_s", "p50_ns", "p99_ns", "max_ns"):
        raise Unknown(name)
    known = [v for windows in point.windows for v in getattr(windows, key) if not math.isnan(v)]
    return _PICKS[pick](known) if known else None

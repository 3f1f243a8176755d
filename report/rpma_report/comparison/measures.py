# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a point that are compared, by the names that --fail-if takes.

p99.9 and mean are of the latency, read.p99 of the reads of a mix, response.p99 of
an open loop; ops_per_s and bytes_per_s are rates. Few figures of a point decide: each more
makes it harder for all of them to be told from chance.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rpma_report import quantity
from rpma_report.model import FOREIGN, Estimate, Latency, Point

EXPECTED = "mean, p50, p99.9 and so on, also after read. or response., ops_per_s or bytes_per_s"
FIO = "fio"
_DECIDING, _TOLD = (0.5, 0.99), (0.999,)


@dataclass(frozen=True)
class Measure:
    """One figure: of each repeat, of all of them, and in print."""

    name: str
    higher_is_better: bool
    by_repeat: Callable[[Point], Sequence[float]]
    whole: Callable[[Point], float | None]
    text: Callable[[float], str]


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


OPS = Measure("ops_per_s", True, lambda p: p.ops_per_s_by_repeat, lambda p: _value(p.ops_per_s),
              lambda v: quantity.rate(v, "op"))  # fmt: skip
BYTES = Measure("bytes_per_s", True, lambda p: p.bytes_per_s_by_repeat, lambda p: _value(p.bytes_per_s),
                lambda v: quantity.rate(v, "B"))  # fmt: skip
_LATENCIES: dict[str, Callable[[Point], Latency | None]] = {
    "": lambda p: p.latency,
    "read.": lambda p: p.read_latency,
    "response.": lambda p: p.response_latency,
}


def named(name: str) -> Measure | None:
    """None: no figure has that name."""
    for rate in (OPS, BYTES):
        if name == rate.name:
            return rate
    match = re.fullmatch(r"(read\.|response\.|)(mean|p([0-9]{1,2}(\.[0-9]{1,6})?))", name)
    if not match:
        return None
    of = _LATENCIES[match[1]]
    return _mean(match[1], of) if match[2] == "mean" else _percentile(match[1], of, float(match[3]) / 100)


def is_of(point: Point, measure: Measure) -> bool:
    """Does the point have the latency of the figure? It may still be too short for the figure."""
    prefix = next((prefix for prefix in _LATENCIES if prefix and measure.name.startswith(prefix)), "")
    return measure not in (OPS, BYTES) and _LATENCIES[prefix](point) is not None


def deciding(point: Point) -> list[Measure]:
    """Those that get a word, unless --figures names others."""
    tests = {"bw": [BYTES], "rate": _percentiles("response.", _DECIDING),
             "mix": [*_percentiles("", _DECIDING), *_percentiles("read.", _DECIDING)]}  # fmt: skip
    if point.latency is None and point.bytes_per_s and point.test in (FIO, *FOREIGN):
        return [BYTES]  # a program of others that took no latency
    return tests.get(point.test, _percentiles("", _DECIDING))


def told(point: Point) -> list[Measure]:
    """Those that are shown beside them, with an interval alone."""
    tests: dict[str, list[Measure]]
    tests = {"bw": [], "rate": _percentiles("response.", _TOLD), FIO: [*_percentiles("", _TOLD), BYTES],
             "mix": [*_percentiles("", _TOLD), *_percentiles("read.", _TOLD), BYTES]}  # fmt: skip
    return tests.get(point.test, _percentiles("", _TOLD))


def _percentiles(prefix: str, shares: Sequence[float]) -> list[Measure]:
    return [_percentile(prefix, _LATENCIES[prefix], p) for p in shares]


def _mean(prefix: str, of: Callable[[Point], Latency | None]) -> Measure:
    return Measure(f"{prefix}mean", False, lambda p: v.means_by_repeat if (v := of(p)) else (),
                   lambda p: v.mean.value if (v := of(p)) and v.mean else None, quantity.time_ns)  # fmt: skip


def _percentile(prefix: str, of: Callable[[Point], Latency | None], p: float) -> Measure:
    share = round(p, 10)

    def by_repeat(point: Point) -> Sequence[float]:
        latency = of(point)
        # Without a histogram it is the middle of a bin: repeats that share one prove nothing.
        return latency.by_repeat.get(share, ()) if latency and latency.histogram else ()

    def whole(point: Point) -> float | None:
        latency = of(point)
        return _value(latency.percentiles.get(share)) if latency else None

    return Measure(f"{prefix}{quantity.percentile(share)}", False, by_repeat, whole, quantity.time_ns)

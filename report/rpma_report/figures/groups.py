# SPDX-License-Identifier: BSD-3-Clause
"""Which points belong into one chart.

A page asks for each group many times, which takes seconds for thousands of points: the
groups of the runs asked for last are remembered.
"""

from collections.abc import Callable, Sequence
from functools import wraps

from rpma_report.figures.series import AXES, LOAD, RATE, READS, Axis, SeriesSet, collect
from rpma_report.model import FOREIGN, Point, Run


_KEPT = 8
Made = Callable[..., SeriesSet]


def _remembered(make: Made) -> Made:
    """The kept sets hold their runs, so that no other run gets their identity."""
    kept: dict[object, tuple[tuple[Run, ...], SeriesSet]] = {}

    @wraps(make)
    def group(runs: Sequence[Run], *facets: Sequence[Axis]) -> SeriesSet:
        key = (tuple(map(id, runs)), *(axis.key for axes in facets for axis in axes))
        if key not in kept:
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = (tuple(runs), make(runs, *facets))
        return kept[key][1]

    return group


@_remembered
def latency_series(runs: Sequence[Run], facets: Sequence[Axis] = ()) -> SeriesSet:
    """Without those of a loaded server, when there are others: they have a chart of their own."""

    def wanted(point: Point) -> bool:
        return point.test in ("lat", "fio", *FOREIGN) and point.latency is not None

    idle = any(wanted(p) and not LOAD.place(p) for run in runs for p in run.points)
    return collect(runs, lambda p: wanted(p) and not (idle and LOAD.place(p)), facets=facets)


@_remembered
def bandwidth_series(runs: Sequence[Run], facets: Sequence[Axis] = ()) -> SeriesSet:
    return collect(runs, lambda p: p.test in ("bw", "fio", "perftest") and p.bytes_per_s, facets=facets)


@_remembered
def throughput_series(runs: Sequence[Run]) -> SeriesSet:
    """More and more at once: what is achieved, and how long each takes."""
    return collect(runs, lambda p: p.test in ("bw", "fio") and p.latency and p.ops_per_s, AXES[1:])


@_remembered
def rate_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.test == "rate" and (p.response_latency or p.latency), (RATE,))


@_remembered
def mix_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.test == "mix" and (p.latency or p.read_latency), (READS, *AXES))


@_remembered
def load_series(runs: Sequence[Run]) -> SeriesSet:
    """Those that have several loads."""

    def wanted(point: Point) -> bool:
        return bool(point.latency) and point.test != "fio" and LOAD.place(point) is not None

    every = collect(runs, wanted, (LOAD,))
    swept = tuple(s for s in every.series if len({LOAD.place(p) for p in s.points}) > 1)
    return SeriesSet(LOAD, swept, every.runs)


@_remembered
def connect_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.test == "connect" and p.latency, AXES[1:])


@_remembered
def register_series(runs: Sequence[Run]) -> SeriesSet:
    return collect(runs, lambda p: p.test == "register" and p.latency)

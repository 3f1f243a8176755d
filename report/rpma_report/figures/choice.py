# SPDX-License-Identifier: BSD-3-Clause
"""The order of what matters most: cards name it first, and a chart without room for all draws it.

The strongest promise of persistence first, then writes over a network, then the size
nearest to 4 KiB and the fewest operations at once.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from rpma_report.figures.figure import MAX_LINES
from rpma_report.figures.series import SIZE, Series, is_remote, order, owner, what
from rpma_report.model import Point

NEAR_BYTES = 4096
_PERSIST = ("native", "apm", "gpspm-rt", "gpspm", "append", "rpmem", "rpmem-relaxed", "none")
_NAMED = 6  # series left out that a caption names one by one
Item = TypeVar("Item")
Rank = tuple[float, ...]


def promise(point: Point) -> int:
    """The lower, the more is promised of what was written."""
    return _PERSIST.index(point.params["persist"])


def rank(point: Point) -> Rank:
    """The lowest is the headline."""
    size = SIZE.place(point) or 1
    at_once = (point.params.get(key) or 1 for key in ("depth", "threads", "connections"))
    local = not is_remote(point.params)
    return (promise(point), local, order(point)[0], abs(math.log2(size / NEAR_BYTES)), *at_once)


def _rank(series: Series) -> Rank:
    return min(map(rank, series.points))


def drawn(series: Sequence[Series], limit: int = MAX_LINES) -> tuple[Series, ...]:
    """In their order; of each operation of each run one before another gets a second."""
    turns: dict[object, int] = Counter()
    turn: dict[int, int] = {}
    for one in sorted(series, key=_rank):
        kind = (owner(one.run), what(one.points[0].params))
        turn[id(one)] = turns[kind]
        turns[kind] += 1
    chosen = sorted(series, key=lambda s: (turn[id(s)], _rank(s)))[:limit]
    kept = set(map(id, chosen))
    return tuple(s for s in series if id(s) in kept)


def left_out(series: Sequence[Series], shown: Sequence[Series]) -> tuple[str, ...]:
    """The sentences of a caption about the series that are not shown."""
    kept = set(map(id, shown))
    rest = [s for s in series if id(s) not in kept]
    if not rest:
        return ()
    if len(rest) <= _NAMED:
        named = "; ".join(s.label for s in rest)
    else:
        kinds = Counter(what(s.points[0].params) for s in rest)
        named = ", ".join(f"{number} of {kind}" for kind, number in kinds.items())
    return (f"The chart shows {len(kept)} of {len(series)} series, the table all. Left out: {named}.",)


def evenly(items: Sequence[Item], limit: int) -> list[Item]:
    """At most this number of them, the first and the last included if there is room for two."""
    if len(items) <= limit:
        return list(items)
    if limit == 1:
        return [items[0]]
    last = len(items) - 1
    return [items[round(i * last / (limit - 1))] for i in range(limit)]


def some(points: Sequence[Point], limit: int) -> list[Point]:
    """First and last of a series and some between, or the one that matters most if there is room for one."""
    return [min(points, key=rank)] if limit == 1 and points else evenly(points, limit)

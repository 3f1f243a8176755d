# SPDX-License-Identifier: BSD-3-Clause
"""Ways to persist side by side: apm, gpspm, native and none at one size.

The size is the one nearest to 4 KiB that most of them were measured at; the table
has every size, and how each compares with the fastest there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.choice import NEAR_BYTES, drawn, left_out
from rpma_report.figures.distribution import Spread, ladder_of
from rpma_report.figures.figure import Figure, Line, Mark, by_percentile
from rpma_report.figures.groups import latency_series
from rpma_report.figures.latency import caption
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import SIZE, Series, SeriesSet
from rpma_report.model import Point, Run

PERCENTILES = (0.5, 0.99, 0.999)
_WRITES = ("write", "write-imm", "atomic-write")


@dataclass(frozen=True)
class Chosen:
    """The points of one size, a few for each way to persist."""

    group: SeriesSet
    size: int
    here: tuple[tuple[Series, Point], ...]
    notes: tuple[str, ...]  # what was left out


def chosen(runs: Sequence[Run]) -> Chosen | None:
    """None where there are not two ways."""
    group = _writes(runs)
    if group is None:
        return None
    size = usual_size(group.points())
    there = [s for s in group.series if any(SIZE.place(p) == size for p in s.points)]
    seen = set(map(id, drawn(group.series)))
    shown = [s for s in there if id(s) in seen]
    here = tuple((s, p) for s in shown for p in s.points if SIZE.place(p) == size)
    if len({p.params["persist"] for _, p in here}) < 2:
        return None
    return Chosen(group, size, here, left_out(there, shown))


def ladder(runs: Sequence[Run]) -> Figure | None:
    """Every percentile of the same point, a line for each way: where in the tail it costs."""
    found, looks = chosen(runs), Looks(runs)
    if found is None:
        return None
    spreads = [Spread(s.label, looks.of(s), p.latency, point=p) for s, p in found.here if p.latency and p.latency.count]
    title = f"Percentiles by way to persist, {quantity.size(found.size)}"
    return ladder_of(spreads, "methods-ladder", title, marks(found.group.runs, found.group.points()), found.notes)


def figure(runs: Sequence[Run]) -> Figure | None:
    found, looks = chosen(runs), Looks(runs)
    if found is None:
        return None
    group, size, here = found.group, found.size, found.here
    panels = by_percentile(PERCENTILES, lambda q: (
        Line(s.label, looks.of(s), (_mark(i, p, q),))
        for i, (s, p) in enumerate(here) if p.latency and q in p.latency.percentiles))  # fmt: skip
    if not panels:
        return None
    return Figure(
        id="methods",
        title=f"Ways to persist, {quantity.size(size)}",
        marks=marks(group.runs, group.points()),
        x_title="",
        x_scale="category",
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=_alt(here),
        table=_table(group),
        notes=found.notes,
        categories=tuple(s.label for s, _ in here),
    )


def _mark(place: int, point: Point, q: float) -> Mark:
    assert point.latency is not None
    at = address.of(point, f"latency.{quantity.percentile(q)}")
    return Mark(place, point.latency.percentiles[q], point.latency.by_repeat[q], at)


def _writes(runs: Sequence[Run]) -> SeriesSet | None:
    """The series of one tool, as a latency spans something else in the other; fio's over RDMA alone."""
    every = latency_series(runs)
    for test in ("lat", "fio"):
        kept = tuple(s for s in every.series if s.points[0].test == test and _remote_write(s.points[0]))
        if len({s.points[0].params["persist"] for s in kept}) > 1:
            return SeriesSet(every.axis, kept, every.runs)
    return None


def _remote_write(point: Point) -> bool:
    engine = point.params.get("ioengine", "librpma")
    return point.params["op"] in _WRITES and engine.startswith("librpma")


def usual_size(points: Sequence[Point]) -> int:
    """Measured for the most ways to persist, and of those the nearest to 4 KiB."""
    ways: dict[int, set[str]] = {}
    for point in points:
        if (size := point.params["size_bytes"]) is not None:
            ways.setdefault(size, set()).add(point.params["persist"])
    if not ways:
        return 0
    return min(ways, key=lambda s: (-len(ways[s]), abs(math.log2(s / NEAR_BYTES)), s))


def _median(point: Point) -> float | None:
    found = point.latency.percentiles.get(0.5) if point.latency else None
    return found.value if found else None


def _alt(here: Sequence[tuple[Series, Point]]) -> str:
    sentences = []
    for series, point in here:
        stated = point.latency.percentiles if point.latency else {}
        known = [q for q in PERCENTILES if q in stated]
        parts = [f"{quantity.percentile(q)} {quantity.time_ns(stated[q].value)}" for q in known]
        sentences.append(f"{series.label}: {', '.join(parts) or 'too few samples'}.")
    return " ".join(["Bar chart of latency by way to persist.", *sentences])


def _table(group: SeriesSet) -> tables.Table:
    """The fastest median at a place is 1."""
    fastest: dict[object, float] = {}
    for series in group.series:
        for point in series.points:
            median = _median(point)
            if median:
                place = _place(point)
                fastest[place] = min(fastest.get(place, median), median)

    def ratio(point: Point) -> tables.Cell:
        median, best = _median(point), fastest.get(_place(point))
        known = median is not None and best
        return tables.Cell(f"{median / best:.2f}" if known else quantity.UNKNOWN)  # type: ignore[operator]

    columns = [
        *tables.latency_columns(group.points(), percentiles=PERCENTILES)[1:-2],
        tables.Column("p50 over the fastest", ratio),
        *tables.cpu_columns(group.points()),
    ]
    return tables.of_points(group, caption(group, "Latency by way to persist"), columns)


def _place(point: Point) -> tuple[object, ...]:
    return tuple(point.params.get(key) for key in ("size_bytes", "depth", "threads", "connections"))

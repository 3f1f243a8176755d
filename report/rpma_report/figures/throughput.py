# SPDX-License-Identifier: BSD-3-Clause
"""Latency against what was achieved: where more at once only makes each wait longer.

The points of a line follow each other in the order of what was swept (depth, threads,
connections, offered rate), and not of what was achieved: behind the knee it may fall.
"""

from collections.abc import Callable, Sequence

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.figure import MAX_LINES, Figure, Line, Mark, by_percentile
from rpma_report.figures.groups import rate_series, throughput_series
from rpma_report.figures.looks import Looks, Style
from rpma_report.figures.marks import marks
from rpma_report.figures.series import RATE, Axis, Series
from rpma_report.model import Latency, Point, Run

PERCENTILES = (0.5, 0.99)
Swept = tuple[Series, Axis]


def figure(runs: Sequence[Run]) -> Figure | None:
    every = _swept(runs)
    shown, looks = _drawn(every), Looks(runs)
    styles = _styles(shown, looks)
    panels = by_percentile(PERCENTILES, lambda q: (
        line for (s, axis), look in zip(shown, styles, strict=True) if len((line := _line(s, axis, look, q)).marks) > 1))
    if not panels:
        return None
    points, of = [p for s, _ in every for p in s.points], tuple({id(s.run): s.run for s, _ in every}.values())
    return Figure(
        id="throughput",
        title="Latency against achieved throughput",
        marks=marks(of, points),
        x_title="operations per second, as achieved",
        x_scale="per_s",
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=_alt(shown),
        table=_table(every),
        notes=("A line goes from the least to the most that was asked for.",
               *left_out([s for s, _ in every], [s for s, _ in shown])),  # fmt: skip
    )


def latency_of(point: Point) -> Latency | None:
    """In an open loop the response: what waits for its turn waits, too."""
    return point.response_latency or point.latency


def _swept(runs: Sequence[Run]) -> list[Swept]:
    """Series of several points that are in one order of load."""
    found: list[Swept] = []
    for group in (rate_series(runs), throughput_series(runs)):
        axis = RATE if any(p.test == "rate" for p in group.points()) else group.axis
        for series in group.series:
            known = tuple(p for p in series.points if latency_of(p) and p.ops_per_s and p.ops_per_s.value > 0)
            if axis is not None and len({axis.place(p) for p in known} - {None}) > 1:
                found.append((Series(series.run, series.label, known), axis))
    return found


def _drawn(every: Sequence[Swept]) -> list[Swept]:
    kept = set(map(id, drawn([s for s, _ in every], MAX_LINES)))
    return [one for one in every if id(one[0]) in kept]


def _styles(shown: Sequence[Swept], looks: Looks) -> list[Style]:
    """Those of the other charts, unless lines would be alike that are other series there."""
    known = [looks.part(series, int(axis is not RATE)) for series, axis in shown]
    return known if len(set(known)) == len(known) else [(number, 0) for number in range(len(shown))]


def _line(series: Series, axis: Axis, look: Style, q: float) -> Line:
    found = [mark for point in series.points if (mark := _mark(point, q))]
    path = tuple((mark.x, mark.value.value) for mark in found)
    return Line(f"{series.label}, by {axis.title}", look[0], tuple(found), path if len(path) > 1 else (), False, variant=look[1])


def _mark(point: Point, q: float) -> Mark | None:
    latency = latency_of(point)
    if latency is None or point.ops_per_s is None or q not in latency.percentiles:
        return None
    at = address.of(point, f"{_family(point)}.{quantity.percentile(q)}")
    return Mark(point.ops_per_s.value, latency.percentiles[q], latency.by_repeat[q], at)


def _family(point: Point) -> str:
    return "response_latency" if point.response_latency else "latency"


def _alt(shown: Sequence[Swept]) -> str:
    sentences = []
    for series, axis in shown:
        told = [(p, latency.percentiles[0.5]) for p in series.points if (latency := latency_of(p)) and 0.5 in latency.percentiles]
        parts = [f"{quantity.time_ns(v.value)} at {quantity.rate(p.ops_per_s.value, 'op')}"
                 for p, v in (told[:1] + told[-1:] if len(told) > 1 else told) if p.ops_per_s]  # fmt: skip
        sentences.append(f"{series.label}, by {axis.title}: p50 {' to '.join(parts) or 'not known'}.")
    return " ".join(["Line chart of latency against throughput.", *sentences])


def _table(every: Sequence[Swept]) -> tables.Table:
    columns: list[Callable[[Point], tables.Cell]] = [tables.RATE.of, tables.BANDWIDTH.of]
    groups = []
    for series, axis in every:
        rows = []
        for point in series.points:
            latency = latency_of(point)
            stated = latency.percentiles if latency else {}
            times = (tables.addressed(tables.time(stated.get(q)), point, f"{_family(point)}.{quantity.percentile(q)}")
                     for q in PERCENTILES)  # fmt: skip
            named = tables.addressed(tables.Cell(axis.shown(point)), point, f"param.{axis.key}")
            rows.append((tables.Cell(axis.title), named, *(column(point) for column in columns), *times))
        groups.append(tables.RowGroup(series.label if len(every) > 1 else "", tuple(rows)))
    titles = ("swept", "value", "rate", "bandwidth", *map(quantity.percentile, PERCENTILES))
    caption = "Throughput and latency"
    return tables.Table(caption, titles, tuple(groups), 2)

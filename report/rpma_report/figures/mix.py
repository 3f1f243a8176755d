# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes at once: latency of either against the share of reads, or what else was swept."""

from collections.abc import Callable, Sequence
from functools import partial

from rpma_report.figures import tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.figure import MAX_LINES, Figure, Line, by_percentile
from rpma_report.figures.groups import mix_series
from rpma_report.figures.latency import alt_of, caption, line_of, percentile_mark, x_scale
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import SIZE, Axis, Series, SeriesSet
from rpma_report.model import Latency, Point, Run

PERCENTILES = (0.5, 0.99)
_Half = tuple[str, Callable[[Point], Latency | None], str]
_HALVES: tuple[_Half, ...] = (
    ("writes", lambda p: p.latency, "latency"),
    ("reads", lambda p: p.read_latency, "read_latency"),
)


def figure(runs: Sequence[Run]) -> Figure | None:
    group = mix_series(runs)
    if not group.series:
        return None
    axis = group.axis or SIZE
    looks, shown = Looks(runs), drawn(group.series, MAX_LINES // 2)
    panels = by_percentile(PERCENTILES, lambda p: (line for s in shown for line in _lines(s, looks, axis, p)))
    if not panels:
        return None
    return Figure(
        id="mix",
        title=f"Reads and writes at once, against {axis.title}",
        marks=marks(group.runs, group.points()),
        x_title=axis.title,
        x_scale=x_scale(axis),
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=" ".join(["Line chart of latency in a mix.", *map(partial(_alt, group), _HALVES)]),
        table=_table(group),
        notes=left_out(group.series, shown),
    )


def _lines(series: Series, looks: Looks, axis: Axis, p: float) -> list[Line]:
    return [
        line_of(series, f"{series.label}, {name}", looks.part(series, half), axis.place,
                percentile_mark(axis.place, p, of, family))  # fmt: skip
        for half, (name, of, family) in enumerate(_HALVES)
    ]


def _alt(group: SeriesSet, half: _Half) -> str:
    name, of, _ = half
    return f"Of {name}: {' '.join(alt_of(group, PERCENTILES, of))}"


def _table(group: SeriesSet) -> tables.Table:
    points, shown = group.points(), (0.5, 0.99, 0.999)
    columns = [
        tables.BANDWIDTH,
        tables.RATE,
        *tables.latency_columns(points, prefix="write ", percentiles=shown)[1:-1],
        *tables.latency_columns(points, lambda p: p.read_latency, "read ", shown, "read_latency")[1:-1],
        tables.OPERATIONS,
        tables.REPEATS,
    ]
    return tables.of_points(group, caption(group, "Reads and writes at once"), columns)

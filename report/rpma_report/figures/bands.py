# SPDX-License-Identifier: BSD-3-Clause
"""Latency over time, as a band: p50, p99 and the slowest of each span of the repeats.

A result has percentiles of each span and no histogram, so that what lies between them is
not known: this is no heat map.
"""

import math
from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.figure import Figure, Line, Panel
from rpma_report.figures.latency import caption
from rpma_report.figures.marks import marks
from rpma_report.figures.series import collect
from rpma_report.figures.windows import PICKS, kept_points, name_of, path_of, values_of
from rpma_report.model import Point, Run

_EDGES = (("p50", "p50_ns"), ("p99", "p99_ns"), ("slowest", "max_ns"))
_NOTE = ("The lines are percentiles of each span. A result has no histograms of its spans, so what lies "
         "between the lines is not known.")  # fmt: skip


def figure(runs: Sequence[Run]) -> Figure | None:
    group = collect(runs, lambda p: any(_known(p, key) for _, key in _EDGES))
    every = [(s, p) for s in group.series for p in s.points]
    shown = [(name_of(group, s.label, p), p) for s, p in kept_points(every)]
    panels = []
    for name, point in shown:
        lines = tuple(Line(edge, number, (), path, False)
                      for number, (edge, key) in enumerate(_EDGES) if (path := path_of(point, key)))  # fmt: skip
        if len(lines) > 1:
            panels.append(Panel(name, lines))
    if not panels:
        return None
    notes = (_NOTE, *((f"The chart shows {len(shown)} of {len(every)} points, the table all.",) if len(shown) < len(every) else ()))
    return Figure(
        id="bands",
        title="Latency over time",
        marks=marks(group.runs, group.points()),
        x_title="time, the repeats one after the other",
        x_scale="seconds",
        y_title="latency",
        y_scale="time",
        panels=tuple(panels),
        alt=_alt(shown),
        table=tables.of_points(group, caption(group, "Latency of the spans"), _columns()),
        notes=notes,
        same_y=True,
    )


def _known(point: Point, key: str) -> bool:
    return any(not math.isnan(v) for v in values_of(point, key))


def _columns() -> list[tables.Column]:
    return [
        tables.Column(f"{pick} {edge}", lambda p, key=key, pick=pick: _cell(p, key, pick), f"spans.{pick}.{key}")  # type: ignore[misc]
        for edge, key in _EDGES
        for pick in PICKS
    ]


def _cell(point: Point, key: str, pick: str) -> tables.Cell:
    values = list(values_of(point, key))
    return tables.Cell(quantity.time_ns(PICKS[pick](values) if values else None))


def _alt(shown: Sequence[tuple[str, Point]]) -> str:
    sentences = []
    for name, point in shown:
        parts = []
        for edge, key in _EDGES:
            if values := list(values_of(point, key)):
                low, high = (quantity.time_ns(v) for v in (min(values), max(values)))
                parts.append(f"{edge} {quantity.span(low, high)}")
        sentences.append(f"{name}: {', '.join(parts)}.")
    return " ".join(["Line chart of percentiles of latency over time.", *sentences])

# SPDX-License-Identifier: BSD-3-Clause
"""Latency against the load of the server's cores: does a way to persist need its processor?

The axis is the load as it was measured, not as it was asked for.
"""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.figure import Figure, by_percentile
from rpma_report.figures.groups import load_series
from rpma_report.figures.latency import alt_of, caption, line_of, percentile_mark
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import LOAD
from rpma_report.model import Point, Run

PERCENTILES = (0.5, 0.99, 0.999)


def figure(runs: Sequence[Run]) -> Figure | None:
    group, looks = load_series(runs), Looks(runs)
    if not group.series:
        return None
    shown = drawn(group.series)
    panels = by_percentile(PERCENTILES, lambda p: (
        line_of(s, s.label, (looks.of(s), 0), measured, percentile_mark(measured, p)) for s in shown))  # fmt: skip
    if not panels:
        return None
    columns = [
        tables.Column("measured", lambda p: tables.Cell(quantity.fraction(p.cpu.server_load)), "cpu.server_load"),
        *tables.latency_columns(group.points(), percentiles=PERCENTILES)[1:-1],
        tables.RATE,
        *tables.cpu_columns(group.points()),
        tables.REPEATS,
    ]
    return Figure(
        id="load",
        title="Latency against load of the server",
        marks=marks(group.runs, group.points()),
        x_title="measured load of the server's cores",
        x_scale="fraction",
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=" ".join(["Line chart of latency against load.", *alt_of(group, PERCENTILES)]),
        table=tables.of_points(group, caption(group, "Latency under load"), columns),
        notes=left_out(group.series, shown),
    )


def measured(point: Point) -> float | None:
    """No load asked for is none, measured or not."""
    if point.cpu.server_load is None and LOAD.place(point) == 0:
        return 0.0
    return point.cpu.server_load

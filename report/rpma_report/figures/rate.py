# SPDX-License-Identifier: BSD-3-Clause
"""Open loops: response time against the offered rate, where the knee shows.

Response counts from the planned time of an operation, service from its post; they
part where operations begin to wait.
"""

from collections.abc import Callable, Sequence

from rpma_report import quantity
from rpma_report.figures import search, tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.figure import MAX_LINES, Figure, Line, by_percentile
from rpma_report.figures.groups import rate_series
from rpma_report.figures.latency import alt_of, caption, line_of, percentile_mark
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import RATE, Series, SeriesSet
from rpma_report.model import Latency, Point, Run

KEPT = 0.99  # share of the offered rate that has to be achieved: the plan was kept
PERCENTILES = (0.5, 0.99)
_SEARCHES = 4  # in a caption; a table has each


def figure(runs: Sequence[Run]) -> Figure | None:
    group = rate_series(runs)
    if not group.series:
        return None
    looks, shown = Looks(runs), drawn(group.series, MAX_LINES // 2)
    panels = by_percentile(PERCENTILES, lambda p: (line for s in shown for line in _lines(s, looks, p)))
    if not panels:
        return None
    searched = [f"{name}: {search.answer(found)}." for run in group.runs for name, found in search.of(run)]
    knees = (f"{s.label}: {_knee_text(s)}." for s in shown if not s.run.searches)
    notes = (*knees, *searched[:_SEARCHES], *left_out(group.series, shown))
    return Figure(
        id="rate",
        title="Response time against offered rate",
        marks=marks(group.runs, group.points()),
        x_title="offered rate",
        x_scale="per_s",
        y_title="time",
        y_scale="time",
        panels=panels,
        alt=" ".join(["Line chart of response time.", *alt_of(_on_axis(group), PERCENTILES, _response)]),
        table=_table(group),
        notes=notes,
    )


def _response(point: Point) -> Latency | None:
    return point.response_latency


def _on_axis(group: SeriesSet) -> SeriesSet:
    """The rate is the axis, even if it is one, and nothing was swept."""
    return SeriesSet(RATE, group.series, group.runs)


def _lines(series: Series, looks: Looks, p: float) -> list[Line]:
    response, service = percentile_mark(RATE.place, p, _response, "response_latency"), percentile_mark(RATE.place, p)
    return [
        line_of(series, f"{series.label}, response", looks.part(series, 0), RATE.place, response),
        line_of(series, f"{series.label}, service", looks.part(series, 1), RATE.place, service),
    ]


def kept(point: Point) -> bool:
    offered = RATE.place(point)
    return bool(offered and point.ops_per_s and point.ops_per_s.value >= KEPT * offered)


def knee(series: Series) -> float | None:
    """The highest rate up to which every rate was kept, itself among them."""
    highest = None
    for point in series.points:
        if not kept(point):
            break
        highest = RATE.place(point)
    return highest


def _knee_text(series: Series) -> str:
    rates = [rate for p in series.points if (rate := RATE.place(p)) is not None]
    met = [rate for p in series.points if kept(p) and (rate := RATE.place(p)) is not None]
    if not rates:
        return "no offered rate has a place on the axis"
    lowest, highest = quantity.rate(min(rates), "op"), knee(series)
    if not met:
        return f"the plan was not kept at any rate, the lowest of which is {lowest}"
    above = [rate for rate in met if highest is None or rate > highest]
    again = ", ".join(quantity.rate(rate, "op") for rate in above[:3]) + (" and more" if len(above) > 3 else "")
    if highest is None:
        return f"the plan was not kept at the lowest rate, {lowest}; above it at {again}"
    if highest == max(rates):
        return f"the plan was kept at every rate, up to {quantity.rate(highest, 'op')}"
    said = f"the plan was kept up to {quantity.rate(highest, 'op')}"
    return f"{said}; above it again at {again}" if above else said


def _table(group: SeriesSet) -> tables.Table:
    points = group.points()
    shown = (0.5, 0.99, 0.999)
    columns = [
        tables.Column("achieved", tables.RATE.cell, tables.RATE.metric),
        *tables.latency_columns(points, _response, "response ", shown, "response_latency")[1:-1],
        *tables.latency_columns(points, prefix="service ", percentiles=shown)[1:-1],
        tables.Column("late", _count_of(lambda p: p.late_ops), "late_ops"),
        tables.Column("not begun", _count_of(lambda p: p.unbegun_ops), "unbegun_ops"),
        tables.OPERATIONS,
        tables.REPEATS,
    ]
    return tables.of_points(_on_axis(group), caption(group, "Response and service time"), columns)


def _count_of(of: Callable[[Point], int | None]) -> Callable[[Point], tables.Cell]:
    return lambda point: tables.Cell(quantity.count(of(point)))

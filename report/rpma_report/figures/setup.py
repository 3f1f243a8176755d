# SPDX-License-Identifier: BSD-3-Clause
"""The setup before the first operation: costs of connecting, and of registering memory."""

from collections.abc import Iterator, Sequence
from functools import partial

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.figure import MAX_LINES, Figure, Line, Mark, by_percentile
from rpma_report.figures.groups import connect_series, register_series
from rpma_report.figures.latency import alt_of, line_of, percentile_mark
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import SIZE, Axis, Series, SeriesSet
from rpma_report.model import Latency, Point, Run

PERCENTILES = (0.5, 0.99)
# what a latency of the point itself spans: of connect two steps, of register one
CONNECTED = "connect"
REGISTERED = "register"


def step(name: str, point: Point) -> Latency | None:
    """A step that is timed by itself, or the operation."""
    return point.latency if name in (CONNECTED, REGISTERED) else point.steps.get(name)


def steps_of(points: Sequence[Point], whole: str, after: str) -> list[str]:
    """In the order in which they happen."""
    names = list(dict.fromkeys(name for p in points for name in p.steps if name != whole))
    at = names.index(after) + 1 if after in names else 0
    return [*names[:at], whole, *names[at:]]


def connect(runs: Sequence[Run]) -> Figure | None:
    """Bars, a place for each step."""
    group, looks = connect_series(runs), Looks(runs)
    if not group.series:
        return None
    names = steps_of(group.points(), CONNECTED, "establish")
    shown = drawn(group.series)
    panels = by_percentile(PERCENTILES, lambda q: (
        Line(s.label, looks.of(s), tuple(_step_marks(s.points[0], names, q))) for s in shown))  # fmt: skip
    if not panels:
        return None
    return Figure(
        id="connect",
        title="Cost of a connection",
        marks=marks(group.runs, ()),
        x_title="",
        x_scale="category",
        y_title="time",
        y_scale="time",
        panels=panels,
        alt=" ".join(["Bar chart of the time of each step.", *(_alt(group, name) for name in names)]),
        table=_table(group, names, "Steps of a connection"),
        notes=left_out(group.series, shown),
        categories=tuple(names),
    )


def _step_marks(point: Point, names: Sequence[str], q: float) -> Iterator[Mark]:
    for i, name in enumerate(names):
        latency = step(name, point)
        if latency and q in latency.percentiles:
            at = address.of(point, f"step.{name}.{quantity.percentile(q)}")
            yield Mark(i, latency.percentiles[q], latency.by_repeat[q], at)


def register(runs: Sequence[Run]) -> Figure | None:
    """Lines against the size of the region; one series has a line for each step."""
    group, looks = register_series(runs), Looks(runs)
    if not group.series:
        return None
    names = steps_of(group.points(), REGISTERED, "")
    shown = drawn(group.series, max(1, MAX_LINES // len(names)))
    panels = by_percentile(PERCENTILES, lambda q: _register_lines(shown, looks, names, q))
    if not panels:
        return None
    return Figure(
        id="register",
        title="Cost of registering memory",
        marks=marks(group.runs, ()),
        x_title="size of the region",
        x_scale="size",
        y_title="time",
        y_scale="time",
        panels=panels,
        alt=" ".join(["Line chart of the time of each step.", *(_alt(group, name) for name in names)]),
        table=_table(group, names, "Registration of memory"),
        notes=left_out(group.series, shown),
    )


def _register_lines(shown: Sequence[Series], looks: Looks, names: Sequence[str], q: float) -> Iterator[Line]:
    for series in shown:
        for number, name in enumerate(names):
            label = ", ".join(filter(None, (series.label if len(shown) > 1 else "", name)))
            mark = percentile_mark(SIZE.place, q, partial(step, name))
            line = line_of(series, label, looks.part(series, number), SIZE.place, mark)
            if line.marks:
                yield line


def _alt(group: SeriesSet, name: str) -> str:
    return f"{name}: {' '.join(alt_of(group, PERCENTILES, lambda p: step(name, p)))}"


def _table(group: SeriesSet, names: Sequence[str], subject: str) -> tables.Table:
    """A row each step, below the place where it was measured."""
    places = group.named_by() if any(SIZE.place(p) for p in group.points()) else ()
    groups = tuple(
        tables.RowGroup(
            series.label if len(group.series) > 1 else "",
            tuple(row for p in series.points for row in _rows(p, names, places)),
        )
        for series in group.series
    )
    titles = (*(axis.title for axis in places), "step", *map(quantity.percentile, PERCENTILES))
    columns = (*titles, "max", "samples", "repeats")
    return tables.Table(subject, columns, groups, len(places) + 1)


def _rows(point: Point, names: Sequence[str], places: Sequence[Axis]) -> Iterator[tables.Row]:
    for name in names:
        if latency := step(name, point):
            yield (
                *(tables.addressed(tables.Cell(axis.shown(point)), point, f"param.{axis.key}") for axis in places),
                tables.Cell(name),
                *(column.of(point) for column in _columns(name, latency)),
                tables.REPEATS.of(point),
            )


def _columns(name: str, latency: Latency) -> list[tables.Column]:
    family = f"step.{name}"
    return [
        *(tables.Column("", lambda _, p=p: tables.time(latency.percentiles.get(p)), f"{family}.{quantity.percentile(p)}")  # type: ignore[misc]
          for p in PERCENTILES),
        tables.Column("", lambda _: tables.Cell(quantity.time_ns(latency.max)), f"{family}.max"),
        tables.Column("", lambda _: tables.Cell(quantity.count(latency.count)), f"{family}.count"),
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""The tables under the charts: the same numbers, as text with units."""

from collections.abc import Callable
from dataclasses import dataclass

from rpma_report import quantity
from rpma_report.result import Estimate, Latency, Point
from rpma_report.series import AXES, SeriesSet

PERCENTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


@dataclass(frozen=True)
class Cell:
    """Text of a table cell, and its interval in small print."""

    text: str
    interval: str = ""


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class RowGroup:
    """The rows of a series; the label is empty when there is only one."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Groups of rows; so many leading cells name a row."""

    caption: str
    columns: tuple[str, ...]
    groups: tuple[RowGroup, ...]
    row_headers: int = 1


def latency_table(group: SeriesSet, caption: str) -> Table:
    known = {p for s in group.series for q in s.points if q.latency for p in q.latency.percentiles}
    stated = [p for p in PERCENTILES if p in known]

    def row(point: Point) -> Row:
        latency = point.latency
        assert latency is not None  # latency_figure takes no other points
        return (
            Cell(quantity.time_ns(latency.min)),
            *(_with_interval(latency.percentiles.get(p), quantity.time_ns) for p in stated),
            Cell(quantity.time_ns(latency.max)),
            _with_interval(latency.mean, quantity.time_ns),
            Cell(quantity.count(latency.count)),
            Cell(quantity.count(point.repeats)),
        )

    names = map(quantity.percentile, stated)
    return _table(group, caption, ("min", *names, "max", "mean", "operations", "repeats"), row)


def bandwidth_table(group: SeriesSet, caption: str) -> Table:
    def row(point: Point) -> Row:
        rate = point.bandwidth
        return (
            _with_interval(rate, lambda v: quantity.rate(v, "B")),
            Cell(quantity.rate(rate.value * 8, "bit")),
            _with_interval(point.ops_per_s, lambda v: quantity.rate(v, "op")),
            Cell(quantity.count(point.ops)),
            Cell(quantity.count(point.repeats)),
            Cell(quantity.count(point.errors)),
        )

    columns = ("bandwidth", "in bits", "rate", "operations", "repeats", "errors")
    return _table(group, caption, columns, row)


def other_table(group: SeriesSet, caption: str) -> Table:
    """Of a test without a chart: what its points have, in columns that any of them fills."""
    kinds: tuple[tuple[str, Callable[[Point], Latency | None]], ...] = (
        ("", lambda p: p.latency),
        ("response ", lambda p: p.response_latency),
        ("read ", lambda p: p.read_latency),
    )
    points = [p for _, p in group.all_points()]
    used = [(name, of) for name, of in kinds if any(of(p) for p in points)]
    late = any(p.late_ops is not None for p in points)

    def row(point: Point) -> Row:
        cells = [cell for _, of in used for cell in _latency_cells(of(point))]
        cells += [_with_interval(point.ops_per_s, lambda v: quantity.rate(v, "op"))]
        if late:
            many = point.late_ops
            cells.append(Cell(quantity.UNKNOWN if many is None else quantity.count(many)))
        return (*cells, Cell(quantity.count(point.ops)), Cell(quantity.count(point.repeats)))

    names = [f"{name}{figure}" for name, _ in used for figure in ("p50", "p99", "max")]
    columns = (*names, "rate", *(["late"] if late else []), "operations", "repeats")
    return _table(group, caption, columns, row)


def _latency_cells(latency: Latency | None) -> Row:
    if latency is None:
        return (Cell(quantity.UNKNOWN),) * 3
    stated = (_with_interval(latency.percentiles.get(p), quantity.time_ns) for p in (0.5, 0.99))
    return (*stated, Cell(quantity.time_ns(latency.max)))


def _table(
    group: SeriesSet, caption: str, columns: tuple[str, ...], row: Callable[[Point], Row]
) -> Table:
    """Puts the place on the axis, and the size where that is another, before each row."""
    size = AXES[0]
    named_by = (size,) if group.axis is None or group.axis == size else (group.axis, size)

    def named(point: Point) -> Row:
        values = ((axis, point.params[axis.key]) for axis in named_by)
        places = (Cell(quantity.UNKNOWN if v is None else axis.text(v)) for axis, v in values)
        return (*places, *row(point))

    labelled = len(group.series) > 1
    groups = tuple(
        RowGroup(s.label if labelled else "", tuple(map(named, s.points))) for s in group.series
    )
    names = tuple(axis.title for axis in named_by)
    return Table(caption, (*names, *columns), groups, len(names))


def _with_interval(value: Estimate | None, text: Callable[[float], str]) -> Cell:
    if value is None:
        return Cell(quantity.UNKNOWN)
    if value.low is None or value.high is None:
        return Cell(text(value.value))
    return Cell(text(value.value), quantity.span(text(value.low), text(value.high)))

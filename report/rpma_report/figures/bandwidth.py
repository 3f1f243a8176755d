# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth against what was swept, below the rate of the link; bars when nothing was."""

import re
from collections.abc import Callable, Sequence

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.facets import facets
from rpma_report.figures.figure import Figure, Line, Mark, Panel, Reference
from rpma_report.figures.groups import bandwidth_series
from rpma_report.figures.latency import caption, line_of, single, span_text, x_scale
from rpma_report.figures.looks import Looks, Style
from rpma_report.figures.marks import marks
from rpma_report.figures.series import Axis, Series, SeriesSet
from rpma_report.model import Point, Run

_TOWARDS_CLIENT = ", towards the client"


def figure(runs: Sequence[Run]) -> Figure | None:
    group = bandwidth_series(runs)
    if not group.series:
        return None
    axis = group.axis
    looks, shown = Looks(runs), drawn(group.series)
    small = facets(runs, bandwidth_series, _small_lines, 1)
    lines: list[Line] = []
    if axis and not small:
        lines = [line for s in shown for line in _lines(s, axis, looks.of(s))]
    elif not axis:
        lines = [Line(s.label, looks.of(s), (_mark(i, s.points[0]),)) for i, s in enumerate(shown)]
    points, link = group.points(), slowest_link(group.runs)
    columns = [tables.BANDWIDTH, tables.BITS, tables.RATE]
    if any(p.reverse for p in points):
        columns.append(tables.Column("towards the client", _reverse_cell, "reverse.bytes_per_s"))
    columns += tables.latency_columns([p for p in points if p.latency], percentiles=(0.5, 0.99))[1:3]
    columns += [*tables.cpu_columns(points), tables.OPERATIONS, tables.REPEATS, tables.ERRORS]
    return Figure(
        id="bandwidth",
        title=f"Bandwidth against {axis.title}" if axis else "Bandwidth",
        marks=marks(group.runs, points),
        x_title=axis.title if axis else "",
        x_scale=x_scale(axis) if axis else "category",
        y_title="bandwidth",
        y_scale="bytes",
        panels=small.panels if small else (Panel(single(group), tuple(lines)),),
        alt=_alt(group, link),
        table=tables.of_points(group, caption(group, "Bandwidth"), columns),
        notes=small.notes if small else left_out(group.series, shown),
        reference=link,
        same_y=small is not None,
    )


def _small_lines(series: Series, axis: Axis, look: Callable[[int], Style]) -> list[Line]:
    def there(point: Point) -> Mark | None:
        x = axis.place(point)
        return None if x is None else _mark(x, point)

    return [line_of(series, series.label, look(0), axis.place, there)]


def _lines(series: Series, axis: Axis, number: int) -> list[Line]:
    def there(point: Point) -> Mark | None:
        x = axis.place(point)
        return None if x is None else _mark(x, point)

    def back(point: Point) -> Mark | None:
        x = axis.place(point)
        rate = point.reverse.bytes_per_s if point.reverse else None
        return None if x is None or rate is None else Mark(x, rate)

    lines = [line_of(series, series.label, (number, 0), axis.place, there)]
    reverse = line_of(series, series.label + _TOWARDS_CLIENT, (number, 1), axis.place, back)
    return [*lines, reverse] if reverse.marks else lines


def _mark(x: float, point: Point) -> Mark:
    return Mark(x, point.bandwidth, point.bytes_per_s_by_repeat, address.of(point, "bytes_per_s"))


def _reverse_cell(point: Point) -> tables.Cell:
    rate = point.reverse.bytes_per_s if point.reverse else None
    return tables.with_interval(rate, lambda v: quantity.rate(v, "B"))


def slowest_link(runs: Sequence[Run]) -> Reference | None:
    """The slowest link of the hosts, as the kernel states it: 100 Gb/sec (4X EDR)."""
    rates = []
    for run in runs:
        for side in ("client", "server"):
            nic = (run.environment.get(side) or {}).get("nic")
            text = nic.get("rate") if isinstance(nic, dict) else None
            match = re.match(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) Gb/sec", text) if isinstance(text, str) else None
            if match and run.is_hardware:
                rates.append(float(match[1]) * 1e9 / 8)
    slowest = min(rates, default=0)
    return Reference(f"link {quantity.rate(slowest * 8, 'bit')}", slowest) if slowest > 0 else None


def _alt(group: SeriesSet, link: Reference | None) -> str:
    kind = "Line" if group.axis else "Bar"
    sentences = []
    for series in drawn(group.series):
        values = [(group.where(p), p.bandwidth) for p in series.points]
        sentences.append(f"{series.label}: {span_text(values, lambda v: quantity.rate(v, 'B'))}.")
    if link:
        sentences.append(f"A dashed line at {quantity.rate(link.y, 'B')}: {link.label}.")
    return " ".join([f"{kind} chart of bandwidth.", *sentences, "The table below has every value."])

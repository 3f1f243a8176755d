# SPDX-License-Identifier: BSD-3-Clause
"""The numbers behind every chart, and the alternative text beside it.

Pure functions from runs to figures; chart draws what stands here and adds
nothing, so a test of these numbers is a test of the chart.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rpma_report import quantity
from rpma_report.result import Estimate, Latency, Point, Run
from rpma_report.series import (
    AXES,
    Axis,
    Series,
    SeriesSet,
    bandwidth_series,
    hardware_mark,
    latency_series,
    styles,
)
from rpma_report.tables import Table, bandwidth_table, latency_table

XScale = Literal["size", "count", "tail", "category"]
YScale = Literal["time", "rate"]

SWEEP_PERCENTILES = (0.5, 0.99, 0.999, 0.9999)
PANEL_PERCENTILES = (0.5, 0.99, 0.999)
MAX_LINES = 12
_LADDER_VERTICES = 400


@dataclass(frozen=True)
class Mark:
    """One marker: its place, its interval, and the same figure of each repeat."""

    x: float
    value: Estimate
    repeats: tuple[float, ...] = ()


@dataclass(frozen=True)
class Line:
    """A series in a panel; `path` replaces the straight lines between the marks."""

    label: str
    style: int  # colour and marker, by number
    marks: tuple[Mark, ...]
    path: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Panel:
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Figure:
    """A chart: what chart.draw gets, and what stands around it."""

    id: str
    title: str
    marks: str  # what everyone who sees the chart must know
    x_title: str
    x_scale: XScale
    y_title: str
    y_scale: YScale
    panels: tuple[Panel, ...]
    alt: str
    table: Table
    notes: tuple[str, ...] = field(default=())


def latency_figure(runs: Sequence[Run]) -> Figure | None:
    """Latency against what was swept; the percentile ladder when nothing was."""
    group = latency_series(runs)
    if not group.series:
        return None
    axis = group.axis
    look = styles(runs)
    panels = _sweep_panels(group, axis, look) if axis else _ladder_panels(group, look)
    return Figure(
        id="latency",
        title=f"Latency against {axis.title}" if axis else "Latency: percentile ladder",
        marks=_marks(group),
        x_title=axis.title if axis else "share of operations that are as fast or faster",
        x_scale=_x_scale(axis) if axis else "tail",
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=_latency_alt(group),
        table=latency_table(group, _caption(group, "Latency")),
        notes=_line_notes(group),
    )


def bandwidth_figure(runs: Sequence[Run]) -> Figure | None:
    """Bandwidth against what was swept; a row of bars when nothing was."""
    group = bandwidth_series(runs)
    if not group.series:
        return None
    axis = group.axis
    look, shown = styles(runs), group.series[:MAX_LINES]
    if axis:
        lines = tuple(_line(s, look, axis, _bandwidth_mark) for s in shown)
    else:
        lines = tuple(
            Line(s.label, look[s.label], tuple(_bandwidth_mark(i, p) for p in s.points))
            for i, s in enumerate(shown)
        )
    return Figure(
        id="bandwidth",
        title=f"Bandwidth against {axis.title}" if axis else "Bandwidth",
        marks=_marks(group),
        x_title=axis.title if axis else "",
        x_scale=_x_scale(axis) if axis else "category",
        y_title="bandwidth",
        y_scale="rate",
        panels=(Panel(_single(group), lines),),
        alt=_bandwidth_alt(group),
        table=bandwidth_table(group, _caption(group, "Bandwidth")),
        notes=_line_notes(group),
    )


def _x_scale(axis: Axis) -> XScale:
    return "size" if axis.key == "size_bytes" else "count"


def _single(group: SeriesSet) -> str:
    return group.series[0].label if len(group.series) == 1 else ""


def _line(
    series: Series, look: Mapping[str, int], axis: Axis, mark: Callable[[float, Point], Mark | None]
) -> Line:
    return Line(series.label, look[series.label], _marked(series, axis, mark))


def _marked(
    series: Series, axis: Axis, mark: Callable[[float, Point], Mark | None]
) -> tuple[Mark, ...]:
    marks = (mark(p.params[axis.key], p) for p in series.points)
    return tuple(m for m in marks if m is not None)


def _bandwidth_mark(x: float, point: Point) -> Mark:
    return Mark(x, point.bandwidth, point.bytes_per_s_by_repeat)


def _latency_mark(p: float) -> Callable[[float, Point], Mark | None]:
    def mark(x: float, point: Point) -> Mark | None:
        latency = point.latency
        if latency is None or p not in latency.percentiles:
            return None
        return Mark(x, latency.percentiles[p], latency.by_repeat[p])

    return mark


def _sweep_panels(group: SeriesSet, axis: Axis, look: Mapping[str, int]) -> tuple[Panel, ...]:
    """One series: a line for each percentile. Several: a panel for each percentile."""
    if len(group.series) == 1:
        only = group.series[0]
        lines = (
            Line(quantity.percentile(p), number, _marked(only, axis, _latency_mark(p)))
            for number, p in enumerate(SWEEP_PERCENTILES)
        )
        return (Panel(only.label, tuple(line for line in lines if line.marks)),)
    panels = []
    for p in PANEL_PERCENTILES:
        drawn = group.series[:MAX_LINES]
        lines_of_p = tuple(_line(s, look, axis, _latency_mark(p)) for s in drawn)
        if any(line.marks for line in lines_of_p):
            panels.append(Panel(quantity.percentile(p), lines_of_p))
    return tuple(panels)


def _ladder_panels(group: SeriesSet, look: Mapping[str, int]) -> tuple[Panel, ...]:
    lines = []
    for series in group.series[:MAX_LINES]:
        for point in series.points:
            latency = point.latency
            assert latency is not None
            marks = tuple(
                Mark(1 / (1 - p), value, latency.by_repeat[p])
                for p, value in latency.percentiles.items()
            )
            lines.append(Line(series.label, look[series.label], marks, ladder_path(latency)))
    return (Panel(_single(group), tuple(lines)),)


def ladder_path(latency: Latency) -> tuple[tuple[float, float], ...]:
    """Steps (1/(1-F), ns): each bucket at its middle, up to the slowest sample."""
    steps, below, total = [], 0, sum(count for _, count in latency.buckets)
    for low, count in latency.buckets:
        below += count
        middle = low + latency.bucket_width(low) // 2
        height = latency.max if below == total else min(max(middle, latency.min), latency.max)
        steps.append((total / max(total - below, 1), float(height)))
    if not steps:
        return ()
    # Along the logarithmic axis more vertices than pixels add nothing.
    apart = math.log(max(steps[-1][0], math.e)) / _LADDER_VERTICES
    path = [(1.0, steps[0][1])]
    for step in steps[:-1]:
        if math.log(step[0]) - math.log(path[-1][0]) >= apart:
            path.append(step)
    return (*path, steps[-1])


def _marks(group: SeriesSet) -> str:
    """The warnings that belong on the chart itself."""
    runs = {id(s.run): s.run for s in group.series}.values()
    reasons = dict.fromkeys(hardware_mark(run) for run in runs if not run.is_hardware)
    parts = [f"NOT HARDWARE: {'; '.join(reasons)}"] if reasons else []
    persistent = any(s.run.persistence_unproven and _persists(s) for s in group.series)
    parts += ["persistence not proven"] if persistent else []
    return " \u00b7 ".join(parts)


def _persists(series: Series) -> bool:
    return series.points[0].params["persist"] != "none"


def _line_notes(group: SeriesSet) -> tuple[str, ...]:
    hidden = len(group.series) - MAX_LINES
    if hidden <= 0:
        return ()
    every = hidden + MAX_LINES
    return (f"The chart shows the first {MAX_LINES} series; the table has all {every}.",)


def _range(values: Sequence[tuple[str, Estimate]], text: Callable[[float], str]) -> str:
    (first_at, first), (last_at, last) = values[0], values[-1]
    if len(values) == 1:
        return f"{text(first.value)} at {first_at}"
    return f"{text(first.value)} at {first_at} to {text(last.value)} at {last_at}"


def _where(point: Point, axis: Axis | None) -> str:
    axis = axis or AXES[0]
    text = axis.text(point.params[axis.key])
    return text if axis is AXES[0] else f"{axis.title} {text}"


def _latency_alt(group: SeriesSet) -> str:
    sentences = []
    for series in group.series[:MAX_LINES]:
        parts = []
        for p in PANEL_PERCENTILES:
            values = [
                (_where(point, group.axis), point.latency.percentiles[p])
                for point in series.points
                if point.latency and p in point.latency.percentiles
            ]
            if values:
                parts.append(f"{quantity.percentile(p)} {_range(values, quantity.time_ns)}")
        sentences.append(f"{series.label}: {', '.join(parts) or 'too few samples'}.")
    return " ".join(["Line chart of latency.", *sentences, "The table below has every value."])


def _bandwidth_alt(group: SeriesSet) -> str:
    kind = "Line" if group.axis else "Bar"
    sentences = []
    for series in group.series[:MAX_LINES]:
        values = [(_where(p, group.axis), p.bandwidth) for p in series.points]
        sentences.append(f"{series.label}: {_range(values, lambda v: quantity.rate(v, 'B'))}.")
    return " ".join([f"{kind} chart of bandwidth.", *sentences, "The table below has every value."])


def _caption(group: SeriesSet, subject: str) -> str:
    marks = _marks(group)
    label = _single(group)
    return f"{subject}{f' of {label}' if label else ''}{f' ({marks})' if marks else ''}"

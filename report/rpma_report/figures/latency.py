# SPDX-License-Identifier: BSD-3-Clause
"""Latency against what was swept: p50, p99, p99.9 and p99.99 with their intervals."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.choice import drawn, left_out
from rpma_report.figures.facets import facets
from rpma_report.figures.figure import Figure, Line, Mark, Panel, XScale, by_percentile
from rpma_report.figures.groups import latency_series
from rpma_report.figures.looks import Looks, Style
from rpma_report.figures.marks import marks
from rpma_report.figures.series import AXES, SIZE, Axis, Series, SeriesSet
from rpma_report.model import Estimate, Latency, Point, Run

SWEEP_PERCENTILES = (0.5, 0.99, 0.999, 0.9999)
PANEL_PERCENTILES = (0.5, 0.99, 0.999)
FACET_PERCENTILES = (0.5, 0.99)


def figure(runs: Sequence[Run]) -> Figure | None:
    group = latency_series(runs)
    axis = group.axis
    if axis is None:
        return None  # the percentile ladder shows it
    small = facets(runs, latency_series, _small_lines, len(FACET_PERCENTILES))
    panels = small.panels if small else _panels(group, axis, Looks(runs))
    if not panels:
        return None
    columns = [*tables.latency_columns(group.points()), tables.samples(), tables.REPEATS]
    return Figure(
        id="latency",
        title=f"Latency against {axis.title}",
        marks=marks(group.runs, group.points()),
        x_title=axis.title,
        x_scale=x_scale(axis),
        y_title="latency",
        y_scale="time",
        panels=panels,
        alt=_alt(group),
        table=tables.of_points(group, caption(group, "Latency"), columns),
        notes=small.notes if small else left_out(group.series, drawn(group.series)),
        same_y=small is not None,
    )


def _small_lines(series: Series, axis: Axis, look: Callable[[int], Style]) -> list[Line]:
    """p50 and p99 of the points of one panel, without the dots of the repeats."""
    lines = []
    for number, p in enumerate(FACET_PERCENTILES):
        line = line_of(series, f"{series.label}, {quantity.percentile(p)}", look(number), axis.place, percentile_mark(axis.place, p))
        lines.append(replace(line, marks=tuple(replace(mark, repeats=()) for mark in line.marks)))
    return lines


def x_scale(axis: Axis) -> XScale:
    if axis in AXES:
        return "size" if axis is SIZE else "count"
    return "per_s" if axis.key == "target_rate_per_s" else "fraction"


def percentile_mark(
    place: Callable[[Point], float | None],
    p: float,
    of: Callable[[Point], Latency | None] = lambda point: point.latency,
    family: str = "latency",
) -> Callable[[Point], Mark | None]:
    """Marks points that have that percentile and a place on the axis; `family` is what a result calls the latency."""

    def mark(point: Point) -> Mark | None:
        latency, x = of(point), place(point)
        if latency is None or x is None or p not in latency.percentiles:
            return None
        at = address.of(point, f"{family}.{quantity.percentile(p)}")
        return Mark(x, latency.percentiles[p], latency.by_repeat[p], at)

    return mark


def marked(series: Series, mark: Callable[[Point], Mark | None]) -> tuple[Mark, ...]:
    return tuple(m for m in map(mark, series.points) if m is not None)


def line_of(
    series: Series, label: str, style: Style, place: Callable[[Point], float | None],
    mark: Callable[[Point], Mark | None],
) -> Line:  # fmt: skip
    """Broken where the series has a place and no value."""
    found = marked(series, mark)
    xs = [m.x for m in found]
    places = {x for x in (*map(place, series.points), *series.missing) if x is not None} - set(xs)
    gaps = tuple(sorted(x for x in places if xs and xs[0] < x < xs[-1]))
    return Line(label, style[0], found, gaps=gaps, variant=style[1])


def _panels(group: SeriesSet, axis: Axis, looks: Looks) -> tuple[Panel, ...]:
    """One series: a line for each percentile. Several: a panel for each percentile."""
    if len(group.series) == 1:
        only = group.series[0]
        lines = (
            line_of(only, quantity.percentile(p), looks.part(only, number), axis.place, percentile_mark(axis.place, p))
            for number, p in enumerate(SWEEP_PERCENTILES)
        )
        found = tuple(line for line in lines if line.marks)
        return (Panel(only.label, found),) if found else ()
    return by_percentile(PANEL_PERCENTILES, lambda p: (
        line_of(s, s.label, (looks.of(s), 0), axis.place, percentile_mark(axis.place, p))
        for s in drawn(group.series)))  # fmt: skip


def single(group: SeriesSet) -> str:
    return group.series[0].label if len(group.series) == 1 else ""


def caption(group: SeriesSet, subject: str) -> str:
    label = single(group)
    return f"{subject} of {label}" if label else subject


def span_text(values: Sequence[tuple[str, Estimate]], text: Callable[[float], str]) -> str:
    """9 µs at 64 B to 95 µs at 4 KiB"""
    (first_at, first), (last_at, last) = values[0], values[-1]
    if len(values) == 1:
        return f"{text(first.value)} at {first_at}"
    return f"{text(first.value)} at {first_at} to {text(last.value)} at {last_at}"


def alt_of(
    group: SeriesSet, percentiles: Sequence[float],
    of: Callable[[Point], Latency | None] = lambda point: point.latency,
) -> list[str]:  # fmt: skip
    """A sentence each series."""
    sentences = []
    for series in drawn(group.series):
        parts = []
        for p in percentiles:
            values = [
                (group.where(point), latency.percentiles[p])
                for point in series.points
                if (latency := of(point)) and p in latency.percentiles
            ]
            if values:
                parts.append(f"{quantity.percentile(p)} {span_text(values, quantity.time_ns)}")
        sentences.append(f"{series.label}: {', '.join(parts) or 'too few samples'}.")
    return sentences


def _alt(group: SeriesSet) -> str:
    sentences = alt_of(group, PANEL_PERCENTILES)
    return " ".join(["Line chart of latency.", *sentences, "The table below has every value."])

# SPDX-License-Identifier: BSD-3-Clause
"""A chart: panels of lines of marks, with their table and alternative text.

figures makes them, draw draws them and adds nothing, page puts table and text
beside them: a test of these numbers is a test of the chart.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rpma_report import quantity
from rpma_report.figures.address import Address
from rpma_report.figures.extent import Extent, Interval, around_one, extent
from rpma_report.figures.tables import Table, Tone
from rpma_report.model import Estimate

# size: bytes, powers of 2. count: small numbers, powers of 2. tail: 1/(1-p), a width each 9.
# category: places 0, 1, 2 with names. latency: ns, logarithmic. per_s: operations, logarithmic.
# seconds and fraction: linear. runs: places 0, 1, 2 with names, with lines between. rows: places with
# names from top to bottom, with the values beside them on a logarithmic axis.
XScale = Literal["size", "count", "tail", "category", "latency", "per_s", "seconds", "fraction", "runs", "rows"]
# time: ns. bytes: a second. ops: a second. fraction: of 1. ratio: around 1.
YScale = Literal["time", "bytes", "ops", "fraction", "ratio"]

MAX_LINES = 12


@dataclass(frozen=True)
class Mark:
    """One marker: its place, its interval, and the same figure of each repeat."""

    x: float
    value: Estimate
    repeats: tuple[float, ...] = ()
    at: Address | None = None  # where the value comes from

    @property
    def interval(self) -> Interval | None:
        low, high = self.value.low, self.value.high
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class Line:
    """A series in a panel; `path` replaces the straight lines between the marks.

    `gaps` are places where the series was measured and has no value: the line breaks there.
    """

    label: str
    style: int  # the number of the series, from which colour, marker and dashes follow
    marks: tuple[Mark, ...]
    path: tuple[tuple[float, float], ...] = ()
    steps: bool = True  # the path goes in steps; a NaN in it is a gap
    gaps: tuple[float, ...] = ()
    variant: int = 0  # which of several lines of the series: another marker and other dashes


@dataclass(frozen=True)
class Shade:
    """A rectangle of a heat map: from x and y to x and y, and the share that lies in it."""

    begin: tuple[float, float]
    end: tuple[float, float]
    share: float


@dataclass(frozen=True)
class Panel:
    """A pair of axes; None takes the figure's y axis."""

    title: str
    lines: tuple[Line, ...]
    y_title: str | None = None
    y_scale: YScale | None = None
    shades: tuple[Shade, ...] = ()  # below the lines

    @property
    def bar_width(self) -> float:
        return 0.8 / len(self.lines) if self._shared else 0.5

    def aside(self, number: int) -> float:
        """How far beside its place the bar of a line stands."""
        return (number - (len(self.lines) - 1) / 2) * self.bar_width if self._shared else 0

    @property
    def _shared(self) -> bool:
        """Do two bars have the same place?"""
        places = [m.x for line in self.lines for m in line.marks]
        return len(places) > len(set(places))


def by_percentile(percentiles: Sequence[float], lines_of: Callable[[float], Iterable[Line]]) -> tuple[Panel, ...]:
    """A panel each, but for those without a mark."""
    panels = (Panel(quantity.percentile(p), tuple(lines_of(p))) for p in percentiles)
    return tuple(panel for panel in panels if any(line.marks for line in panel.lines))


@dataclass(frozen=True)
class Row:
    """The words in a row of a chart in rows."""

    word: str
    tone: Tone
    value: str
    interval: str = ""


@dataclass(frozen=True)
class Reference:
    """A horizontal line that the lines are seen against, as the rate of the link."""

    label: str
    y: float


@dataclass(frozen=True)
class Figure:
    """A chart: what draw.chart gets, and what stands around it."""

    id: str  # unique on a page; letters, digits and "-"
    title: str
    marks: str  # what every reader of the chart must know; empty: nothing
    x_title: str
    x_scale: XScale
    y_title: str
    y_scale: YScale
    panels: tuple[Panel, ...]
    alt: str
    table: Table
    notes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()  # names of the places of a category scale, or of rows
    rows: tuple[Row, ...] = ()  # for a chart in rows
    reference: Reference | None = None
    same_y: bool = False  # all panels have one y axis
    small: bool = False  # small multiples: panels in a grid, a series each

    def labels(self) -> dict[str, Line]:
        """Every line of any panel once, by its label: the entries of the legend."""
        return {line.label: line for panel in self.panels for line in panel.lines}

    def extent(self, panel: Panel) -> Extent:
        """Computed once: a drawing asks for it at every mark."""
        key = 0 if self.same_y else id(panel)
        if key not in self._extents:
            self._extents[key] = self._extent(self.panels if self.same_y else (panel,), panel)
        return self._extents[key]

    @cached_property
    def _extents(self) -> dict[int, Extent]:
        return {}

    def _extent(self, panels: tuple[Panel, ...], panel: Panel) -> Extent:
        lines = [line for one in panels for line in one.lines]
        marks = [m for line in lines for m in line.marks]
        values = [y for m in marks for y in (m.value.value, *m.repeats)]
        values += [y for line in lines for _, y in line.path]
        values += [y for one in panels for shade in one.shades for y in (shade.begin[1], shade.end[1])]
        values += [self.reference.y] if self.reference else []
        intervals = [m.interval for m in marks if m.interval]
        scale = panel.y_scale or self.y_scale
        return around_one(values, intervals) if scale == "ratio" else extent(values, intervals, scale == "fraction")

    @property
    def caption(self) -> str:
        """How to read it, and what is to be said of it."""
        marks = [m for panel in self.panels for line in panel.lines for m in line.marks]
        parts = []
        if any(m.interval for m in marks):
            parts.append(f"Bars with caps: 95 % interval{' of the change' if self.rows else ' over the repeats'}.")
        if any(self._leaving(panel) for panel in self.panels):
            parts.append("An arrow at the edge: the interval reaches beyond the axis; the table has its ends.")
        if any(line.gaps for panel in self.panels for line in panel.lines):
            parts.append("A line breaks where a value is missing.")
        if any(len(m.repeats) > 1 for m in marks):
            parts.append("Small dots beside a marker: the single repeats.")
        return " ".join([*parts, *self.notes])

    def _leaving(self, panel: Panel) -> bool:
        reach = self.extent(panel)
        intervals = (m.interval for line in panel.lines for m in line.marks)
        return any(any(reach.leaves(interval)) for interval in intervals if interval)

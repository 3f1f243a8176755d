# SPDX-License-Identifier: BSD-3-Clause
"""Tables: what they are, and the columns that those under the charts are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rpma_report import quantity
from rpma_report.figures import address
from rpma_report.figures.address import Address
from rpma_report.model import PERCENTILES, Estimate, Latency, Point

if TYPE_CHECKING:
    from rpma_report.figures.series import SeriesSet

Tone = Literal["worse", "better", ""]  # colour and sign of a word


@dataclass(frozen=True)
class Cell:
    """Text of a table cell, and its interval in small print."""

    text: str
    interval: str = ""
    at: Address | None = None  # where the number comes from
    tone: Tone = ""


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class RowGroup:
    """The rows of a series; the label is empty when there is only one."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Groups of rows; the number of leading cells that name a row."""

    caption: str
    columns: tuple[str, ...]
    groups: tuple[RowGroup, ...]
    row_headers: int = 1
    style: Literal["numbers", "text"] = "numbers"

    @property
    def length(self) -> int:
        return sum(len(group.rows) for group in self.groups)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The figure that a column has, where its cells have one; empty where they have none or several."""
        rows = [row for group in self.groups for row in group.rows]
        places = ([row[at].at for row in rows if at < len(row)] for at in range(len(self.columns)))
        found = ({place.metric for place in column if place} for column in places)
        return tuple(metrics.pop() if len(metrics) == 1 else "" for metrics in found)


@dataclass(frozen=True)
class Column:
    """One column of a table of points."""

    title: str
    cell: Callable[[Point], Cell]
    metric: str = ""  # the name of the figure, if it is one of the point

    def of(self, point: Point) -> Cell:
        return addressed(self.cell(point), point, self.metric)


def plain(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]],
          style: Literal["numbers", "text"] = "numbers", row_headers: int = 1) -> Table:  # fmt: skip
    """A table of texts, in one group."""
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(caption, tuple(columns), (RowGroup("", cells),), row_headers, style)


def of_points(group: "SeriesSet", caption: str, columns: Sequence[Column]) -> Table:
    """Puts the place on the axis, and the size where that is another, before each row."""
    named_by = group.named_by()

    def row(point: Point) -> Row:
        places = (addressed(Cell(axis.shown(point)), point, f"param.{axis.key}") for axis in named_by)
        return (*places, *(column.of(point) for column in columns))

    labelled = len(group.series) > 1
    groups = tuple(
        RowGroup(s.label if labelled else "", tuple(map(row, s.points))) for s in group.series
    )
    titles = (*(axis.title for axis in named_by), *(column.title for column in columns))
    return Table(caption, titles, groups, len(named_by))


def addressed(cell: Cell, point: Point, metric: str) -> Cell:
    return replace(cell, at=address.of(point, metric))


def with_interval(value: Estimate | None, text: Callable[[float], str]) -> Cell:
    if value is None:
        return Cell(quantity.UNKNOWN)
    if value.low is None or value.high is None:
        return Cell(text(value.value))
    return Cell(text(value.value), quantity.span(text(value.low), text(value.high)))


def time(value: Estimate | None) -> Cell:
    return with_interval(value, quantity.time_ns)


def latency_columns(
    points: Sequence[Point],
    of: Callable[[Point], Latency | None] = lambda p: p.latency,
    prefix: str = "",
    percentiles: Sequence[float] = PERCENTILES,
    family: str = "latency",
) -> list[Column]:
    """min, the percentiles that any of the points has, max, mean; `family` is what a result calls it."""
    known = {p for point in points if (latency := of(point)) for p in latency.percentiles}

    def at(p: float) -> Callable[[Point], Cell]:
        return lambda point: time(latency.percentiles.get(p) if (latency := of(point)) else None)

    def plain_time(key: Callable[[Latency], float | None]) -> Callable[[Point], Cell]:
        return lambda point: Cell(quantity.time_ns(key(found) if (found := of(point)) else None))

    return [
        Column(f"{prefix}min", plain_time(lambda v: v.min), f"{family}.min"),
        *(Column(f"{prefix}{quantity.percentile(p)}", at(p), f"{family}.{quantity.percentile(p)}")
          for p in percentiles if p in known),
        Column(f"{prefix}max", plain_time(lambda v: v.max), f"{family}.max"),
        Column(f"{prefix}mean", lambda point: time(v.mean if (v := of(point)) else None), f"{family}.mean"),
    ]


def samples(of: Callable[[Point], Latency | None] = lambda p: p.latency) -> Column:
    return Column("samples", lambda p: Cell(quantity.count(v.count if (v := of(p)) else None)), "latency.count")


REPEATS = Column("repeats", lambda p: Cell(quantity.count(p.repeats)), "repeats")
OPERATIONS = Column("operations", lambda p: Cell(quantity.count(p.ops)), "ops")
ERRORS = Column("errors", lambda p: Cell(quantity.count(p.errors)), "errors")
RATE = Column("rate", lambda p: with_interval(p.ops_per_s, lambda v: quantity.rate(v, "op")), "ops_per_s")
BANDWIDTH = Column("bandwidth", lambda p: with_interval(p.bytes_per_s, lambda v: quantity.rate(v, "B")), "bytes_per_s")
BITS = Column(
    "in bits",
    lambda p: Cell(quantity.rate(p.bytes_per_s.value * 8 if p.bytes_per_s else None, "bit")),
    "bits_per_s",
)


def cpu_columns(points: Sequence[Point]) -> list[Column]:
    """The columns of the sides whose load any of the points knows."""
    sides: tuple[tuple[str, Callable[[Point], float | None]], ...] = (
        ("client", lambda p: p.cpu.client_busy),
        ("server", lambda p: p.cpu.server_busy),
    )
    return [
        Column(f"{side} CPU", lambda p, of=of: Cell(quantity.fraction(of(p))), f"cpu.{side}")  # type: ignore[misc]
        for side, of in sides
        if any(of(p) is not None for p in points)
    ]

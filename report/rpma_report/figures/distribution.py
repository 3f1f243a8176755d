# SPDX-License-Identifier: BSD-3-Clause
"""How the latencies of chosen points are spread: percentile ladder, CDF and histogram.

A ladder and a CDF go through every bucket of the histogram, thinned to what a
screen can show. Of a sweep some points are chosen, the first and the last among them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rpma_report import quantity
from rpma_report.figures import address, tables
from rpma_report.figures.address import Address
from rpma_report.figures.choice import drawn, left_out, some
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.groups import latency_series
from rpma_report.figures.looks import Looks
from rpma_report.figures.marks import marks
from rpma_report.figures.series import SeriesSet
from rpma_report.model import Estimate, Histogram, Latency, Point, Run

CHOSEN = 6  # points of a sweep, when it has one series
_VERTICES = 300
BINS_PER_OCTAVE = 4

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class Spread:
    """A latency to be shown, with its name and its look."""

    label: str
    style: int
    latency: Latency
    variant: int = 0
    point: Point | None = None  # it is the latency of that point


@dataclass(frozen=True)
class Chosen:
    group: SeriesSet
    spreads: tuple[Spread, ...]
    notes: tuple[str, ...]  # what was left out


def chosen(runs: Sequence[Run]) -> Chosen:
    """Some points each of a few series, one each of many."""
    group, looks = latency_series(runs), Looks(runs)
    with_samples = [s for s in group.series if any(p.latency and p.latency.count for p in s.points)]
    shown = drawn(with_samples)
    each = max(1, CHOSEN // max(len(shown), 1))
    named = len(group.series) > 1 or group.axis is None
    found: list[Spread] = []
    for one in shown:
        points = [p for p in one.points if p.latency and p.latency.count]
        for number, point in enumerate(some(points, each)):
            assert point.latency is not None
            parts = [one.label] if named else []
            parts += [group.where(point)] if group.axis else []
            style, variant = looks.part(one, number)
            found.append(Spread(", ".join(parts), style, point.latency, variant, point))
    every = sum(1 for s in with_samples for p in s.points if p.latency and p.latency.count)
    notes = left_out(with_samples, shown)
    if len(found) < every:
        notes += (f"Shown are {len(found)} of {every} points; the charts above and their tables have the others.",)
    return Chosen(group, tuple(found), notes)


def ladder(runs: Sequence[Run]) -> Figure | None:
    of = chosen(runs)
    said = marks(of.group.runs, of.group.points())
    return ladder_of(of.spreads, "ladder", "Percentile ladder", said, of.notes)


def ladder_of(
    spreads: Sequence[Spread], id: str, title: str, said: str, notes: tuple[str, ...] = ()
) -> Figure | None:
    lines = tuple(
        Line(s.label, s.style, _ladder_marks(s), ladder_path(s.latency), variant=s.variant)
        for s in spreads
    )
    lines = tuple(line for line in lines if line.marks or line.path)
    if not lines:
        return None
    return Figure(
        id=id,
        title=title,
        marks=said,
        x_title="share of operations that are as fast or faster",
        x_scale="tail",
        y_title="latency",
        y_scale="time",
        panels=(Panel(lines[0].label if len(lines) == 1 else "", lines),),
        alt=_ladder_alt(spreads),
        table=_ladder_table(spreads),
        notes=("Each further 9 has the same width; a line ends at the slowest operation.", *notes),
    )


def _ladder_marks(spread: Spread) -> tuple[Mark, ...]:
    latency = spread.latency
    return tuple(
        Mark(1 / (1 - p), value, latency.by_repeat[p], _address(spread, p))
        for p, value in latency.percentiles.items()
    )


def _address(spread: Spread, p: float) -> Address | None:
    return address.of(spread.point, f"latency.{quantity.percentile(p)}") if spread.point else None


def ladder_path(latency: Latency) -> tuple[tuple[float, float], ...]:
    """Steps (1/(1-F), ns): each bucket at its middle, up to the slowest sample."""
    histogram = latency.histogram
    if histogram is None or latency.max is None:
        return ()
    steps, below, total = [], 0, sum(histogram.counts)
    for low, count in zip(histogram.lows, histogram.counts, strict=True):
        below += count
        middle = min(max(histogram.middle(low), latency.min), latency.max)
        height = latency.max if below == total else middle
        steps.append((total / max(total - below, 1), float(height)))
    # Along the logarithmic axis more vertices than pixels add nothing.
    apart = math.log(max(steps[-1][0], math.e)) / _VERTICES
    path = [(1.0, steps[0][1])]
    for step in steps[:-1]:
        if math.log(step[0]) - math.log(path[-1][0]) >= apart:
            path.append(step)
    return (*path, steps[-1])


def _ladder_alt(spreads: Sequence[Spread]) -> str:
    sentences = []
    for spread in spreads:
        stated = spread.latency.percentiles.items()
        parts = [f"{quantity.percentile(p)} {quantity.time_ns(v.value)}" for p, v in stated]
        parts.append(f"slowest {quantity.time_ns(spread.latency.max)}")
        sentences.append(f"{spread.label}: {', '.join(parts)}.")
    return " ".join(["Percentile ladder, a line for each point.", *sentences])


def _ladder_table(spreads: Sequence[Spread]) -> tables.Table:
    known = {p for s in spreads for p in s.latency.percentiles}
    stated = [p for p in tables.PERCENTILES if p in known]
    rows = tuple(_ladder_row(s, stated) for s in spreads)
    columns = ("point", "min", *map(quantity.percentile, stated), "max", "mean", "samples")
    return tables.Table("Percentiles", columns, (tables.RowGroup("", rows),))


def _ladder_row(spread: Spread, stated: Sequence[float]) -> tables.Row:
    latency = spread.latency
    cells = {
        "min": tables.Cell(quantity.time_ns(latency.min)),
        **{quantity.percentile(p): tables.time(latency.percentiles.get(p)) for p in stated},
        "max": tables.Cell(quantity.time_ns(latency.max)),
        "mean": tables.time(latency.mean),
        "count": tables.Cell(quantity.count(latency.count)),
    }
    point = spread.point
    told = (tables.addressed(c, point, f"latency.{name}") if point else c for name, c in cells.items())
    return (tables.Cell(spread.label), *told)


def distribution(runs: Sequence[Run]) -> Figure | None:
    """CDF above, histogram below, on one axis of latency."""
    of = chosen(runs)
    spreads = [s for s in of.spreads if s.latency.histogram]
    if not spreads:
        return None
    without = len(of.spreads) - len(spreads)
    notes = of.notes + ((f"{without} of the points have no histogram.",) if without else ())
    cdf = tuple(
        Line(s.label, s.style, _cdf_marks(s), cdf_path(s.latency), variant=s.variant) for s in spreads
    )
    bars = tuple(_outline(s) for s in spreads)
    return Figure(
        id="distribution",
        title="Distribution of latency",
        marks=marks(of.group.runs, of.group.points()),
        x_title="latency",
        x_scale="latency",
        y_title="share of operations",
        y_scale="fraction",
        panels=(Panel("as fast or faster", cdf), Panel("in each quarter of an octave", bars)),
        alt=_distribution_alt(spreads),
        table=_distribution_table(spreads),
        notes=notes,
    )


def _histogram(spread: Spread) -> Histogram:
    assert spread.latency.histogram is not None
    return spread.latency.histogram


def cdf_path(latency: Latency) -> tuple[tuple[float, float], ...]:
    """(upper end of a bucket, share up to there), thinned."""
    histogram = latency.histogram
    assert histogram is not None and latency.max is not None
    below, total, first = 0, sum(histogram.counts), float(max(latency.min, 1))
    path = [(first, 0.0)]
    steps = []
    for low, count in zip(histogram.lows, histogram.counts, strict=True):
        below += count
        end = min(low + histogram.width(low), latency.max)
        steps.append((max(float(end), first), below / total))
    apart = math.log(max(steps[-1][0] / first, math.e)) / _VERTICES
    for step in steps[:-1]:
        close = math.log(step[0] / path[-1][0]) < apart
        if not close or step[1] - path[-1][1] >= 0.01:
            path.append(step)
    return (*path, steps[-1])


def _cdf_marks(spread: Spread) -> tuple[Mark, ...]:
    """At the stated percentiles, to tell the lines apart."""
    stated = spread.latency.percentiles.items()
    return tuple(Mark(max(value.value, 1), Estimate(p), at=_address(spread, p)) for p, value in stated)


def _outline(spread: Spread) -> Line:
    """Marked at its highest bar."""
    path = share_path(_histogram(spread))
    number = max(range(1, len(path) - 1, 2), key=lambda i: path[i][1])
    middle = math.sqrt(path[number][0] * path[number + 1][0])
    mark = Mark(middle, Estimate(path[number][1]))
    return Line(spread.label, spread.style, (mark,), path, variant=spread.variant)


def share_path(histogram: Histogram) -> tuple[tuple[float, float], ...]:
    """The outline of bars: share of the samples in each quarter of an octave."""
    shares: dict[int, int] = {}
    for low, count in zip(histogram.lows, histogram.counts, strict=True):
        bin_ = math.floor(math.log2(max(histogram.middle(low), 1)) * BINS_PER_OCTAVE)
        shares[bin_] = shares.get(bin_, 0) + count
    total = sum(shares.values())
    edge = [2 ** (bin_ / BINS_PER_OCTAVE) for bin_ in range(min(shares), max(shares) + 2)]
    heights = [shares.get(bin_, 0) / total for bin_ in range(min(shares), max(shares) + 1)]
    path = [(edge[0], 0.0)]
    for number, height in enumerate(heights):
        path += [(edge[number], height), (edge[number + 1], height)]
    return (*path, (edge[-1], 0.0))


def _distribution_alt(spreads: Sequence[Spread]) -> str:
    sentences = []
    for spread in spreads:
        low, half, high = (quantile(_histogram(spread), p) for p in (0.05, 0.5, 0.95))
        times = " to ".join(quantity.time_ns(v) for v in (low, high))
        within = f"half within {quantity.time_ns(half)}"
        sentences.append(f"{spread.label}: nine of ten between {times}, {within}.")
    return " ".join(["Cumulative distribution and histogram of latency.", *sentences])


def quantile(histogram: Histogram, p: float) -> float:
    """The middle of the bucket in which that share is reached."""
    below, due = 0, sum(histogram.counts) * p - 1e-6
    for low, count in zip(histogram.lows, histogram.counts, strict=True):
        below += count
        if below >= due:
            break
    return float(histogram.middle(low))


def _distribution_table(spreads: Sequence[Spread]) -> tables.Table:
    rows = []
    for spread in spreads:
        histogram = _histogram(spread)
        total = sum(histogram.counts)
        known = (quantile(histogram, p) if _reached(total, p) else None for p in SHARES)
        estimates = (None if v is None else Estimate(v) for v in known)
        rows.append((tables.Cell(spread.label), *map(tables.time, estimates)))
    columns = ("point", *(f"{quantity.fraction(p)} within" for p in SHARES))
    caption = "Shares of the operations, and the time within which they ended"
    return tables.Table(caption, columns, (tables.RowGroup("", tuple(rows)),))


def _reached(total: int, p: float) -> bool:
    """Ten samples on either side."""
    return total * min(p, 1 - p) >= 10 - 1e-6

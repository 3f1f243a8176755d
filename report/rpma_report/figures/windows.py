# SPDX-License-Identifier: BSD-3-Clause
"""Time series: operations per second and p99 of each span of the repeats.

The repeats of a point stand one after the other, with a gap between, whatever the
order in which they were run.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.choice import evenly, rank
from rpma_report.figures.figure import Figure, Line, Mark, Panel
from rpma_report.figures.latency import caption
from rpma_report.figures.looks import Looks, Style
from rpma_report.figures.marks import marks
from rpma_report.figures.series import Series, SeriesSet, collect
from rpma_report.model import Estimate, Point, Reals, Run

MAX_POINTS = 4
_VERTICES = 500
NAN = math.nan
PICKS: dict[str, Callable[[list[float]], float]] = {"lowest": min, "median": median, "highest": max}


def figure(runs: Sequence[Run]) -> Figure | None:
    group = collect(runs, lambda p: p.windows)
    every = [(s, p) for s in group.series for p in s.points]
    if not every:
        return None
    kept = kept_points(every)
    shown = [(name_of(group, s.label, p), p) for s, p in kept]
    looks = _looks(runs, kept)
    rates = tuple(_line(n, look, path_of(p, "ops_per_s")) for (n, p), look in zip(shown, looks, strict=True))
    tails = tuple(_line(n, look, path_of(p, "p99_ns")) for (n, p), look in zip(shown, looks, strict=True))
    panels = [Panel("operations per second", rates, "rate", "ops")]
    if any(line.path for line in tails):
        panels.append(Panel("p99 of each span", tails, "latency", "time"))
    return Figure(
        id="time",
        title="Time series",
        marks=marks(group.runs, group.points()),
        x_title="time, the repeats one after the other",
        x_scale="seconds",
        y_title="rate",
        y_scale="ops",
        panels=tuple(panels),
        alt=_alt(shown),
        table=_table(group),
        notes=_notes(len(shown), len(every)),
    )


def kept_points(every: Sequence[tuple[Series, Point]]) -> list[tuple[Series, Point]]:
    """That which matters most, and some of the others."""
    if len(every) <= MAX_POINTS:
        return list(every)
    first = min(every, key=lambda item: rank(item[1]))
    others = evenly([item for item in every if item is not first], MAX_POINTS - 1)
    return [item for item in every if item is first or item in others]


def _looks(runs: Sequence[Run], shown: Sequence[tuple[Series, Point]]) -> list[Style]:
    """Points of one series have its colour, and dashes of their own."""
    looks, seen = Looks(runs), Counter[int]()
    found = []
    for series, _ in shown:
        number = looks.of(series)
        found.append(looks.part(series, sum(seen.values()) if looks.alone else seen[number]))
        seen[number] += 1
    return found


def _notes(shown: int, every: int) -> tuple[str, ...]:
    return (f"The chart shows {shown} of {every} points, the table all.",) if shown < every else ()


def _line(label: str, look: Style, path: tuple[tuple[float, float], ...]) -> Line:
    """A marker where each repeat begins."""
    before = [(0.0, NAN), *path]
    pairs = zip(before, path, strict=False)
    begins = [at for was, at in pairs if math.isnan(was[1]) and not math.isnan(at[1])]
    begin = tuple(Mark(x, Estimate(y)) for x, y in begins)
    return Line(label, look[0], begin, path, False, variant=look[1])


def name_of(group: SeriesSet, label: str, point: Point) -> str:
    return ", ".join(filter(None, (label, group.where(point) if group.axis else "")))


def path_of(point: Point, key: str) -> tuple[tuple[float, float], ...]:
    """(s, value), a NaN between repeats; where they are too many, the worst of each few."""
    path: list[tuple[float, float]] = []
    begin = 0.0
    few = math.ceil(_spans(point) / _VERTICES)
    for windows in point.windows:
        values: Reals = getattr(windows, key)
        if path:
            path.append((begin, NAN))
        for at in range(0, len(values), few):
            part = [v for v in values[at : at + few] if not math.isnan(v)]
            worst = min(part, default=NAN) if key == "ops_per_s" else max(part, default=NAN)
            path.append((begin + windows.ends_ns[at] / 1e9, worst))
        begin += windows.ends_ns[-1] / 1e9
    return tuple(path) if any(not math.isnan(y) for _, y in path) else ()


def values_of(point: Point, key: str) -> Iterator[float]:
    for windows in point.windows:
        yield from (v for v in getattr(windows, key) if not math.isnan(v))


def _alt(shown: Sequence[tuple[str, Point]]) -> str:
    sentences = []
    for name, point in shown:
        rates = list(values_of(point, "ops_per_s"))
        slow, fast = (quantity.rate(v, "op") for v in (min(rates), max(rates)))
        text = f"{name}: {quantity.span(slow, fast)} in spans"
        if tails := list(values_of(point, "p99_ns")):
            low, high = (quantity.time_ns(v) for v in (min(tails), max(tails)))
            text += f", p99 {quantity.span(low, high)}"
        sentences.append(text + ".")
    return " ".join(["Line chart of the rate and of p99 over time.", *sentences])


def _table(group: SeriesSet) -> tables.Table:
    def of_rate(pick: str) -> tables.Column:
        worth = PICKS[pick]
        return tables.Column(f"{pick} rate", lambda p: _rate_cell(worth(list(values_of(p, "ops_per_s")))),
                             f"spans.{pick}.ops_per_s")  # fmt: skip

    def of_tail(pick: str) -> tables.Column:
        return tables.Column(f"{pick} p99", lambda p: _time_cell(pick, list(values_of(p, "p99_ns"))),
                             f"spans.{pick}.p99_ns")  # fmt: skip

    columns = [
        tables.Column("spans", lambda p: tables.Cell(quantity.count(_spans(p))), "spans"),
        *map(of_rate, PICKS),
        *map(of_tail, PICKS),
        tables.REPEATS,
    ]
    return tables.of_points(group, caption(group, "Spans of the repeats"), columns)


def _spans(point: Point) -> int:
    return sum(len(w.ends_ns) for w in point.windows)


def _rate_cell(per_s: float) -> tables.Cell:
    return tables.Cell(quantity.rate(per_s, "op"))


def _time_cell(pick: str, values: list[float]) -> tables.Cell:
    return tables.Cell(quantity.time_ns(PICKS[pick](values) if values else None))

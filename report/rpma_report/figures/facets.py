# SPDX-License-Identifier: BSD-3-Clause
"""Small multiples: where several things were swept, a panel for each value of all but one.

One chart would have to drop series. Here every panel has the same axes and a line for each
operation and percentile; panels without room are counted in the caption.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rpma_report.figures.choice import drawn, evenly, left_out
from rpma_report.figures.figure import MAX_LINES, Line, Panel
from rpma_report.figures.looks import Looks, Style
from rpma_report.figures.series import AXES, Axis, Series, SeriesSet
from rpma_report.model import Point, Run

MAX_FACETS = 9
_NAMED = 6  # panels left out that a caption names one by one

Place = tuple[float | None, ...]
Collect = Callable[..., SeriesSet]
LinesOf = Callable[[Series, Axis, Callable[[int], Style]], Sequence[Line]]


@dataclass(frozen=True)
class Facets:
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def swept(group: SeriesSet) -> tuple[Axis, ...]:
    """The axes that were swept besides the axis of the chart."""
    points = group.points()
    return tuple(a for a in AXES if a is not group.axis and len({a.place(p) for p in points}) > 1)


def facets(runs: Sequence[Run], collect: Collect, lines_of: LinesOf, each: int) -> Facets | None:
    """None where one chart has room for all series; `each` is how many lines a series has."""
    group = collect(runs)
    apart = swept(group)
    if not apart or group.axis is None or len(group.series) <= MAX_LINES:
        return None
    whole = collect(runs, apart)
    if whole.axis is None:
        return None
    shown, looks = drawn(whole.series, MAX_LINES // each), Looks(runs)
    places = sorted({_place(p, apart) for p in whole.points()}, key=lambda place: [v or 0 for v in place])
    kept = evenly(places, MAX_FACETS)
    panels = []
    for place in kept:
        lines: list[Line] = []
        for series in shown:
            here = tuple(p for p in series.points if _place(p, apart) == place)
            if here:
                lines += lines_of(replace(series, points=here), whole.axis, lambda n, s=series: looks.part(s, n))  # type: ignore[misc]
        if any(line.marks for line in lines):
            panels.append(Panel(_named(place, apart), tuple(line for line in lines if line.marks)))
    notes = left_out(whole.series, shown)
    if len(kept) < len(places):
        notes = (_left_out(places, kept, apart), *notes)
    return Facets(tuple(panels), notes) if panels else None


def _left_out(places: Sequence[Place], kept: Sequence[Place], apart: Sequence[Axis]) -> str:
    of = " and ".join(axis.title for axis in apart)
    text = f"The panels show {len(kept)} of {len(places)} combinations of {of}, the table all."
    rest = [_named(place, apart) for place in places if place not in kept]
    return f"{text} Left out: {'; '.join(rest)}." if len(rest) <= _NAMED else text


def _place(point: Point, apart: Sequence[Axis]) -> Place:
    return tuple(axis.place(point) for axis in apart)


def _named(place: Place, apart: Sequence[Axis]) -> str:
    return ", ".join(f"{axis.title} {'unknown' if v is None else axis.text(int(v))}"
                     for axis, v in zip(apart, place, strict=True))  # fmt: skip

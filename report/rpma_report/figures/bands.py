# SPDX-License-Identifier: BSD-3-Clause
"""Latency over time: p50, p99 and the slowest of each span, above a heat map where there can be one.

A heat map needs a histogram of each span, which logs of others have. A result of rpma-bench
has percentiles alone, so that what lies between them is not known.
"""

import math
from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.figures.distribution import BINS_PER_OCTAVE
from rpma_report.figures.figure import Figure, Line, Panel, Shade
from rpma_report.figures.latency import caption
from rpma_report.figures.marks import marks
from rpma_report.figures.series import collect
from rpma_report.figures.windows import PICKS, kept_points, name_of, path_of, values_of
from rpma_report.model import Histogram, Point, Run

_EDGES = (("p50", "p50_ns"), ("p99", "p99_ns"), ("slowest", "max_ns"))
_NOTE = "The lines are percentiles of each span; this is no heat map of all operations."
_HEAT = "Shaded: the share of the operations of each span in each quarter of an octave, the darker the more."
_COLUMNS = 100  # in a heat map, at most


def figure(runs: Sequence[Run]) -> Figure | None:
    group = collect(runs, lambda p: any(_known(p, key) for _, key in _EDGES))
    every = [(s, p) for s in group.series for p in s.points]
    shown = [(name_of(group, s.label, p), p) for s, p in kept_points(every)]
    panels = []
    for name, point in shown:
        lines = tuple(Line(edge, number, (), path, False)
                      for number, (edge, key) in enumerate(_EDGES) if (path := path_of(point, key)))  # fmt: skip
        if len(lines) > 1 and (_drawn(lines) or shades(point)):
            panels.append(Panel(name, lines, shades=shades(point)))
    if not panels:
        return None
    said = [note for note, there in ((_HEAT, any(p.shades for p in panels)), (_NOTE, not all(p.shades for p in panels))) if there]
    notes = (*said, *((f"The chart shows {len(shown)} of {len(every)} points, the table all.",) if len(shown) < len(every) else ()))
    return Figure(
        id="bands",
        title="Latency over time",
        marks=marks(group.runs, group.points()),
        x_title="time, the repeats one after the other",
        x_scale="seconds",
        y_title="latency",
        y_scale="time",
        panels=tuple(panels),
        alt=_alt(shown),
        table=tables.of_points(group, caption(group, "Latency of the spans"), _columns()),
        notes=notes,
        same_y=True,
    )


def shades(point: Point) -> tuple[Shade, ...]:
    """Empty where a span has no histogram of its own."""
    found: list[Shade] = []
    begin = 0.0
    few = math.ceil(sum(len(w.counts) for w in point.windows) / _COLUMNS)
    for windows in point.windows:
        if len(windows.counts) != len(windows.ends_ns):
            return ()
        left = begin
        for at in range(0, len(windows.counts), few):
            last = min(at + few, len(windows.counts)) - 1
            right = begin + windows.ends_ns[last] / 1e9
            found += _column(left, right, [c for c in windows.counts[at : last + 1] if c])
            left = right
        begin = left
    return tuple(found)


def _column(left: float, right: float, parts: Sequence[Histogram]) -> list[Shade]:
    bins: dict[int, int] = {}
    for part in parts:
        for low, count in zip(part.lows, part.counts, strict=True):
            octave = math.floor(math.log2(max(part.middle(low), 1)) * BINS_PER_OCTAVE)
            bins[octave] = bins.get(octave, 0) + count
    total = sum(bins.values())
    return [Shade((left, 2 ** (n / BINS_PER_OCTAVE)), (right, 2 ** ((n + 1) / BINS_PER_OCTAVE)), count / total)
            for n, count in sorted(bins.items())]  # fmt: skip


def _drawn(lines: Sequence[Line]) -> bool:
    """A repeat of one span has no line."""
    steps = (step for line in lines for step in zip(line.path, line.path[1:], strict=False))
    return any(not math.isnan(one[1]) and not math.isnan(other[1]) for one, other in steps)


def _known(point: Point, key: str) -> bool:
    return any(not math.isnan(v) for v in values_of(point, key))


def _columns() -> list[tables.Column]:
    return [
        tables.Column(f"{pick} {edge}", lambda p, key=key, pick=pick: _cell(p, key, pick), f"spans.{pick}.{key}")  # type: ignore[misc]
        for edge, key in _EDGES
        for pick in PICKS
    ]


def _cell(point: Point, key: str, pick: str) -> tables.Cell:
    values = list(values_of(point, key))
    return tables.Cell(quantity.time_ns(PICKS[pick](values) if values else None))


def _alt(shown: Sequence[tuple[str, Point]]) -> str:
    sentences = []
    for name, point in shown:
        parts = []
        for edge, key in _EDGES:
            if values := list(values_of(point, key)):
                low, high = (quantity.time_ns(v) for v in (min(values), max(values)))
                parts.append(f"{edge} {quantity.span(low, high)}")
        sentences.append(f"{name}: {', '.join(parts)}.")
    return " ".join(["Line chart of percentiles of latency over time.", *sentences])

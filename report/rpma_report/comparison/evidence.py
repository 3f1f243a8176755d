# SPDX-License-Identifier: BSD-3-Clause
"""The evidence of two sides of a point for a figure: values to compare, and how they were measured.

A file is a run of its own, whose value is the median of its repeats: repeats of one run
are more alike than runs are, and are never pooled with those of another. Only where each
side is a single file its repeats are compared, as the best there is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rpma_report import intervals
from rpma_report.comparison.measures import Measure
from rpma_report.model import Point, StudyRun

NOT_INTERLEAVED = "not interleaved"


@dataclass(frozen=True)
class Evidence:
    """Values of both sides; `apart` is why they support no word, though they may have an interval."""

    base: tuple[float, ...]
    new: tuple[float, ...]
    change: intervals.Change | None = None
    apart: str | None = None
    lacks: str | None = None  # why there is no interval


def of(base: Sequence[Point], new: Sequence[Point], measure: Measure, noise: float | None) -> Evidence:
    """`noise` is what the user states of runs that were not interleaved, as a fraction."""
    sides, apart = paired(base, new)
    if apart is None:
        return _evidence(sides, measure, None, in_pairs=True)
    return _evidence((base, new), measure, noise, in_pairs=False, apart=apart if noise is None else None)


def _evidence(sides: tuple[Sequence[Point], Sequence[Point]], measure: Measure, noise: float | None,
              in_pairs: bool, apart: str | None = None) -> Evidence:  # fmt: skip
    single = not in_pairs and all(len(points) == 1 for points in sides)
    base, new = ([*measure.by_repeat(points[0])] if single else _runs(points, measure) for points in sides)
    found = Evidence(tuple(base), tuple(new), apart=apart, lacks=_lacks(sides, measure, single, in_pairs))
    if found.lacks:
        return found
    change = _of_study(base, new) if in_pairs else intervals.of_sides(base, new, noise or 0.0)
    return Evidence(found.base, found.new, change, apart)


def _of_study(base: Sequence[float], new: Sequence[float]) -> intervals.Change | None:
    """A study ends at a look where its words are certain: its pairs are judged at the level of that look."""
    change = intervals.of_pairs(base, new)
    return replace(change, share=intervals.share_of_look(len(base))) if change else None


def _runs(points: Sequence[Point], measure: Measure) -> list[float]:
    return [median(values) for point in points if (values := measure.by_repeat(point))]


def _lacks(sides: tuple[Sequence[Point], Sequence[Point]], measure: Measure, single: bool,
           in_pairs: bool) -> str | None:  # fmt: skip
    for point in (point for points in sides for point in points):
        values = measure.by_repeat(point)
        if not values and point.test == "fio":
            return "fio's json has no bins: use json+"
        if len(values) < max(point.repeats, 1):
            return f"a repeat has no {measure.name}: measure longer"
        if min(values) <= 0:
            return "a value is 0"
    units = min(len(measure.by_repeat(points[0])) if single else len(points) for points in sides)
    if units < intervals.MIN_VALUES:
        return f"fewer than {intervals.MIN_VALUES} {'repeats' if single else 'pairs' if in_pairs else 'runs'}"
    return None


def paired(base: Sequence[Point], new: Sequence[Point]) -> tuple[tuple[list[Point], list[Point]], str | None]:
    """The points in the order of their pairs, without disturbed pairs; or why they are no pairs."""
    runs = [point.study_run for point in (*base, *new)]
    if not all(runs):
        return ([], []), NOT_INTERLEAVED
    if len({run.study for run in runs if run}) > 1:
        return ([], []), "not interleaved: of several studies"
    first, second = _by_pair(base), _by_pair(new)
    if {run.side for run, _ in first.values()} & {run.side for run, _ in second.values()}:
        return ([], []), "not interleaved: both have runs of one side"
    if alone := first.keys() ^ second.keys():
        return ([], []), f"pair {min(alone)} is not complete"
    kept = [pair for pair in sorted(first) if not first[pair][0].disturbed and not second[pair][0].disturbed]
    return ([first[pair][1] for pair in kept], [second[pair][1] for pair in kept]), None


def disturbed(points: Iterable[Point]) -> set[int]:
    """Numbers of the pairs that are left out."""
    runs = (point.study_run for point in points)
    return {run.pair for run in runs if run and run.disturbed}


def _by_pair(points: Sequence[Point]) -> dict[int, tuple[StudyRun, Point]]:
    """By pair its run: the last one, if it was measured again."""
    runs = ((point.study_run, point) for point in points)
    ordered = sorted(((run, point) for run, point in runs if run), key=lambda found: found[0].order)
    return {run.pair: (run, point) for run, point in ordered}

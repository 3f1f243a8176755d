# SPDX-License-Identifier: BSD-3-Clause
"""Which points of two measurements are the same: those of equal parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rpma_report.comparison.measures import Measure
from rpma_report.figures.series import AXES, LOAD, RATE, READS, SeriesSet, collect, identity
from rpma_report.model import Point, Run

_SWEPT = {"rate": (RATE, *AXES), "mix": (READS, *AXES)}


@dataclass(frozen=True)
class Place:
    """Names a point."""

    series: str  # the line it belongs to
    where: str  # its place on that line

    def __str__(self) -> str:
        return f"{self.series}, {self.where}"


@dataclass(frozen=True)
class Pair:
    """A point as both have it; several points of one side are more repeats."""

    place: Place
    base: tuple[Point, ...]
    new: tuple[Point, ...]

    def values(self, measure: Measure) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return repeats(self.base, measure), repeats(self.new, measure)

    def is_one_measurement(self) -> bool:
        """All that was measured is equal, by the nanosecond; the windows have NaN, which never is."""
        sides = ([replace(point, windows=()) for point in points] for points in (self.base, self.new))
        return next(sides) == next(sides)


@dataclass(frozen=True)
class Alone:
    """A point that only one side has."""

    place: Place
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Matched:
    pairs: tuple[Pair, ...]
    only_base: tuple[Alone, ...]
    only_new: tuple[Alone, ...]


def has(point: Point, measure: Measure) -> bool:
    return bool(measure.by_repeat(point)) or measure.whole(point) is not None


def repeats(points: Sequence[Point], measure: Measure) -> tuple[float, ...]:
    return tuple(value for point in points for value in measure.by_repeat(point))


def match(base: Sequence[Run], new: Sequence[Run]) -> Matched:
    left, right = _by_identity(base), _by_identity(new)
    pairs = tuple(
        Pair(place, tuple(left[key]), tuple(right[key])) for place, key in _named(base) if key in right
    )
    return Matched(pairs, _alone(base, left, right), _alone(new, right, left))


def _by_identity(runs: Sequence[Run]) -> dict[object, list[Point]]:
    found: dict[object, list[Point]] = {}
    for run in runs:
        for point in run.points:
            found.setdefault(identity(point), []).append(point)
    return found


def _alone(runs: Sequence[Run], own: dict[object, list[Point]],
           other: dict[object, list[Point]]) -> tuple[Alone, ...]:  # fmt: skip
    return tuple(Alone(place, tuple(own[key])) for place, key in _named(runs) if key not in other)


def _named(runs: Sequence[Run]) -> Iterator[tuple[Place, object]]:
    """Every point once, with its identity."""
    tests = dict.fromkeys(point.test for run in runs for point in run.points)
    taken = set()
    for test in tests:
        group = _collected(runs, test)
        for series in group.series:
            label = f"{test}: {series.label}" if len(tests) > 1 else series.label
            for point in series.points:
                key = identity(point)
                if key not in taken:
                    taken.add(key)
                    yield Place(label, group.where(point)), key


def _collected(runs: Sequence[Run], test: str) -> SeriesSet:
    return collect(runs, lambda point: point.test == test, _SWEPT.get(test, (*AXES, LOAD)))

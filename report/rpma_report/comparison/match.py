# SPDX-License-Identifier: BSD-3-Clause
"""Which points of two measurements are the same: those of equal parameters.

A side whose files do not record the MTU of their path is taken to have that of the other.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rpma_report.comparison.measures import Measure
from rpma_report.figures.series import AXES, LOAD, RATE, READS, SeriesSet, collect, contrast, identities, identity
from rpma_report.model import Point, Run

_Identity = Callable[[Point], object]
_LOOKED_AT = 30  # points of a side, for a sentence
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

    def lacks_mtu(self) -> bool:
        """One side has it, the other does not record it."""
        return identity(self.base[0]) != identity(self.new[0])


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


def difference(base: Sequence[Point], new: Sequence[Point]) -> str:
    """In what the points of two sides that are most alike differ: depth 1 against depth 4; empty where there is none."""
    contrasts = (contrast(one, other) for one in base[:_LOOKED_AT] for other in new[:_LOOKED_AT])
    least = min(contrasts, key=len, default=None) or ()
    return ", ".join(f"{first} against {second}" for first, second in least)


def has(point: Point, measure: Measure) -> bool:
    return bool(measure.by_repeat(point)) or measure.whole(point) is not None


def repeats(points: Sequence[Point], measure: Measure) -> tuple[float, ...]:
    return tuple(value for point in points for value in measure.by_repeat(point))


def match(base: Sequence[Run], new: Sequence[Run]) -> Matched:
    of = identities(point for run in (*base, *new) for point in run.points)
    left, right = _by_identity(base, of), _by_identity(new, of)
    pairs = tuple(
        Pair(place, tuple(left[key]), tuple(right[key])) for place, key in _named(base, of) if key in right
    )
    return Matched(pairs, _alone(base, of, right), _alone(new, of, left))


def _by_identity(runs: Sequence[Run], of: _Identity) -> dict[object, list[Point]]:
    found: dict[object, list[Point]] = {}
    for run in runs:
        for point in run.points:
            found.setdefault(of(point), []).append(point)
    return found


def _alone(runs: Sequence[Run], of: _Identity, other: dict[object, list[Point]]) -> tuple[Alone, ...]:
    own = _by_identity(runs, of)
    return tuple(Alone(place, tuple(own[key])) for place, key in _named(runs, of) if key not in other)


def _named(runs: Sequence[Run], of: _Identity) -> Iterator[tuple[Place, object]]:
    """Every point once, with its identity."""
    tests = dict.fromkeys(point.test for run in runs for point in run.points)
    taken = set()
    for test in tests:
        group = _collected(runs, test)
        for series in group.series:
            label = f"{test}: {series.label}" if len(tests) > 1 else series.label
            for point in series.points:
                key = of(point)
                if key not in taken:
                    taken.add(key)
                    yield Place(label, group.where(point)), key


def _collected(runs: Sequence[Run], test: str) -> SeriesSet:
    return collect(runs, lambda point: point.test == test, _SWEPT.get(test, (*AXES, LOAD)))

# SPDX-License-Identifier: BSD-3-Clause
"""A base and what is compared with it: every change of every common point, judged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from rpma_report import copies
from rpma_report.comparison import evidence, measures, rule
from rpma_report.comparison.evidence import Evidence
from rpma_report.comparison.match import Matched, Pair, difference, match
from rpma_report.comparison.measures import Measure
from rpma_report.failure import Failure
from rpma_report.measurement import Measurement
from rpma_report.model import Point


@dataclass(frozen=True)
class Asked:
    """The changes that the user wants to see decided, and what else to see."""

    figures: tuple[Measure, ...] = ()  # those that decide; none: the default of the test
    also: tuple[Measure, ...] = ()
    noise: float | None = None

    def deciding(self, *points: Point) -> Sequence[Measure]:
        """Those of any of the points, once each: what one side lacks is to be decided too."""
        found = {m.name: m for point in points for m in measures.deciding(point)}
        return self.figures or list(found.values())


@dataclass(frozen=True)
class Row:
    """One figure of a point, before and after."""

    pair: Pair
    measure: Measure
    base: float | None
    new: float | None
    evidence: Evidence
    verdict: rule.Verdict
    decides: bool
    itself: bool  # all that was measured of the point is equal

    @property
    def undecided(self) -> str | None:
        """Why its interval decides nothing."""
        return None if self.itself else self.evidence.apart or self.evidence.lacks

    @property
    def values(self) -> tuple[int, int]:
        """How many there are of each side: runs or repeats."""
        return len(self.evidence.base), len(self.evidence.new)


@dataclass(frozen=True)
class Comparison:
    """One measurement compared with the base."""

    new: Measurement
    matched: Matched
    rows: tuple[Row, ...]
    asked: Asked

    def words(self) -> Counter[str]:
        return Counter(row.verdict.word for row in self.rows)


def compare(base: Measurement, new: Measurement, asked: Asked = Asked()) -> Comparison:
    copies.check_sides(base.keys, new.keys, new.name)
    matched = match(base.runs, new.runs)
    if not matched.pairs:
        raise Failure(f"{new.name} has no point of {base.name}: only points of equal parameters are compared{_nearest(base, new)}")
    rows = [row for pair in matched.pairs for row in _rows(pair, asked)]
    return Comparison(new, matched, tuple(_judged(rows)), asked)


def _nearest(base: Measurement, new: Measurement) -> str:
    sides = ([point for run in side.runs for point in run.points] for side in (base, new))
    told = difference(*sides)
    return f"; the closest differ in {told}" if told else ""


def _rows(pair: Pair, asked: Asked) -> list[Row]:
    """Before they are judged: the words depend on each other."""
    point, itself = pair.base[0], pair.is_one_measurement()
    deciding = {m.name: m for m in asked.deciding(point, pair.new[0])}
    shown = {m.name: m for m in (*deciding.values(), *measures.deciding(point), *measures.told(point), *asked.also)}
    rows = []
    for measure in shown.values():
        found = evidence.of(pair.base, pair.new, measure, asked.noise)
        base, new = _middles(found, pair, measure)
        if base is not None and new is not None:
            verdict = rule.ITSELF if itself else rule.told(found)
            rows.append(Row(pair, measure, base, new, found, verdict, measure.name in deciding, itself))
    return rows


def _middles(found: Evidence, pair: Pair, measure: Measure) -> tuple[float | None, float | None]:
    """The two values that the change is computed of."""
    if found.base and found.new and min(*found.base, *found.new) > 0:
        return geometric_mean(found.base), geometric_mean(found.new)
    # No repeat has samples enough, but all of them together; or one stood still.
    return measure.whole(pair.base[0]), measure.whole(pair.new[0])


def _judged(rows: Sequence[Row]) -> list[Row]:
    deciding = [row for row in rows if row.decides and not row.itself]
    words = rule.judge([row.evidence for row in deciding], [row.measure.higher_is_better for row in deciding])
    verdicts = {id(row): word for row, word in zip(deciding, words, strict=True)}
    return [replace(row, verdict=_with_change(row, verdicts.get(id(row), row.verdict))) for row in rows]


def _with_change(row: Row, verdict: rule.Verdict) -> rule.Verdict:
    """Also where there is no interval."""
    if not row.decides:
        verdict = replace(verdict, word="")
    if verdict.change is None and row.base and row.new is not None:
        return replace(verdict, change=row.new / row.base - 1)
    return verdict

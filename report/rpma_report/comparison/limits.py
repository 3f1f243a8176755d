# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of --fail-if: where its conditions hold, and where that cannot be decided.

A limit holds where the interval lies beyond it, and beyond chance among all rows of the
condition; it does not where the interval lies on the near side of it. In between, and
where the runs were not interleaved, it is undetermined. So it is where a side lacks a
figure of a common point, or neither has it; where the new measurement lacks a point; and
where a run did not end well, or something in its files was not read. A point that only
the new measurement has was never promised.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rpma_report import intervals
from rpma_report.comparison import measures
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.gate import Condition
from rpma_report.comparison.match import Pair, Place, has
from rpma_report.comparison.measures import Measure
from rpma_report.measurement import Measurement
from rpma_report.model import Point, Run
from rpma_report.quantity import signed


@dataclass(frozen=True)
class Failed:
    """A condition that holds at a point."""

    condition: Condition
    new: Measurement
    row: Row


@dataclass(frozen=True)
class Undetermined:
    """A condition that cannot be decided: at a place of the base, or with None anywhere."""

    condition: Condition
    new: Measurement | None
    place: Place | None
    why: str
    figure: str = ""  # its name, where it is one of a point


@dataclass(frozen=True)
class Findings:
    """The comparisons with a base, and the outcome of the conditions."""

    base: Measurement
    comparisons: Sequence[Comparison]
    conditions: Sequence[Condition]
    runs: Sequence[Run]  # all sides' runs, with names that are unique among them
    failed: Sequence[Failed]
    undetermined: Sequence[Undetermined]

    @property
    def passed(self) -> bool:
        return bool(self.conditions) and not self.failed and not self.undetermined

    @property
    def asked(self) -> str:
        return ", ".join(condition.text for condition in self.conditions)


def findings(conditions: Sequence[Condition], base: Measurement, comparisons: Sequence[Comparison],
             runs: Sequence[Run]) -> Findings:  # fmt: skip
    """The findings of every condition at every point where the base has its figure."""
    found: list[Failed | Undetermined] = []
    for condition in conditions:
        measure = condition.measure
        nowhere = measure and not any(has(point, measure) for run in base.runs for point in run.points)
        for comparison in comparisons:
            rows = rows_of(condition, comparison)
            found += _decided(condition, comparison, rows)
            found += () if nowhere else _lacking(condition, comparison, rows)
            found += _partial(condition, base, comparison)
        if measure and nowhere:
            found.append(Undetermined(condition, None, None, f"no point of {base.name} has {measure.name}"))
    return Findings(base, comparisons, conditions, runs, [one for one in found if isinstance(one, Failed)],
                    [one for one in found if isinstance(one, Undetermined)])  # fmt: skip


def rows_of(condition: Condition, comparison: Comparison) -> list[Row]:
    """The row of the condition's figure, if it has a change; for "worse" all that decide."""
    if condition.measure is None:
        return [row for row in comparison.rows if row.decides]
    return [row for row in comparison.rows
            if row.measure.name == condition.measure.name and row.verdict.change is not None]  # fmt: skip


def _decided(condition: Condition, comparison: Comparison, rows: Sequence[Row]) -> Iterator[Failed | Undetermined]:
    p_values = {id(row): p for row in rows if (p := _p_value(condition, row)) is not None}
    hits = dict(zip(p_values, intervals.benjamini_hochberg(list(p_values.values())), strict=True))
    for row in rows:
        fails = _fails(condition, row, hits.get(id(row), True))
        if fails is True:
            yield Failed(condition, comparison.new, row)
        elif fails is not False:
            yield Undetermined(condition, comparison.new, row.pair.place, fails, row.measure.name)


def _p_value(condition: Condition, row: Row) -> float | None:
    """How probable such data is where the condition does not hold; two-sided, like the intervals."""
    change = row.evidence.change
    if condition.measure is None or condition.estimate or row.itself or row.undecided or change is None:
        return None
    limit = max(condition.limit_percent / 100, -1 + 1e-9)
    return 2 * (change.p_above(limit) if condition.upward else change.p_below(limit))


def _fails(condition: Condition, row: Row, beyond_chance: bool) -> bool | str:
    """Does the condition hold there? Or why that is not decided."""
    verdict = row.verdict
    if condition.measure is None:
        return verdict.why if verdict.word == "unclear" and verdict.why else verdict.word == "worse"
    if condition.estimate:
        return condition.holds(verdict.change or 0.0)
    if row.undecided or verdict.low is None or verdict.high is None:
        return row.undecided or "there is no interval"
    held = [condition.holds(verdict.low), condition.holds(verdict.high)]
    if not any(held):
        return False
    if not all(held):
        return f"the limit lies inside the interval, {signed(verdict.low)} to {signed(verdict.high)}"
    return beyond_chance or "may be chance among so many points"


def _lacking(condition: Condition, comparison: Comparison, rows: Sequence[Row]) -> Iterator[Undetermined]:
    known = {(id(row.pair), row.measure.name) for row in rows}
    for pair in comparison.matched.pairs:
        for measure in _asked(condition, comparison, pair.base[0], pair.new[0]):
            if (id(pair), measure.name) not in known and (why := _why_lacking(condition, pair, measure)):
                yield Undetermined(condition, comparison.new, pair.place, why, measure.name)
    for alone in comparison.matched.only_base:
        if any(has(alone.points[0], measure) for measure in _asked(condition, comparison, alone.points[0])):
            figure = condition.measure.name if condition.measure else ""
            yield Undetermined(condition, comparison.new, alone.place, "lacks the point", figure)


def _why_lacking(condition: Condition, pair: Pair, measure: Measure) -> str | None:
    """None: a figure of another kind of test, which no side can have."""
    base, new = (any(has(point, measure) for point in points) for points in (pair.base, pair.new))
    if base and new:
        return "the base is 0, there is no ratio"
    if base or new:
        return f"lacks {measure.name}" if base else f"the base lacks {measure.name}"
    applies = condition.measure is None or any(measures.is_of(point, measure) for point in (*pair.base, *pair.new))
    return f"neither side has {measure.name}" if applies else None


def _asked(condition: Condition, comparison: Comparison, *points: Point) -> Sequence[Measure]:
    return [condition.measure] if condition.measure else comparison.asked.deciding(*points)


def _partial(condition: Condition, base: Measurement, comparison: Comparison) -> Iterator[Undetermined]:
    """The known part of a run that is not whole may hide the rest."""
    for measurement, side in ((base, "the base: "), (comparison.new, "")):
        for run in measurement.runs:
            ended = () if run.status == "complete" else (f"{run.file}: the run is {run.status}",)
            for why in (*ended, *run.dropped):
                yield Undetermined(condition, comparison.new, None, f"{side}{why}")

# SPDX-License-Identifier: BSD-3-Clause
"""What --fail-if comes to: where its conditions hold, and where nobody can say.

A figure that the base has and that the new measurement lacks is no pass: its change
is not known. What only the new measurement has was never promised.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.gate import Condition
from rpma_report.comparison.match import Place, has
from rpma_report.measurement import Measurement


@dataclass(frozen=True)
class Passed:
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


@dataclass(frozen=True)
class Findings:
    passed: tuple[Passed, ...] = ()
    undetermined: tuple[Undetermined, ...] = ()


def findings(conditions: Sequence[Condition], base: Measurement,
             comparisons: Sequence[Comparison]) -> Findings:  # fmt: skip
    """Of every condition at every point that the base has its figure of."""
    passed: list[Passed] = []
    undetermined: list[Undetermined] = []
    for condition in conditions:
        for comparison in comparisons:
            rows = _rows(condition, comparison)
            passed += [Passed(condition, comparison.new, row)
                       for row in rows if condition.holds(row.verdict.change or 0.0)]  # fmt: skip
            undetermined += _lacking(condition, comparison, rows)
        if not any(has(point, condition.measure) for run in base.runs for point in run.points):
            why = f"no point of {base.name} has {condition.measure.name}"
            undetermined.append(Undetermined(condition, None, None, why))
    return Findings(tuple(passed), tuple(undetermined))


def _rows(condition: Condition, comparison: Comparison) -> list[Row]:
    """Of the condition's figure, where it has a change."""
    return [row for row in comparison.rows
            if row.measure.name == condition.measure.name and row.verdict.change is not None]  # fmt: skip


def _lacking(condition: Condition, comparison: Comparison, rows: Sequence[Row]) -> Iterator[Undetermined]:
    measure, new, known = condition.measure, comparison.new, {id(row.pair) for row in rows}
    for pair in comparison.matched.pairs:
        if id(pair) in known or not any(has(point, measure) for point in pair.base):
            continue
        there = any(has(point, measure) for point in pair.new)
        why = "the base is 0, there is no ratio" if there else f"lacks {measure.name}"
        yield Undetermined(condition, new, pair.place, why)
    for alone in comparison.matched.only_base:
        if any(has(point, measure) for point in alone.points):
            yield Undetermined(condition, new, alone.place, "lacks the point")

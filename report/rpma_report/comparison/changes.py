# SPDX-License-Identifier: BSD-3-Clause
"""A base and what is compared with it: every change of every common point, judged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from rpma_report.comparison import rule
from rpma_report.comparison.match import Matched, Pair, match
from rpma_report.comparison.measures import Measure, shown_of
from rpma_report.failure import Failure
from rpma_report.measurement import Measurement
from rpma_report.model import Point


@dataclass(frozen=True)
class Row:
    """One figure of a point, before and after."""

    pair: Pair
    measure: Measure
    base: float | None
    new: float | None
    repeats: tuple[int, int]
    verdict: rule.Verdict


@dataclass(frozen=True)
class Comparison:
    """Of one measurement with the base."""

    new: Measurement
    matched: Matched
    rows: tuple[Row, ...]

    def words(self) -> Counter[str]:
        return Counter(row.verdict.word for row in self.rows)


def compare(base: Measurement, new: Measurement, asked: Sequence[Measure] = ()) -> Comparison:
    """Of the figures that the points' tests are about, and those that are asked for."""
    matched = match(base.runs, new.runs)
    if not matched.pairs:
        raise Failure(f"{new.name} has no point of {base.name}: only points of equal parameters are compared")
    return Comparison(new, matched, tuple(_rows(matched, asked)))


def _rows(matched: Matched, asked: Sequence[Measure]) -> Iterator[Row]:
    for pair in matched.pairs:
        measures = {m.name: m for m in [*shown_of(pair.base[0]), *asked]}
        itself = pair.is_one_measurement()
        for measure in measures.values():
            row = _row(pair, measure)
            if itself:
                row = replace(row, verdict=rule.ITSELF)
            if row.base is not None and row.new is not None:
                yield row


def _row(pair: Pair, measure: Measure) -> Row:
    base, new = pair.values(measure)
    verdict = rule.judge(base, new, measure.higher_is_better)
    values = [_middle(base, pair.base, measure), _middle(new, pair.new, measure)]
    if not base or not new or min(*base, *new) <= 0:
        # No repeat has samples enough, but all of them together; or one stood still.
        values = [measure.whole(pair.base[0]), measure.whole(pair.new[0])]
        if values[0] and values[1] is not None:
            verdict = rule.Verdict("unclear", values[1] / values[0] - 1)
    return Row(pair, measure, values[0], values[1], (len(base), len(new)), verdict)


def _middle(values: Sequence[float], points: Sequence[Point], measure: Measure) -> float | None:
    """What the change is computed of."""
    if values and min(values) > 0:
        return geometric_mean(values)
    return measure.whole(points[0])

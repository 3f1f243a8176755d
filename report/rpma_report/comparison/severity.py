# SPDX-License-Identifier: BSD-3-Clause
"""The order in which changes are read: the worst first."""

import math
from collections.abc import Sequence

from rpma_report.comparison.changes import Row
from rpma_report.comparison.rule import Verdict
from rpma_report.figures.tables import Tone

_WORDS = ("worse", "unclear", "not seen", "same", "better", "")


def harm(row: Row) -> float:
    """The logarithm of the change, positive where it is for the worse; 0 where there is none."""
    change = row.verdict.change
    if change is None or change <= -1:
        return 0.0
    return -math.log1p(change) if row.measure.higher_is_better else math.log1p(change)


def tone(verdict: Verdict) -> Tone:
    """A certain verdict has a colour and a sign."""
    match verdict.word:
        case "worse" | "better":
            return verdict.word
    return ""


def worst_first(rows: Sequence[Row]) -> list[Row]:
    """Series stay together: that with the worst row comes first."""
    of_series: dict[str, tuple[int, float]] = {}
    for row in rows:
        series = row.pair.place.series
        of_series[series] = min(of_series.get(series, _rank(row)), _rank(row))
    first = {series: number for number, series in enumerate(of_series)}
    return sorted(rows, key=lambda row: (of_series[row.pair.place.series], first[row.pair.place.series], _rank(row)))


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Whatever series they are of."""
    return sorted(rows, key=_rank)


def _rank(row: Row) -> tuple[int, float]:
    return _WORDS.index(row.verdict.word), -harm(row)

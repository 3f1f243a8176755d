# SPDX-License-Identifier: BSD-3-Clause
"""The conditions of --fail-if: p99 > 5% holds where p99 of any point rose by more than 5 %.

"worse" holds where the word of any deciding figure is worse.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from rpma_report.comparison import measures
from rpma_report.comparison.measures import Measure
from rpma_report.text import shown

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_PERCENT = r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%"
_FORM = re.compile(rf"\s*([a-z][a-z0-9_.]*)\s*(>=|<=|>|<)\s*{_PERCENT}\s*", re.ASCII)


WORSE = "worse"


class Malformed(ValueError):
    """The error in an expression, and what it should look like."""


@dataclass(frozen=True)
class Condition:
    text: str
    measure: Measure | None  # None: the word worse of any figure
    operator: str = ">"
    limit_percent: float = 0.0
    estimate: bool = False  # decided by the change itself, whatever its interval

    def holds(self, change: float) -> bool:
        """`change` is a fraction; to a digit far beyond the measured ones, so that 5 % is 5 %."""
        return _OPERATORS[self.operator](round(change * 100, 9), self.limit_percent)

    @property
    def upward(self) -> bool:
        return self.operator[0] == ">"


def parse(text: str, estimate: bool = False) -> list[Condition]:
    """One condition, or several with commas between."""
    return [_condition(part, estimate) for part in text.split(",")]


def _condition(text: str, estimate: bool) -> Condition:
    if text.strip() == WORSE and not estimate:
        return Condition(WORSE, None)
    match = _FORM.fullmatch(text)
    if not match:
        word = "" if estimate else f", or {WORSE}"
        raise Malformed(f"'{shown(text, 60)}' is not a condition, expected one such as 'p99.9 > 5%': "
                        f"a figure, one of > >= < <=, and a change in percent{word}")  # fmt: skip
    measure = measures.named(match[1])
    if measure is None:
        raise Malformed(f"'{shown(match[1], 60)}' is not a figure, expected {measures.EXPECTED}")
    told = shown(text.strip(), 60) + (" by the estimate" if estimate else "")
    return Condition(told, measure, match[2], float(match[3]), estimate)

# SPDX-License-Identifier: BSD-3-Clause
"""The conditions of --fail-if: p99.9 > 5% holds where p99.9 of any point rose by more than 5 %."""

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


class Malformed(ValueError):
    """Says what is wrong with an expression, and what was expected."""


@dataclass(frozen=True)
class Condition:
    text: str
    measure: Measure
    relation: Callable[[float, float], bool]
    limit_percent: float

    def holds(self, change: float) -> bool:
        """`change` is a fraction; to a digit far beyond the measured ones, so that 5 % is 5 %."""
        return self.relation(round(change * 100, 9), self.limit_percent)


def parse(text: str) -> list[Condition]:
    """One condition, or several with commas between."""
    return [_condition(part) for part in text.split(",")]


def _condition(text: str) -> Condition:
    match = _FORM.fullmatch(text)
    if not match:
        raise Malformed(f"'{shown(text, 60)}' is no condition, expected one such as 'p99.9 > 5%': "
                        "a figure, one of > >= < <=, and a change in percent")  # fmt: skip
    measure = measures.named(match[1])
    if measure is None:
        raise Malformed(f"'{shown(match[1], 60)}' is no figure, expected {measures.EXPECTED}")
    return Condition(shown(text.strip(), 60), measure, _OPERATORS[match[2]], float(match[3]))

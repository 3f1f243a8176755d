# SPDX-License-Identifier: BSD-3-Clause
"""The words that interleaved pairs support for one figure: better, worse, same, or how much is not seen.

The pairs are looked at after 6, 12, 18 and 24 of them, at the levels of O'Brien and
Fleming; the first certain word stands. The 5 % are shared by all figures of the study:
if nothing changed, that is the greatest chance of any better or worse among them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rpma_report import intervals
from rpma_report.comparison import rule

SAME = rule.RELEVANT  # a figure whose whole interval lies within this is called the same, as by compare
LOOKS = intervals.LOOKS

Word = Literal["better", "worse", "same", "not seen", "unclear"]


@dataclass(frozen=True)
class Decision:
    word: Word
    pairs: int  # that it rests on
    change: float | None = None  # B / A - 1
    low: float | None = None
    high: float | None = None
    why: str | None = None  # for unclear only

    @property
    def certain(self) -> bool:
        return self.word in ("better", "worse", "same")

    def text(self) -> str:
        if self.word == "unclear":
            return f"unclear: {self.why}"
        if self.change is None or self.low is None or self.high is None:
            return self.word
        told = f"{100 * self.change:+.1f} % ({100 * self.low:+.1f} to {100 * self.high:+.1f} %)"
        if self.word == "same":
            return f"same within {100 * SAME:g} %: {told}"
        if self.word == "not seen":
            most = math.ceil(1000 * max(-self.low, self.high)) / 10
            return f"not seen: less than {most:.1f} %: {told}"
        return f"{self.word}: {told}"


def level(look: int, figures: int) -> float:
    """Two-sided, of one figure at that look, from 1."""
    nominal = intervals.obrien_fleming_level(look)
    return nominal if figures == 1 else intervals.OF_SEVERAL * nominal / figures


def decide(base: Sequence[float | None], new: Sequence[float | None], higher_is_better: bool,
           figures: int) -> Decision:  # fmt: skip
    """One value a run, None where it has none; base[i] was measured beside new[i]."""
    found = Decision("unclear", len(base), why=f"{len(base)} of at least {LOOKS[0]} pairs")
    for look, pairs in enumerate(LOOKS, 1):
        if pairs > len(base) or found.certain:
            break
        found = _look(base[:pairs], new[:pairs], higher_is_better, level(look, figures))
    return found


def _look(base: Sequence[float | None], new: Sequence[float | None], higher_is_better: bool,
          share: float) -> Decision:  # fmt: skip
    pairs = len(base)
    first, second = ([value for value in side if value is not None] for side in (base, new))
    if len(first) < pairs or len(second) < pairs:
        return Decision("unclear", pairs, why="a repeat has too few samples for it: measure longer")
    change = intervals.of_pairs(first, second)
    if change is None:
        return Decision("unclear", pairs, why="a value is 0")
    low, high = change.interval(share)
    word: Word = "not seen"
    if low > 0 or high < 0:
        word = "better" if (change.log > 0) is higher_is_better else "worse"
    elif -SAME <= low and high <= SAME:
        word = "same"
    return Decision(word, pairs, change.value, low, high)

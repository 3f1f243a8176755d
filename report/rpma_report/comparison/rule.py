# SPDX-License-Identifier: BSD-3-Clause
"""The rule by which a change is called better, worse, the same, not seen, or unclear.

A word about a change is said only of runs that were interleaved, or whose noise is
stated; the deciding figures of a comparison are controlled together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rpma_report import intervals
from rpma_report.comparison.evidence import Evidence

RELEVANT = 0.02  # a smaller change is none
Word = Literal["better", "worse", "same", "not seen", "unclear", ""]
WORDS: tuple[Word, ...] = ("worse", "better", "unclear", "not seen", "same")  # what matters first

_LIMIT = f"{RELEVANT * 100:g} %"
RULE = (
    "The change is the ratio of the geometric means of the runs of both sides. A run is a file, and its value "
    "the median of its repeats; where each side is one file, the values are its repeats. The 95 % interval is "
    "Student's t on logarithms, from 3 values a side: of pairs where the files record that they were measured "
    "in interleaved pairs, else of two independent sides (Welch). A study in pairs ends when it has seen enough, "
    f"so after {', '.join(map(str, intervals.LOOKS))} pairs intervals and words keep the level of that look, "
    "and between two looks what those before left of the 5 %. "
    "Only the deciding figures get a word. "
    "Better or worse: the change differs from 0 by the procedure of Benjamini and Hochberg at 5 % over all "
    f"deciding figures of the comparison. Same: the interval lies within {_LIMIT} to both sides, or all that "
    "was measured of the point is equal to the last digit, as it is where a measurement is compared with "
    "itself. Not seen: anything else; a change is less than the end of the interval that lies farther from 0. "
    "Unclear: runs that were not interleaved, unless a noise is stated, which widens the interval to both "
    "sides; figures without an interval; and a change whose interval excludes 0 but that may be chance "
    "among so many figures. At most one comparison in 20 has any false better or worse if nothing changed. "
    "The words are about these minutes on these hosts: another hour may differ."
)


@dataclass(frozen=True)
class Verdict:
    """The verdict on one figure of a point; no word: it does not decide. None: not known."""

    word: Word
    change: float | None
    low: float | None = None
    high: float | None = None
    why: str | None = None  # for unclear only

    @property
    def bound(self) -> float | None:
        """No change is farther from 0 than this."""
        return None if self.low is None or self.high is None else max(-self.low, self.high)

    def text(self) -> str:
        if self.word == "unclear":
            return f"unclear: {self.why}"
        if self.bound is not None and self.bound > 0 and self.word in ("same", "not seen"):
            limit = f"{math.ceil(self.bound * 1000 - 1e-9) / 10:.1f} %"
            return f"same (within {limit})" if self.word == "same" else f"not seen: less than {limit}"
        return self.word


ITSELF = Verdict("same", 0.0, 0.0, 0.0)


def judge(found: Sequence[Evidence], higher_is_better: Sequence[bool], level: float = intervals.LEVEL) -> list[Verdict]:
    """The words of the deciding figures of one comparison, which hold together."""
    changes = [one.change for one in found if one.change and not one.apart]
    hits = iter(intervals.benjamini_hochberg([change.p_differs() for change in changes], level))
    return [
        _word(one, next(hits) if one.change and not one.apart else False, higher, len(changes))
        for one, higher in zip(found, higher_is_better, strict=True)
    ]


def _word(found: Evidence, differs: bool, higher_is_better: bool, number: int) -> Verdict:
    change = found.change
    if change is None:
        return Verdict("unclear", None, why=found.apart or found.lacks)
    low, high = change.interval()
    if found.apart:
        return Verdict("unclear", change.value, low, high, found.apart)
    if -RELEVANT <= low and high <= RELEVANT:
        return Verdict("same", change.value, low, high)
    if differs:
        return Verdict("better" if (change.log > 0) is higher_is_better else "worse", change.value, low, high)
    if low > 0 or high < 0:
        return Verdict("unclear", change.value, low, high, f"may be chance among {number} figures")
    return Verdict("not seen", change.value, low, high)


def told(found: Evidence) -> Verdict:
    """The verdict on a figure that does not decide: its interval."""
    if found.change is None:
        return Verdict("", None)
    return Verdict("", found.change.value, *found.change.interval())

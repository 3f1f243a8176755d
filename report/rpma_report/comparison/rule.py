# SPDX-License-Identifier: BSD-3-Clause
"""The rule by which a change is called better, worse, the same, or is left unclear.

The words rest on the interval alone: whoever says a wrong one has an interval that
misses the true change, which happens to one in twenty at most. Only of a measurement
that is compared with itself no interval has to be known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rpma_report.comparison import bootstrap

RELEVANT = 0.02  # a smaller change is none
MIN_REPEATS = 3
Word = Literal["better", "worse", "same", "unclear"]
WORDS: tuple[Word, ...] = ("worse", "better", "unclear", "same")  # what matters first

_LIMIT = f"{RELEVANT * 100:g} %"
RULE = (
    "The change is the ratio of the geometric means of the repeats, and its 95 % interval is "
    f"bootstrapped from them ({bootstrap.RESAMPLES:,} resamples). Worse or better: the whole interval lies "
    f"beyond {_LIMIT} to that side. Same: all of it lies within {_LIMIT} to both sides, or all that was "
    "measured of the point is equal to the last digit, as it is where a measurement is compared with itself. "
    f"Unclear: anything else, and fewer than {MIN_REPEATS} repeats on either side. "
    "So at most one word in twenty is wrong by chance."
)


@dataclass(frozen=True)
class Verdict:
    """What became of one figure of a point; None: there is nothing to tell it from."""

    word: Word
    change: float | None
    low: float | None = None
    high: float | None = None


ITSELF = Verdict("same", 0.0, 0.0, 0.0)


def judge(base: Sequence[float], new: Sequence[float], higher_is_better: bool) -> Verdict:
    """From the same figure of each repeat."""
    if not base or not new or min(*base, *new) <= 0:
        return Verdict("unclear", None)
    if min(len(base), len(new)) < MIN_REPEATS:
        return Verdict("unclear", bootstrap.ratio(base, new))
    found = bootstrap.change(base, new)
    return Verdict(word(found, higher_is_better), found.value, found.low, found.high)


def word(change: bootstrap.Change, higher_is_better: bool) -> Word:
    if change.low > RELEVANT:
        return "better" if higher_is_better else "worse"
    if change.high < -RELEVANT:
        return "worse" if higher_is_better else "better"
    return "same" if -RELEVANT <= change.low and change.high <= RELEVANT else "unclear"

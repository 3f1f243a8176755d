# SPDX-License-Identifier: BSD-3-Clause
"""How far the y axis of a panel reaches, and which intervals leave it.

Values, repeats and paths always have room. An interval has room up to a limit, so
that a wild one does not flatten everything else; draw marks where it leaves the axis.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_LOG_FROM = 20  # times the smallest value the largest is: a linear axis would hide the small ones
_ROOM_LOG = 10.0  # how many times beyond the outermost value an interval may reach
_ROOM_LINEAR = 2.0

Interval = tuple[float, float]


@dataclass(frozen=True)
class Extent:
    """The ends of a y axis."""

    logarithmic: bool
    low: float
    high: float

    def leaves(self, interval: Interval) -> tuple[bool, bool]:
        """Does its lower end lie below the axis, and its upper one above?"""
        return interval[0] < self.low, interval[1] > self.high


def extent(values: Sequence[float], intervals: Sequence[Interval], linear: bool) -> Extent:
    positive = [v for v in values if v > 0 and not math.isnan(v)]
    if not positive:
        return Extent(False, 0.0, 1.08)
    least, most = min(positive), max(positive)
    top = max((high for _, high in intervals), default=most)
    if linear or most / least <= _LOG_FROM:
        return Extent(False, 0.0, max(most, min(most * _ROOM_LINEAR, top)) * 1.08)
    bottom = min((low for low, _ in intervals), default=least)
    low = min(least, max(least / _ROOM_LOG, bottom))
    high = max(most, min(most * _ROOM_LOG, top))
    return Extent(True, low / 1.25, high * 1.25)


def around_one(values: Sequence[float], intervals: Sequence[Interval]) -> Extent:
    """Extent of ratios, logarithmic: 1 is always seen, and an interval reaches as far again as the values do at most."""
    least, most = min([1.0, *values]), max([1.0, *values])
    least = max(least, 1e-9)
    room = max(2 * math.log(most / least), math.log(2))
    low = max(min([least, *(low for low, _ in intervals)]), least * math.exp(-room))
    high = min(max([most, *(high for _, high in intervals)]), most * math.exp(room))
    margin = math.exp(0.06 * math.log(high / low) or 0.05)
    return Extent(True, low / margin, high * margin)
